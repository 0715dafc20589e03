-- Pushes a lease out and brings the marks.
-- KEYS[1] prefix:lease:session   ARGV prefix, session, token, ttl ms
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return false end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', ARGV[1] .. ':leases', now() + ARGV[4], ARGV[2])
return redis.call('HGETALL', ARGV[1] .. ':marks:' .. ARGV[2])
