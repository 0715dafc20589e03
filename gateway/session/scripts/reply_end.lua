-- Gives a route back: its first reply is done (and its turn remembered), or due again later.
-- KEYS[1] prefix:rlease:route   ARGV prefix, route, account, token, done (1 or 0), after ms, counts (1 or 0),
-- seconds known, wake channel
local p, route = ARGV[1], ARGV[2]
if redis.call('GET', KEYS[1]) ~= ARGV[4] then return 0 end
if ARGV[5] == '1' then
  local turn = redis.call('LPOP', p .. ':replies:' .. route)
  redis.call('HDEL', p .. ':reply:' .. route, turn)
  redis.call('DEL', p .. ':parts:' .. route)
  redis.call('SET', p .. ':known:' .. turn, '1', 'EX', ARGV[8])
elseif ARGV[7] == '1' then
  redis.call('HINCRBY', p .. ':parts:' .. route, 'tries', 1)
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', p .. ':rleases:' .. ARGV[3], route)
if redis.call('LLEN', p .. ':replies:' .. route) > 0 then
  redis.call('ZADD', p .. ':due:' .. ARGV[3], now() + ARGV[6], route)
  redis.call('PUBLISH', ARGV[9], 'due')
end
return 1
