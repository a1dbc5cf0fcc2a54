-- Releases a call that was allowed and was not made. KEYS: the calls of its subjects. ARGV: its name.
for _, calls in ipairs(KEYS) do
  redis.call('ZREM', calls, 'c:' .. ARGV[1])
end
return 1
