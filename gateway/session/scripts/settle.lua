-- Replies into the outbox, messages out of the queue, then on to the next turn or the lease back: one step.
-- KEYS[1] prefix:lease:session
-- ARGV prefix, session, token, seconds known, wake channel, counts of ids, replies, stops; then the ids,
-- four for each reply (route, channel/account, turn, row), the stops
local p, s = ARGV[1], ARGV[2]
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 'lost' end
local at = 9
for _ = 1, ARGV[6] do
  local id = ARGV[at]
  redis.call('LREM', p .. ':queue:' .. s, 0, id)
  redis.call('HDEL', p .. ':rows:' .. s, id)
  redis.call('HDEL', p .. ':authors:' .. s, id)
  redis.call('SET', p .. ':seen:' .. id, '1', 'EX', ARGV[4])
  at = at + 1
end
for _ = 1, ARGV[7] do
  put_reply(p, ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
  at = at + 4
end
for _ = 1, ARGV[8] do
  redis.call('HDEL', p .. ':stops:' .. s, ARGV[at])
  redis.call('SET', p .. ':seen:' .. ARGV[at], '1', 'EX', ARGV[4])
  at = at + 1
end
local marks = redis.call('HGETALL', p .. ':marks:' .. s)
for i = 1, #marks, 2 do -- a mark outlives its request while its message waits, and its message while its request does
  if not waits(p, s, marks[i]) and not waits(p, s, marks[i + 1]) then redis.call('HDEL', p .. ':marks:' .. s, marks[i]) end
end
if tonumber(ARGV[7]) > 0 then redis.call('PUBLISH', ARGV[5], 'due') end
if busy(p, s) then return waiting(p, s) end -- also when only a /stop waits for its answer
redis.call('DEL', KEYS[1])
redis.call('ZREM', p .. ':leases', s)
return 'empty'
