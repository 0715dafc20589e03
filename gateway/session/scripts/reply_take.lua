-- The first reply of a due route, with the route's lease.
-- KEYS[1] prefix:due:account   ARGV prefix, account, token, ttl ms
local p, at = ARGV[1], now()
while true do
  local route = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', at, 'LIMIT', 0, 1)[1]
  if not route then return false end
  redis.call('ZREM', KEYS[1], route)
  local turn = redis.call('LINDEX', p .. ':replies:' .. route, 0)
  if turn and redis.call('SET', p .. ':rlease:' .. route, ARGV[3], 'NX', 'PX', ARGV[4]) then
    redis.call('ZADD', p .. ':rleases:' .. ARGV[2], at + ARGV[4], route)
    return { redis.call('HGET', p .. ':reply:' .. route, turn), redis.call('HGETALL', p .. ':parts:' .. route) }
  end
end
