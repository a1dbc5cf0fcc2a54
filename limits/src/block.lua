-- Blocks a subject for a time, or for longer. KEYS: until when it is blocked. ARGV: the time in ms, or '' for the
-- server's own, and for how many ms.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local until_ms = now + ARGV[2]
if tonumber(redis.call('GET', KEYS[1]) or 0) < until_ms then
  redis.call('SET', KEYS[1], string.format('%d', until_ms), 'PX', ARGV[2] + 60000)
end
return 1
