-- Marks what waits or runs as cancelled: of one author, or of everybody.
-- KEYS[1] prefix:ready   ARGV prefix, session, id, row, author ('' = everybody), seconds known, wake channel
-- Returns -1 for a known request that waits for its answer, else how many messages it marked: 0 for a known one that
-- marked nothing, or was answered, so that a process that died before it could say so is made up for.
local p, s, id, author = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local seen = p .. ':seen:' .. id
if not redis.call('SET', seen, '1', 'NX', 'EX', ARGV[6]) then
  return redis.call('HEXISTS', p .. ':stops:' .. s, id) == 1 and -1 or 0
end
local marked = 0
for _, waits in ipairs(redis.call('LRANGE', p .. ':queue:' .. s, 0, -1)) do
  if author == '' or redis.call('HGET', p .. ':authors:' .. s, waits) == author then
    marked = marked + redis.call('HSETNX', p .. ':marks:' .. s, waits, id)
  end
end
if marked > 0 then
  redis.call('PERSIST', seen) -- it waits for its answer now: the two days count from that
  redis.call('HSET', p .. ':stops:' .. s, id, ARGV[4])
  make_ready(p, s, 'LT')
  redis.call('PUBLISH', ARGV[7], 'marks ' .. s)
end
return marked
