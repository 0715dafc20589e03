-- Gives a lease back with messages still waiting.
-- KEYS[1] prefix:lease:session   ARGV prefix, session, token, after ms, wake channel
local p, s = ARGV[1], ARGV[2]
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', p .. ':leases', s)
if busy(p, s) then
  redis.call('ZADD', p .. ':ready', now() + ARGV[4], s)
  redis.call('PUBLISH', ARGV[5], 'ready')
end
return 1
