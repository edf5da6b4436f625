-- Takes units from one subscription's day and month, or reads them (0 units), or merges PostgreSQL's figures: one key, one atomic step.
--
-- KEYS[1]      hash of the subscription; fields <day>s|f|r and <month>s|f|r: spent through Redis, granted by PostgreSQL as a fallback,
--              refunded. Each only ever grows, so two views of a field merge by taking the larger one. used = s + f - r.
--              rate: two doubles, a time in microseconds of this server's clock, and the debt of plugins/core/access/rate.ts at that
--              time. It is one field of 16 bytes: numbers as text would cost Redis as much again as the whole rate.
-- ARGV[1..3]   units, daily limit, monthly limit
-- ARGV[4..7]   Unix seconds at which yesterday, today, tomorrow and the day after start, by the node's clock and time zone
-- ARGV[8..10]  labels of the first three, YYYY-MM-DD
-- ARGV[11]     seconds to add to this server's clock
-- ARGV[12]     if fewer units than this are left, none is taken
-- ARGV[13..14] pace and burst of the rate; pace 0: no rate
-- ARGV[15..21] optional: day of PostgreSQL's figures, then s f r of that day and s f r of its month
-- ARGV[22]     optional: 1 if these figures may lack what a node saw, and therefore must not create the key
--
-- Replies  {slot 1-3, granted, s f r of the day, s f r of the month, debt}   slot: the label that this server's clock falls into
--          debt is present only if there is a rate
--          {-1, slot}   the subscription is unknown: call again with PostgreSQL's figures
--          {-2, now}    this server's clock is outside the three days: call again with days around `now`
local KEEP_SECONDS = 41 * 86400
local REQUEST_COST = 60000000

local key = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(ARGV[11])
local slot
if now >= tonumber(ARGV[5]) then
  if now < tonumber(ARGV[6]) then slot = 2 elseif now < tonumber(ARGV[7]) then slot = 3 end
elseif now >= tonumber(ARGV[4]) then
  slot = 1
end
if not slot then return { -2, now } end
local day = ARGV[7 + slot]
local month = string.sub(day, 1, 7)

local function merge(prefix, first)
  local known = redis.call('HMGET', key, prefix .. 's', prefix .. 'f', prefix .. 'r')
  for index, part in ipairs({ 's', 'f', 'r' }) do
    local offered = ARGV[first + index - 1]
    if not known[index] or tonumber(offered) > tonumber(known[index]) then redis.call('HSET', key, prefix .. part, offered) end
  end
end

local seedDay = ARGV[15]
-- Figures of another day must not create the key, or today's would count as known.
local createsKey = seedDay == day and ARGV[22] ~= '1'
if seedDay and (createsKey or redis.call('EXISTS', key) == 1) then
  merge(seedDay, 16)
  merge(string.sub(seedDay, 1, 7), 19)
  redis.call('EXPIRE', key, KEEP_SECONDS)
end

local pace = tonumber(ARGV[13])
local daySpent, monthSpent = day .. 's', month .. 's'
local parts = pace > 0 and redis.call('HMGET', key, daySpent, day .. 'f', day .. 'r', monthSpent, month .. 'f', month .. 'r', 'rate')
  or redis.call('HMGET', key, daySpent, day .. 'f', day .. 'r', monthSpent, month .. 'f', month .. 'r')
if not parts[1] and not parts[4] and redis.call('EXISTS', key) == 0 then return { -1, slot } end
local isNewDay = not parts[1]
for index = 1, 6 do parts[index] = tonumber(parts[index] or 0) end

local units = tonumber(ARGV[1])
local least = tonumber(ARGV[12])
local granted = units
if units > 0 then
  local leftDaily = tonumber(ARGV[2]) - math.max(0, parts[1] + parts[2] - parts[3])
  local leftMonthly = tonumber(ARGV[3]) - math.max(0, parts[4] + parts[5] - parts[6])
  granted = math.max(0, math.min(granted, leftDaily, leftMonthly))
  if granted < least then granted = 0 end
end

local debt, standing
if pace > 0 then
  local nowUs = now * 1000000 + tonumber(time[2])
  local knownAt = nowUs
  debt = 0
  if parts[7] then knownAt, debt = struct.unpack('<dd', parts[7]) end
  local whole = tonumber(ARGV[14]) * REQUEST_COST
  if debt > whole then debt = whole end
  if nowUs > knownAt then
    debt = debt - (nowUs - knownAt) * pace
    if debt < 0 then debt = 0 end
  end
  local room = math.floor((whole - debt) / REQUEST_COST)
  -- Units taken all or none belong to one request.
  local requests = least > 0 and granted > 1 and 1 or granted
  if requests > room then
    granted = least > 0 and 0 or room
    requests = granted
  end
  debt = debt + requests * REQUEST_COST
  -- If the clock was set back, the rate starts anew: otherwise the debt would stand until that time comes again.
  if requests > 0 or nowUs < knownAt then standing = struct.pack('<dd', nowUs, debt) end
end
if granted > 0 then
  -- This runs first, with a command that services may not use: they cannot take units.
  parts[1] = redis.call('HINCRBY', key, daySpent, granted)
  parts[4] = parts[4] + granted
  if standing then redis.call('HSET', key, monthSpent, parts[4], 'rate', standing) else redis.call('HSET', key, monthSpent, parts[4]) end
elseif standing then
  redis.call('HSET', key, 'rate', standing)
end
if granted > 0 and isNewDay then
  redis.call('EXPIRE', key, KEEP_SECONDS)
  -- Yesterday's fields stay: this server's clock may be set back over midnight, and yesterday's refunds still arrive.
  local oldest = slot > 1 and ARGV[6 + slot]
  for _, field in ipairs(oldest and redis.call('HKEYS', key) or {}) do
    local label = string.sub(field, 1, -2)
    if label < string.sub(oldest, 1, #label) then redis.call('HDEL', key, field) end
  end
end
return { slot, granted, parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], debt }
