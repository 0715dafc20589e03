-- Pops a ready session and acquires its lease. A held one is left to its holder, who sees the queue when it settles.
-- KEYS[1] prefix:ready   ARGV prefix, token, ttl ms, only channel ('' = any)
local p, at, passed = ARGV[1], now(), 0
while true do
  local page = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', at, 'LIMIT', passed, 100)
  if #page == 0 then return false end
  for _, s in ipairs(page) do
    if ARGV[4] ~= '' and string.sub(s, 1, #ARGV[4] + 1) ~= ARGV[4] .. '/' then
      passed = passed + 1
    else
      redis.call('ZREM', KEYS[1], s)
      if busy(p, s) and redis.call('SET', p .. ':lease:' .. s, ARGV[2], 'NX', 'PX', ARGV[3]) then
        redis.call('ZADD', p .. ':leases', at + ARGV[3], s)
        local found = waiting(p, s)
        return { s, found[1], found[2], found[3] }
      end
    end
  end
end
