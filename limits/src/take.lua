-- Takes from fixed windows, all or none. KEYS: one for each window. ARGV: the time in ms, or '' for the server's own,
-- then of each window its limit, its length in ms and the cost, which is negative to give back.
-- Answers 1 or 0, then of each window what remains and in how many ms it starts anew.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local windows, allowed = {}, 1
for i, key in ipairs(KEYS) do
  local window = {
    limit = tonumber(ARGV[3 * i - 1]), span = tonumber(ARGV[3 * i]), cost = tonumber(ARGV[3 * i + 1]),
  }
  local held = redis.call('HMGET', key, 'from', 'used')
  window.from, window.used = tonumber(held[1]), tonumber(held[2])
  -- A clock that goes back a little leaves the window as it is; one that goes back for longer than a window begins it anew.
  window.fresh = not window.from or now >= window.from + window.span or window.from > now + window.span
  if window.fresh then
    window.from, window.used = now, 0
  end
  if window.cost > 0 and window.used + window.cost > window.limit then
    allowed = 0
  end
  windows[i] = window
end
local answer = { allowed }
for i, key in ipairs(KEYS) do
  local window = windows[i]
  if allowed == 1 and (window.cost > 0 or (window.cost < 0 and not window.fresh)) then
    window.used = math.max(0, window.used + window.cost)
    redis.call('HSET', key, 'from', window.from, 'used', window.used)
    if window.fresh then
      redis.call('PEXPIRE', key, window.span)
    end
  end
  answer[2 * i] = math.max(0, window.limit - window.used)
  answer[2 * i + 1] = window.from + window.span - now
end
return answer
