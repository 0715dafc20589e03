-- KEYS[1] prefix:known:turn   ARGV prefix, route, account, turn, row, wake channel
local new = put_reply(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if new == 1 then redis.call('PUBLISH', ARGV[6], 'due') end
return new
