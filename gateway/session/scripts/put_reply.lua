-- (prepended to others) Queues a reply at the end of its route, unless its turn is known.
local function put_reply(p, route, account, turn, row)
  if redis.call('EXISTS', p .. ':known:' .. turn) == 1 then return 0 end
  redis.call('SET', p .. ':known:' .. turn, '1')
  redis.call('RPUSH', p .. ':replies:' .. route, turn)
  redis.call('HSET', p .. ':reply:' .. route, turn, row)
  if redis.call('EXISTS', p .. ':rlease:' .. route) == 0 then
    redis.call('ZADD', p .. ':due:' .. account, 'NX', now(), route)
  end
  return 1
end
