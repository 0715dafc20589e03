-- Makes the sessions of dead holders ready; counts what is ready.
-- KEYS[1] prefix:ready   ARGV prefix
local p, at = ARGV[1], now()
for _, s in ipairs(redis.call('ZRANGEBYSCORE', p .. ':leases', '-inf', at, 'LIMIT', 0, 1000)) do
  if redis.call('EXISTS', p .. ':lease:' .. s) == 0 then
    redis.call('ZREM', p .. ':leases', s)
    if busy(p, s) then make_ready(p, s, 'NX') end
  end
end
return redis.call('ZCOUNT', KEYS[1], '-inf', at)
