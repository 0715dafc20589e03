-- Pops a ready session and acquires its lease. A held one is left to its holder, who sees the queue when it settles.
-- KEYS[1] prefix:ready   ARGV prefix, token, ttl ms, only channel ('' = any)
local p, at = ARGV[1], now()
for _, s in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', at, 'LIMIT', 0, 200)) do
  if ARGV[4] == '' or string.sub(s, 1, #ARGV[4] + 1) == ARGV[4] .. '/' then
    redis.call('ZREM', KEYS[1], s)
    if busy(p, s) and redis.call('SET', p .. ':lease:' .. s, ARGV[2], 'NX', 'PX', ARGV[3]) then
      redis.call('ZADD', p .. ':leases', at + ARGV[3], s)
      local found = waiting(p, s)
      return { s, found[1], found[2], found[3] }
    end
  end
end
return false
