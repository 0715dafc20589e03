-- Accepts one message: duplicate check, append, ready. One step, so that no crash can lose or double it.
-- KEYS[1] prefix:ready   ARGV prefix, session, id, row, author, capacity, cancels (1 or 0), wake channel
-- The first write is one that a full server refuses: then nothing has happened.
local p, s, id = ARGV[1], ARGV[2], ARGV[3]
local seen = p .. ':seen:' .. id
if redis.call('EXISTS', seen) == 1 then return 'known' end
local queue = p .. ':queue:' .. s
if redis.call('LLEN', queue) >= tonumber(ARGV[6]) then return 'full' end
redis.call('SET', seen, '1') -- no expiry while it waits: the two days count from its settling
if ARGV[7] == '1' then
  for _, before in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    redis.call('HSETNX', p .. ':marks:' .. s, before, id)
  end
end
redis.call('RPUSH', queue, id)
redis.call('HSET', p .. ':rows:' .. s, id, ARGV[4])
redis.call('HSET', p .. ':authors:' .. s, id, ARGV[5])
local ready = make_ready(p, s, ARGV[7] == '1' and 'LT' or 'NX')
if ARGV[7] == '1' then
  redis.call('PUBLISH', ARGV[8], 'marks ' .. s)
elseif ready then
  redis.call('PUBLISH', ARGV[8], 'ready')
end
return 'new'
