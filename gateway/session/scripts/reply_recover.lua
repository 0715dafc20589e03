-- Makes the routes of dead holders due; counts what is due.
-- KEYS[1] prefix:due:account   ARGV prefix, account
local p, at = ARGV[1], now()
for _, route in ipairs(redis.call('ZRANGEBYSCORE', p .. ':rleases:' .. ARGV[2], '-inf', at, 'LIMIT', 0, 1000)) do
  if redis.call('EXISTS', p .. ':rlease:' .. route) == 0 then
    redis.call('ZREM', p .. ':rleases:' .. ARGV[2], route)
    if redis.call('LLEN', p .. ':replies:' .. route) > 0 then redis.call('ZADD', KEYS[1], 'NX', at, route) end
  end
end
return redis.call('ZCOUNT', KEYS[1], '-inf', at)
