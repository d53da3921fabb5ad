-- share.lua - one limit across servers: sync, the only operation of the engine.
-- Sent by mod_admission_redis, run by Redis or Valkey.
--
-- A server reports what it may still use (has) and what it could use (want); the reply is
-- what it may use from now on. docs/dev/fleet.md has the rules (R1 ...) and their reasons.
-- The engine never takes a permit away: it asks for it (target) and accepts the promises.
-- Data that is lost here is recovered from the servers.
--
-- KEYS[1]: the zone's hash. The field '#' is the record of the zone:
local RUN, SINCE, SPAN, REGISTERED, LAST, TIGHT_AT, LEARNS = 1, 2, 3, 4, 5, 6, 7
-- and each other field is the record of a server; OLDEST is a time of the engine:
local GRANTED, GEN, SEQ, WANT, OLDEST, LEASE_END, TARGET, SPOKEN, LIMIT, LEASE,
      HOLD, TIGHT, NAME = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13

local LATE_MS, SLACK_MS, TIGHT_MS, FORGET_MS = 1000, 100, 300, 86400000
local ALSO_ASKED = 4 -- servers asked for a permit for a server without one
local NAMED = 32 -- maximum length of the list of servers

local id, name, predecessor, run = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function number(n) return tonumber(ARGV[n + 2]) end
local seq, gen_seen, has, want, oldest = number(3), number(4), number(5), number(6), number(7)
local limit, lease, hold = number(8), number(9), number(10)
local engine_time, age, span = number(11), number(12), number(13)
local leaves, asks_who = number(14), number(15)

-- Reject numbers that no server sends: a wrong one would change the sum of all grants.
local MOST = { [3] = 2^53, [4] = 9e12, [5] = 1e6, [6] = 1e6, [8] = 1e6, [9] = FORGET_MS,
               [10] = FORGET_MS, [11] = 9e12, [12] = 9e12, [13] = 2 * FORGET_MS }
for n, most in pairs(MOST) do
  local of = number(n)
  if not (of and of >= 0 and of <= most) then
    return redis.error_reply('ERR argument ' .. n .. ' of a sync')
  end
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Read the records. A field that another program wrote counts as a lost record.
local zone, servers, ids, changed, is_spoilt = nil, {}, {}, {}, false
local raw = redis.call('HGETALL', KEYS[1])
for i = 1, #raw, 2 do
  local is_json, of = pcall(cjson.decode, raw[i + 1])
  if raw[i] == '#' then
    zone = is_json and type(of) == 'table' and type(of[LEARNS]) == 'number' and of or nil
  elseif is_json and type(of) == 'table' and type(of[TIGHT]) == 'number' then
    servers[raw[i]] = of
    ids[#ids + 1] = raw[i]
  else
    redis.call('HDEL', KEYS[1], raw[i])
    is_spoilt = true
  end
end

local function save()
  redis.call('HSET', KEYS[1], '#', cjson.encode(zone))
  for server_id in pairs(changed) do
    if servers[server_id] then
      redis.call('HSET', KEYS[1], server_id, cjson.encode(servers[server_id]))
    end
  end
  redis.call('PEXPIRE', KEYS[1], FORGET_MS)
end

local function remove(server_id)
  redis.call('HDEL', KEYS[1], server_id)
  servers[server_id] = nil
  for i, other in ipairs(ids) do
    if other == server_id then
      table.remove(ids, i)
      return
    end
  end
end

local function extend_leases()
  for _, server_id in ipairs(ids) do
    servers[server_id][LEASE_END] = now + servers[server_id][LEASE]
    changed[server_id] = true
  end
end

-- R8: a new run of the engine might have lost data, so it learns from the servers.
if not zone then zone = { '', now, 0, 0, now, 0, 1 } end
if zone[RUN] ~= run or is_spoilt then
  zone[RUN], zone[SINCE], zone[REGISTERED], zone[LEARNS] = run, now, 0, 1
  for _, server_id in ipairs(ids) do servers[server_id][SPOKEN] = 0 end
  extend_leases()
end
-- R16: it learns for the longest lease and hold, also of servers that have not sent yet.
zone[SPAN] = math.max(lease + hold, zone[LEARNS] == 1 and math.max(zone[SPAN], span) or 0)
for _, server_id in ipairs(ids) do
  zone[SPAN] = math.max(zone[SPAN], servers[server_id][LEASE] + servers[server_id][HOLD])
end
-- No lease may end because of a jump of the clock. It went back, or might have gone forward
-- if no server sent anything for half a lease.
if zone[SINCE] > now then zone[SINCE] = now end
if zone[TIGHT_AT] > now then zone[TIGHT_AT] = now end
if now < zone[LAST] or now - zone[LAST] > lease / 2 then
  extend_leases()
  if zone[LEARNS] == 1 then zone[SINCE] = now end
end
zone[LAST] = now

-- R5: ignore a late sync, and let no lease expire.
local late = now - (engine_time + age)
if late > LATE_MS or late < -LATE_MS then
  extend_leases()
  if zone[LEARNS] == 1 then zone[SINCE] = now end
  save()
  return { 'late', now, late }
end

-- R4
local own = servers[id]
if own and seq <= own[SEQ] then return { 'stale', now, own[SEQ] } end

-- R15: no process of the predecessor runs, so its grant is free; but not while the engine
-- learns, because a late sync of the predecessor could claim it again.
local before = predecessor ~= id and servers[predecessor]
if before then
  if before[SPOKEN] == 1 then
    zone[REGISTERED] = math.min(zone[REGISTERED], limit) - before[GRANTED]
  end
  remove(predecessor)
end

-- Permits that other servers certainly hold.
local function held_by_others()
  local sum = 0
  for _, server_id in ipairs(ids) do
    if server_id ~= id and servers[server_id][SPOKEN] == 1 then
      sum = sum + servers[server_id][GRANTED]
    end
  end
  return sum
end

-- R14: the server keeps no more than is free, because others might have got its share.
local function first_target()
  local free = math.max(limit - held_by_others(), 0)
  return math.min(has, free)
end

if not own then
  -- R13: generations start at the time, above all of an earlier record.
  own = { has, math.max(gen_seen, now), seq, want, 0, 0, first_target(), 1, limit, lease,
          hold, 0 }
  servers[id] = own
  ids[#ids + 1] = id
  zone[REGISTERED] = zone[REGISTERED] + has
elseif own[SPOKEN] == 0 then
  own[GRANTED], own[TARGET], own[SPOKEN] = has, first_target(), 1
  own[GEN] = math.max(gen_seen, own[GEN]) + 1
  zone[REGISTERED] = zone[REGISTERED] + has
elseif gen_seen == own[GEN] then
  own[GRANTED], own[TARGET] = has, math.min(own[TARGET], has) -- R1
else
  own[GRANTED] = math.max(own[GRANTED], has) -- R3: another grant is on its way
  -- R13: the server has seen a later generation than this record has.
  if gen_seen > own[GEN] then own[GEN] = gen_seen + 1 end
end
own[SEQ], own[WANT], own[LIMIT], own[LEASE], own[HOLD] = seq, want, limit, lease, hold
own[LEASE_END], own[NAME] = now + lease, name
own[OLDEST] = oldest >= 0 and now - oldest or 0
changed[id] = true
if leaves == 1 then
  own[WANT] = 0
  if has == 0 then
    remove(id)
    own = nil
  end
end

-- Find the live servers and the free permits. R7: a silent server keeps its grant for a hold.
local live, reserved, silent, wanted, heard = {}, 0, 0, 0, 0
for i = #ids, 1, -1 do
  local server_id = ids[i]
  local x = servers[server_id]
  if x[LEASE_END] > now + x[LEASE] then
    x[LEASE_END] = now + x[LEASE]
    changed[server_id] = true
  end
  if now > x[LEASE_END] + x[HOLD] then
    remove(server_id)
  else
    reserved = reserved + x[GRANTED]
    if x[SPOKEN] == 1 then heard = heard + x[GRANTED] end
    if x[SPOKEN] == 1 and now <= x[LEASE_END] then
      live[#live + 1] = server_id
      wanted = wanted + x[WANT]
      if x[LIMIT] < limit then limit = x[LIMIT] end
    else
      silent = silent + x[GRANTED]
    end
  end
end
local learning = zone[LEARNS] == 1 and zone[SINCE] + zone[SPAN] - now or 0
if learning <= 0 then learning, zone[LEARNS] = 0, 0 end

-- Each server's part: all that it wants if there is enough; otherwise one each, and the rest
-- by demand. The remainder goes to the server that has waited longest; a server that has it
-- keeps it for SLACK_MS.
local there = math.max(limit - silent, 0)
local asking, should = {}, {}
for _, server_id in ipairs(live) do
  if servers[server_id][WANT] > 0 then asking[#asking + 1] = server_id end
end
local function waits_since(server_id)
  local x = servers[server_id]
  local since = x[OLDEST] > 0 and x[OLDEST] or now
  return x[GRANTED] > (should[server_id] or 0) and since - SLACK_MS or since
end
local function sort_by_wait(list)
  local key = {}
  for _, server_id in ipairs(list) do key[server_id] = waits_since(server_id) end
  table.sort(list, function(a, b)
    if key[a] ~= key[b] then return key[a] < key[b] end
    return a < b
  end)
end
if wanted <= there then
  for _, server_id in ipairs(asking) do should[server_id] = servers[server_id][WANT] end
else
  local left = there
  if #asking <= there then
    for _, server_id in ipairs(asking) do
      local share = 1 + math.floor((servers[server_id][WANT] - 1) * (there - #asking)
                                   / (wanted - #asking))
      should[server_id] = math.min(share, servers[server_id][WANT])
      left = left - should[server_id]
    end
  else
    for _, server_id in ipairs(asking) do should[server_id] = 0 end
  end
  sort_by_wait(asking)
  for _, server_id in ipairs(asking) do
    if left > 0 and should[server_id] < servers[server_id][WANT] then
      should[server_id] = should[server_id] + 1
      left = left - 1
    end
  end
end

-- Raise grants, only by free permits. While the engine learns, permits that were not
-- promised in this run might belong to servers that have not sent yet.
local notified = {}
local function grant(server_id, more)
  local x = servers[server_id]
  x[GRANTED] = x[GRANTED] + more
  x[TARGET], x[GEN] = x[GRANTED], x[GEN] + 1
  changed[server_id], notified[server_id] = true, true
end
local free = limit - reserved
if learning > 0 then free = math.min(free, math.min(zone[REGISTERED], limit) - heard) end
local function raise(server_id, to)
  local more = math.min(to - servers[server_id][GRANTED], free)
  if more > 0 then
    grant(server_id, more)
    free = free - more
  end
end
-- Servers without a permit come first.
for _, server_id in ipairs(asking) do raise(server_id, math.min(should[server_id], 1)) end
for _, server_id in ipairs(asking) do raise(server_id, should[server_id]) end

-- R2: ask for the permits that others need, from the servers that exceed their part most.
-- For a server without a permit, several others are asked for one each, because the first
-- request that ends suffices; later the targets of the rest are raised again.
local need, spare, on_its_way = math.max(reserved - limit, 0), 0, 0
for _, server_id in ipairs(live) do
  local x = servers[server_id]
  local lacks = math.max((should[server_id] or 0) - x[GRANTED], 0)
  need = need + lacks
  if lacks > 0 and x[GRANTED] == 0 then spare = ALSO_ASKED end
  on_its_way = on_its_way + x[GRANTED] - x[TARGET]
end
local function beyond(server_id)
  return servers[server_id][TARGET] - (should[server_id] or 0)
end
local function aim(server_id, target)
  local x = servers[server_id]
  x[TARGET], x[GEN] = target, x[GEN] + 1
  changed[server_id], notified[server_id] = true, true
end
local back = need + spare - on_its_way
if back > 0 then
  local losers = {}
  for _, server_id in ipairs(live) do
    if beyond(server_id) > 0 then losers[#losers + 1] = server_id end
  end
  table.sort(losers, function(a, b)
    if beyond(a) ~= beyond(b) then return beyond(a) > beyond(b) end
    return a < b
  end)
  for _, server_id in ipairs(losers) do
    local part = math.min(beyond(server_id), back)
    if part > 0 then
      aim(server_id, servers[server_id][TARGET] - part)
      back = back - part
    end
  end
  back = math.min(back, spare)
  for i = 1, #live do
    local server_id = live[(i + now) % #live + 1]
    local x = servers[server_id]
    if back > 0 and x[TARGET] == x[GRANTED] and x[TARGET] > 1 then
      aim(server_id, x[TARGET] - 1)
      back = back - 1
    end
  end
elseif back < 0 and reserved <= limit then
  for _, server_id in ipairs(asking) do
    local x = servers[server_id]
    local part = math.min(math.min(should[server_id], x[GRANTED]) - x[TARGET], -back)
    if part > 0 then
      aim(server_id, x[TARGET] + part)
      back = back + part
    end
  end
end

-- No server is short, and none was for TIGHT_MS: grant a few permits in advance to a server
-- that runs requests. While permits are short, it would have to return them immediately.
if own and want > 0 and need == 0 and free > 0 and now - zone[TIGHT_AT] > TIGHT_MS then
  local more = math.min(want + math.floor(free / (2 * #ids)) - own[GRANTED], free)
  if more > 0 then grant(id, more) end
end

-- While a server is short, no server may keep an idle permit. The same applies if more is
-- wanted than there is, because a server with idle permits might no longer want them.
local short = math.max(wanted - there, 0)
for _, server_id in ipairs(asking) do
  short = short + math.max(should[server_id] - servers[server_id][GRANTED], 0)
end
if short > 0 then
  zone[TIGHT_AT] = now
  for _, server_id in ipairs(live) do
    local x = servers[server_id]
    if x[TIGHT] == 0 then
      x[TIGHT], x[GEN] = 1, x[GEN] + 1
      changed[server_id], notified[server_id] = true, true
    end
  end
end
local tight = now - zone[TIGHT_AT] <= TIGHT_MS and 1 or 0
if own and own[TIGHT] ~= tight then own[TIGHT] = tight end

save()
for server_id in pairs(notified) do
  local x = servers[server_id]
  if server_id ~= id and x then
    redis.call('PUBLISH', 'adm:' .. server_id,
               KEYS[1] .. ' ' .. run .. ' ' .. x[GEN] .. ' ' .. x[GRANTED] .. ' '
               .. x[TARGET] .. ' ' .. x[TIGHT])
  end
end
if not own then return { 'bye', now } end
local answer = { 'ok', now, own[GEN], own[GRANTED], own[TARGET], #ids, reserved, wanted,
                 learning, limit, own[TIGHT], (should[id] or 0) < want and 1 or 0,
                 zone[SPAN] }
if asks_who == 1 then
  local who = {}
  local function name_it(server_id)
    local x = servers[server_id]
    local silent = math.max(now - (x[LEASE_END] - x[LEASE]), 0)
    for _, word in ipairs({ x[NAME] or server_id, x[GRANTED], x[TARGET], x[WANT], silent }) do
      who[#who + 1] = word
    end
  end
  name_it(id)
  table.sort(ids)
  for n = 1, math.min(#ids, NAMED) do
    if ids[n] ~= id and #who < NAMED * 5 then name_it(ids[n]) end
  end
  answer[#answer + 1] = who
end
return answer
