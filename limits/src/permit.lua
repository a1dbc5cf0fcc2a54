-- Permits for calls, each against all its subjects or none. ARGV: the time in ms, or '' for the server's own, then of
-- each call its id and its number of subjects, of each subject its number of limits, of each limit its number and its
-- length in ms. KEYS, in the same order: of each subject until when it is closed and, if it has limits, its calls.
-- Answers for each call in how many ms it may be made; 0 is now.
--
-- A subject's calls are a sorted set by time: those made, and behind them those that wait ('w:' and the id), each at the
-- time it was told. All its limits are read from the one set: the call before which a limit lets no other one through
-- is the n-th from its end, however long the limit is. Whoever comes back at its time is let through if the calls really made allow it, so a call that
-- was late moves those behind it.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
-- As text: written once, and not as a number with a fraction at every call.
local now_shown = string.format('%d', now)
local keys, args = 0, 1
local function key()
  keys = keys + 1
  return KEYS[keys]
end
local function arg()
  args = args + 1
  return ARGV[args]
end

local function free_from(calls, held, rate, place)
  local before
  if place and place > now then
    return place
  elseif held < rate.limit then
    return now
  elseif place then
    before = redis.call('ZREVRANGEBYSCORE', calls, now_shown, '-inf', 'WITHSCORES', 'LIMIT', rate.limit - 1, 1)
  else
    before = redis.call('ZRANGE', calls, -rate.limit, -rate.limit, 'WITHSCORES')
  end
  return before[2] and tonumber(before[2]) + rate.span or now
end

local function earliest(id)
  local closed = tonumber(redis.call('GET', key()) or 0)
  local closes = closed > now
  local subject = { at = closes and closed or now, span = 0 }
  local rates = {}
  for r = 1, tonumber(arg()) do
    rates[r] = { limit = tonumber(arg()), span = tonumber(arg()) }
    subject.span = math.max(subject.span, rates[r].span)
  end
  if #rates == 0 then
    return subject
  end
  subject.calls = key()
  redis.call('ZREMRANGEBYSCORE', subject.calls, '-inf', string.format('%d', now - subject.span))
  local held = redis.call('ZCARD', subject.calls)
  local place = held > 0 and tonumber(redis.call('ZSCORE', subject.calls, 'w:' .. id) or nil)
  if place then
    redis.call('ZREM', subject.calls, 'w:' .. id)
    held = held - 1
  end
  for _, rate in ipairs(rates) do
    subject.at = math.max(subject.at, free_from(subject.calls, held, rate, not closes and place))
  end
  return subject
end

local function count(subject, at, member)
  if subject.calls then
    redis.call('ZADD', subject.calls, at == now and now_shown or at, member)
    -- Whoever waits behind this one comes back at most one length later, and with a minute's grace.
    redis.call('PEXPIRE', subject.calls, at - now + subject.span + 60000)
  end
end

local answer = {}
while args < #ARGV do
  local id, subjects, binding = arg(), {}, nil
  for s = 1, tonumber(arg()) do
    subjects[s] = earliest(id)
    if subjects[s].at > (binding and binding.at or now) then
      binding = subjects[s]
    end
  end
  if binding then
    count(binding, binding.at, 'w:' .. id)
  else
    for _, subject in ipairs(subjects) do
      count(subject, now, string.format('%d:%d:%s', now, #answer, id))
    end
  end
  answer[#answer + 1] = binding and binding.at - now or 0
end
return answer
