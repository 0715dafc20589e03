-- Gives a route back: its reply is done (and its turn remembered), or due again later.
-- KEYS[1] prefix:rlease:route   ARGV prefix, route, account, token, turn, done (1 or 0), after ms, counts (1 or 0),
-- seconds known, wake channel
local p, route, turn = ARGV[1], ARGV[2], ARGV[5]
if redis.call('GET', KEYS[1]) ~= ARGV[4] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', p .. ':rleases:' .. ARGV[3], route)
if ARGV[6] == '1' then
  redis.call('LREM', p .. ':replies:' .. route, 1, turn)
  redis.call('HDEL', p .. ':reply:' .. route, turn)
  redis.call('DEL', p .. ':parts:' .. route)
  redis.call('SET', p .. ':known:' .. turn, '1', 'EX', ARGV[9])
elseif ARGV[8] == '1' then
  redis.call('HINCRBY', p .. ':parts:' .. route, 'tries', 1)
end
if redis.call('LLEN', p .. ':replies:' .. route) > 0 then
  redis.call('ZADD', p .. ':due:' .. ARGV[3], now() + ARGV[7], route)
  redis.call('PUBLISH', ARGV[10], 'due')
end
return 1
