-- Acquires or renews a plain lease. A lease whose answer was lost is recognised by its token.
-- KEYS[1] the lease   ARGV token, ttl ms, renew only (1 or 0)
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
if holder or ARGV[3] == '1' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
