-- Decides on calls, each against all its subjects or none. ARGV: the time in ms, or '' for the server's own; the number
-- of subjects, of each its number of limits, of each limit its number and its length in ms; then of each call its id, its
-- name, '1' if it could have been made under that name and was not, else '0', its number of subjects, and their places
-- among those. KEYS: of each subject until when it is closed and, if it has limits, its calls. Answers for each call in how
-- many ms it may be made; 0 is now.
--
-- A subject's calls are a sorted set by time: those made ('c:' and the name), and behind them those that wait ('w:' and the
-- id), each at the time it was given. All its limits are read from the one set: the call before which a limit lets no other
-- one through is the n-th from its end, however long the limit is. Whoever comes back at its time is let through if the
-- calls really made allow it, so a call that was late moves those behind it.
--
-- A group's calls share few subjects, and whatever is asked of Redis costs more than what is done here: each set is
-- looked at once, and the calls that may be made now are written when the set is next read, or at the end.
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

-- `last` is the latest time in the set that is known here, by which the set expires.
local lines = {}
local function line_of(calls)
  local line = lines[calls]
  if not line then
    line = { calls = calls, span = 0, least = math.huge, asked = {}, made = {}, last = now }
    lines[calls] = line
  end
  return line
end

local subjects, closed = {}, {}
for s = 1, tonumber(arg()) do
  local subject = { rates = {} }
  subjects[s], closed[s] = subject, key()
  for r = 1, tonumber(arg()) do
    local rate = { limit = tonumber(arg()), span = tonumber(arg()) }
    local line = subject.line or line_of(key())
    line.span, line.least = math.max(line.span, rate.span), math.min(line.least, rate.limit)
    subject.rates[r], subject.line = rate, line
  end
end
for s, time in ipairs(#closed > 0 and redis.call('MGET', unpack(closed)) or {}) do
  subjects[s].closed = math.max(now, tonumber(time or now))
end

local calls = {}
while args < #ARGV do
  local call = { id = arg(), name = arg(), is_again = arg() == '1' }
  for s = 1, tonumber(arg()) do
    call[s] = subjects[tonumber(arg())]
    local line = call[s].line
    if line then
      line.asked[#line.asked + 1] = 'w:' .. call.id
    end
  end
  calls[#calls + 1] = call
end

-- Where those that wait stand, by their names in the set. What no longer counts is dropped when there may be too much.
for _, line in pairs(lines) do
  line.places = {}
  line.held = redis.call('ZCARD', line.calls)
  if line.held >= line.least then
    local gone = string.format('%d', now - line.span)
    line.held = line.held - redis.call('ZREMRANGEBYSCORE', line.calls, '-inf', gone)
  end
  if line.held > 0 then
    local places = redis.call('ZMSCORE', line.calls, unpack(line.asked))
    for n, name in ipairs(line.asked) do
      line.places[name] = places[n] and tonumber(places[n])
    end
  end
end

local function write(line)
  if #line.made > 0 then
    redis.call('ZADD', line.calls, unpack(line.made))
    line.made = {}
  end
end

local function free_from(line, rate, place)
  local before
  if place and place > now then
    return place
  elseif line.held < rate.limit then
    return now
  end
  write(line)
  if place then
    before = redis.call('ZREVRANGEBYSCORE', line.calls, now_shown, '-inf', 'WITHSCORES', 'LIMIT', rate.limit - 1, 1)
  else
    before = redis.call('ZRANGE', line.calls, -rate.limit, -rate.limit, 'WITHSCORES')
  end
  return before[2] and tonumber(before[2]) + rate.span or now
end

-- The place of a call in the line, or that of its first try, which is given up.
local function give_up(line, call)
  local name = 'w:' .. call.id
  local place = line.places[name]
  if place then
    redis.call('ZREM', line.calls, name)
    line.held, line.places[name] = line.held - 1, nil
  elseif call.is_again then
    line.held, place = line.held - redis.call('ZREM', line.calls, 'c:' .. call.name), now
  end
  return place
end

-- When a subject lets a call through.
local function earliest(subject, call)
  local line, at = subject.line, subject.closed
  if not line then
    return at
  end
  local place = give_up(line, call)
  for _, rate in ipairs(subject.rates) do
    at = math.max(at, free_from(line, rate, subject.closed == now and place))
  end
  return at
end

local function wait(line, at, name)
  redis.call('ZADD', line.calls, at, name)
  line.held, line.places[name] = line.held + 1, at
  line.last, line.is_changed = math.max(line.last, at), true
end

local function make(line, member)
  local made = line.made
  made[#made + 1] = now_shown
  made[#made + 1] = member
  line.held, line.is_changed = line.held + 1, true
end

local answer = {}
for n, call in ipairs(calls) do
  local at, binding = now, nil
  for _, subject in ipairs(call) do
    local free = earliest(subject, call)
    if free > at then
      at, binding = free, subject
    end
  end
  if not binding then
    for _, subject in ipairs(call) do
      if subject.line then
        make(subject.line, 'c:' .. call.name)
      end
    end
  elseif binding.line then
    wait(binding.line, at, 'w:' .. call.id)
  end
  answer[n] = at - now
end

for _, line in pairs(lines) do
  write(line)
  if line.is_changed then
    -- Whoever waits behind the last one comes back at most one length later, and with a minute's grace.
    redis.call('PEXPIRE', line.calls, line.last - now + line.span + 60000)
  end
end
return answer
