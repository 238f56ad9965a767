"""What Redis does in one step for one worker that asks one model: permits for requests in flight, times to send, news.

A permit is leased: a worker that is not heard of for longer than its lease has none. A worker's permits grow only by
this script and shrink only by the worker's own word, so that what it sent meanwhile is never given to another.
Times to send are handed out one after the other (a leaky bucket that never fills), whoever asks.
"""

from __future__ import annotations

MARK = "return redis.call('SET', KEYS[1], redis.call('TIME')[1], 'NX')"
"""Notes since when Redis remembers, where it does not know."""

SCRIPT = """
local since_key, permits_key, breaker_key = KEYS[1], KEYS[2], KEYS[3]
local holder, sequence = ARGV[1], tonumber(ARGV[2])
local held, wanted, ceiling = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local lease, quiet_for, horizon = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local slots_wanted, breaker = tonumber(ARGV[9]), ARGV[10]

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- A Redis that forgot everything gives nothing until it has heard of all who still send, or their leases have run out.
local since = redis.call('GET', since_key)
if not since then
  since = now
  redis.call('SET', since_key, string.format('%.6f', now))
end
local is_quiet = now - tonumber(since) < quiet_for

local others, holders, mine, is_late = 0, 1, nil, false
local starving = {}
local entries = redis.call('HGETALL', permits_key)
for i = 1, #entries, 2 do
  local s, h, w, e = string.match(entries[i + 1], '^(%S+) (%S+) (%S+) (%S+)$')
  h, w, e = tonumber(h), tonumber(w), tonumber(e)
  if entries[i] == holder then
    is_late = tonumber(s) >= sequence
    if e > now then mine = h end
  elseif e <= now then
    redis.call('HDEL', permits_key, entries[i])
  else
    others = others + h
    if w > 0 then holders = holders + 1 end
    if w > h then starving[#starving + 1] = h end
  end
end
if is_late then return {'late'} end

local fair = math.max(1, math.floor(ceiling / holders))
local is_starving = false
for _, h in ipairs(starving) do
  if h < fair then is_starving = true end
end
local granted
if mine then
  granted = math.min(held, mine)
elseif is_quiet then
  granted = held
else
  granted = math.min(held, math.max(0, ceiling - others))
end
local free = math.max(0, ceiling - others - granted)
if wanted > granted and not is_quiet then
  local most = wanted
  if is_starving then most = math.min(wanted, math.max(granted, fair)) end
  granted = granted + math.max(0, math.min(most - granted, free))
end
local target = granted
if is_starving then target = math.min(granted, wanted == 0 and 0 or fair) end
if wanted == 0 and granted == 0 then
  redis.call('HDEL', permits_key, holder)
else
  redis.call('HSET', permits_key, holder, string.format('%d %d %d %.6f', sequence, granted, wanted, now + lease))
  redis.call('PEXPIRE', permits_key, math.ceil(lease * 4000))
end

-- Whose breaker is open says so again and again; whoever got an answer closes all.
if breaker == 'open' then
  redis.call('HSET', breaker_key, holder, string.format('%.6f', now + lease))
  redis.call('PEXPIRE', breaker_key, math.ceil(lease * 1000))
elseif breaker == 'closed' then
  redis.call('DEL', breaker_key)
end
local open = 0
local news = redis.call('HGETALL', breaker_key)
for i = 1, #news, 2 do
  if news[i] ~= holder and tonumber(news[i + 1]) > now then open = open + 1 end
end

local result = {'done', granted, target, open}
local wait, slots = 0, {}
local at, interval = {}, {}
for j = 4, #KEYS do
  interval[j] = tonumber(ARGV[11 + (j - 4) * 2])
  at[j] = math.max(now, tonumber(redis.call('GET', KEYS[j]) or '0')) + tonumber(ARGV[12 + (j - 4) * 2])
end
if slots_wanted > 0 and now - tonumber(since) < horizon then
  wait, slots_wanted = horizon - (now - tonumber(since)), 0  -- until those given before are used up
end
for i = 1, slots_wanted do
  local t = now
  for j = 4, #KEYS do t = math.max(t, at[j]) end
  if t > now + horizon then
    if i == 1 then wait = t - now - horizon / 2 end
    break
  end
  for j = 4, #KEYS do at[j] = math.max(at[j], now) + interval[j] end
  slots[#slots + 1] = string.format('%.6f', t - now)
end
for j = 4, #KEYS do
  if at[j] > now then
    redis.call('SET', KEYS[j], string.format('%.6f', at[j]), 'PX', math.ceil((at[j] - now) * 1000) + 60000)
  end
end
result[5] = string.format('%.6f', wait)
for _, slot in ipairs(slots) do result[#result + 1] = slot end
return result
"""
