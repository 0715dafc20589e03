-- (prepended to others) What waits in a session, whether anything does, whether this does; the server's time in ms.
-- Rows are passed through as they are: cjson would change them.
local function waiting(p, s)
  local rows = {}
  for _, id in ipairs(redis.call('LRANGE', p .. ':queue:' .. s, 0, -1)) do
    local row = redis.call('HGET', p .. ':rows:' .. s, id)
    if row then rows[#rows + 1] = row end
  end
  return { rows, redis.call('HGETALL', p .. ':marks:' .. s), redis.call('HVALS', p .. ':stops:' .. s) }
end
local function busy(p, s)
  return redis.call('LLEN', p .. ':queue:' .. s) > 0 or redis.call('HLEN', p .. ':stops:' .. s) > 0
end
local function waits(p, s, id)
  return redis.call('HEXISTS', p .. ':rows:' .. s, id) == 1 or redis.call('HEXISTS', p .. ':stops:' .. s, id) == 1
end
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
-- How: NX leaves a session that was released for later where it is, LT hurries it. A held one is left to its holder.
local function make_ready(p, s, how)
  if redis.call('EXISTS', p .. ':lease:' .. s) == 1 then return false end
  redis.call('ZADD', p .. ':ready', how, now(), s)
  return true
end
