-- Pushes a route's lease out, and writes down how far a part is (part '' = nothing, state '' = not sent).
-- KEYS[1] prefix:rlease:route   ARGV prefix, route, account, token, ttl ms, part, state
local p, route = ARGV[1], ARGV[2]
if redis.call('GET', KEYS[1]) ~= ARGV[4] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', p .. ':rleases:' .. ARGV[3], now() + ARGV[5], route)
if ARGV[6] == '' then return 1 end
if ARGV[7] == '' then
  redis.call('HDEL', p .. ':parts:' .. route, ARGV[6])
else
  redis.call('HSET', p .. ':parts:' .. route, ARGV[6], ARGV[7])
end
return 1
