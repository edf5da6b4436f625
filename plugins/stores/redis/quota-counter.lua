-- Takes units from one subscription's day and month, or reads them (0 units), or merges what Postgres knows: one key, one atomic step.
--
-- KEYS[1]      hash of the subscription; fields <day>s|f|r and <month>s|f|r: spent through Redis, granted by Postgres as a fallback,
--              refunded. All only ever grow, so merging two views of a field is taking the larger. used = s + f - r.
-- ARGV[1..3]   units, daily limit, monthly limit
-- ARGV[4..7]   Unix seconds at which yesterday, today, tomorrow and the day after start, by the node's clock and time zone
-- ARGV[8..10]  their labels YYYY-MM-DD (the first three)
-- ARGV[11]     seconds to add to this server's clock
-- ARGV[12]     where fewer units than so many are left, none is taken
-- ARGV[13..19] optional: day that Postgres's figures are of, then s f r of that day and s f r of its month
--
-- Replies  {slot 1-3, granted, s f r of the day, s f r of the month}   slot: which of the three labels this server's clock fell into
--          {-1, slot}   nothing is known of this subscription: call again with what Postgres knows
--          {-2, now}    this server's clock is outside the three days: call again with days around `now`
local KEEP_SECONDS = 41 * 86400

local key = KEYS[1]
local now = tonumber(redis.call('TIME')[1]) + tonumber(ARGV[11])
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

local seedDay = ARGV[13]
-- Figures of another day must not create the key: today's would then count as known.
if seedDay and (seedDay == day or redis.call('EXISTS', key) == 1) then
  merge(seedDay, 14)
  merge(string.sub(seedDay, 1, 7), 17)
  redis.call('EXPIRE', key, KEEP_SECONDS)
end

local parts = redis.call('HMGET', key, day .. 's', day .. 'f', day .. 'r', month .. 's', month .. 'f', month .. 'r')
if not parts[1] and not parts[4] and redis.call('EXISTS', key) == 0 then return { -1, slot } end
local isNewDay = not parts[1]
for index = 1, 6 do parts[index] = tonumber(parts[index] or 0) end

local granted = tonumber(ARGV[1])
if granted > 0 then
  local leftDaily = tonumber(ARGV[2]) - math.max(0, parts[1] + parts[2] - parts[3])
  local leftMonthly = tonumber(ARGV[3]) - math.max(0, parts[4] + parts[5] - parts[6])
  granted = math.max(0, math.min(granted, leftDaily, leftMonthly))
  if granted < tonumber(ARGV[12]) then granted = 0 end
end
if granted > 0 then
  parts[1] = redis.call('HINCRBY', key, day .. 's', granted)
  parts[4] = redis.call('HINCRBY', key, month .. 's', granted)
  if isNewDay then
    redis.call('EXPIRE', key, KEEP_SECONDS)
    -- Yesterday stays: this server's clock may be set back over midnight, and yesterday's refunds still come in.
    local oldest = slot > 1 and ARGV[6 + slot]
    for _, field in ipairs(oldest and redis.call('HKEYS', key) or {}) do
      local label = string.sub(field, 1, -2)
      if label < string.sub(oldest, 1, #label) then redis.call('HDEL', key, field) end
    end
  end
end
return { slot, granted, parts[1], parts[2], parts[3], parts[4], parts[5], parts[6] }
