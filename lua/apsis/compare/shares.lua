-- shares: which parts of a candidate make its gain: what is lost without each, which only work together, and the
-- fewest that keep most of it. Every part is left out alone; if there are too many, runs of them are, and those that
-- matter are divided. Then it looks for parts that need each other, or replace each other. The caller measures. Called
-- by explain.
local losses = require "apsis.compare.losses"
local search = require "apsis.live.search"

local shares = {}

local Shares = {}
Shares.__index = Shares

local ADDS_UP <const> = 0.02 -- of the gain: parts whose losses add up so closely do not interact
local KEEPS <const> = 0.95
local DIVIDING <const> = 0.7 -- of the measurements, for finding parts in runs of them
local SEARCH <const> = 3 -- one search takes at most this part of the measurements

local function union(units, more)
  local set = table.move(more or {}, 1, #(more or {}), 1, {})
  for _, unit in ipairs(units) do table.move(unit.set, 1, #unit.set, #set + 1, set) end
  table.sort(set)
  return set
end

local function without(list, gone)
  local out, left = {}, {}
  for _, one in ipairs(gone) do out[one] = true end
  for _, one in ipairs(list) do
    if not out[one] then left[#left + 1] = one end
  end
  return left
end

local function sets_of(units)
  local sets = {}
  for index, unit in ipairs(units) do sets[index] = unit.set end
  return sets
end

local function by_place(a, b) return a.set[1] < b.set[1] end

-- When a search must stop: no measurement is left, or it has taken its part.
local function stopper(self)
  local losing, from = self.losses, self.losses.used
  return function() return losing.ended or losing.used - from >= losing.most // SEARCH end
end

local function failed(self, unit)
  local found = self.losses.found[table.concat(unit.set, " ")]
  return found and found.failed
end

local function matters(self, unit) return self.losses:matters(unit.set) end

-- Makes one unit of several. false if its loss cannot be measured any more.
local function group(self, units)
  local joined = { set = union(units), members = {} }
  for _, unit in ipairs(units) do
    for _, member in ipairs(unit.members or { unit }) do table.insert(joined.members, member) end
  end
  table.sort(joined.members, by_place)
  self.units = without(self.units, units)
  table.insert(self.units, joined)
  table.sort(self.units, by_place)
  return joined, self.losses:ask { joined.set }
end

-- ---- each part ----

-- One unit of several that are not told apart, which can be divided again.
local function run_of(units)
  return #units == 1 and units[1] or { set = union(units), inner = units }
end

-- What becomes of a run whose halves were measured: the halves, or itself, if they matter only together.
local function divided(self, unit, halves)
  local a, b = halves[1], halves[2]
  local neither = not matters(self, a) and not matters(self, b)
  if neither or failed(self, a) and failed(self, b) and not failed(self, unit) then
    unit.whole = true
    return
  end
  self.units = without(self.units, { unit })
  table.move(halves, 1, 2, #self.units + 1, self.units)
end

-- Divides runs that matter, until they are single units or the measurements do not suffice. false if it ended.
local function divide(self)
  local losing = self.losses
  while true do
    local halves, asked = {}, {}
    for _, unit in ipairs(self.units) do
      if unit.inner and not unit.whole and matters(self, unit) then
        local runs = search.runs_of(unit.inner, 2)
        halves[unit] = { run_of(runs[1]), run_of(runs[2]) }
        for _, half in ipairs(halves[unit]) do asked[#asked + 1] = half.set end
      end
    end
    if #asked == 0 or losing.used + #asked * losing.turns > DIVIDING * losing.most then return true end
    if not losing:ask(asked) then return false end
    for _, unit in ipairs(self.units) do
      if halves[unit] then divided(self, unit, halves[unit]) end
    end
    table.sort(self.units, by_place)
  end
end

-- Measures without each part. false if it ended.
local function alone(self)
  local losing, singles = self.losses, {}
  for part = 1, self.count do singles[part] = { set = { part } } end
  self.all = union(singles)
  for index, run in ipairs(search.runs_of(singles, math.min(self.count, math.max(losing:room(), 1)))) do
    self.units[index] = run_of(run)
  end
  losing:prepare(#self.units)
  local asked = sets_of(self.units)
  table.insert(asked, 1, self.all) -- the baseline
  if not losing:ask(asked) then return false end
  return divide(self)
end

-- Measures what matters again, if there is no noise. false if it ended, or there is noise after all.
local function confirm(self)
  for _, unit in ipairs(self.losses.noisy and {} or self.units) do
    if matters(self, unit) and not failed(self, unit) and not self.losses:repeats(unit.set) then return false end
  end
  return true
end

-- ---- parts that go together ----

-- Finds what a unit that fails alone must go with.
local function accompany(self, unit)
  local stop, failing, others = stopper(self), {}, without(self.units, { unit })
  for _, other in ipairs(others) do
    if failed(self, other) then failing[#failing + 1] = other end
  end
  local function holds(list) return self.losses:passes(union(list, unit.set)) end
  local all = #failing > 0 and holds(failing) and failing or others
  local near = {}
  for index, other in ipairs(self.units) do
    if other == unit then near = { self.units[index - 1] or self.units[index + 1],
      self.units[index - 1] and self.units[index + 1] } end
  end
  local found = search.companions(#all > 1 and near or {}, all, holds, stop)
  if found and not self.losses.ended then
    table.insert(found, unit)
    group(self, found)
  end
end

local function accompany_all(self)
  local tried = {}
  while not self.losses.ended and #self.units > 1 do
    local unit
    for _, one in ipairs(self.units) do
      if not tried[one] and failed(self, one) then unit = unit or one end
    end
    if not unit then return end
    tried[unit] = true
    accompany(self, unit)
  end
end

-- Whether without a list of units, and a fixed set besides, other than the expected loss is found.
local function differs(self, set, units)
  local losing, sum, square = self.losses, 0, 0
  for _, unit in ipairs(units) do
    local one = losing:of(unit.set, self.scale)
    if not one then return false end
    if self.losses.noisy or matters(self, unit) then sum, square = sum + one.gain, square + one.half ^ 2 end
  end
  if not losing:ask({ set }, losses.TURNS) then return false end
  local loss = losing:of(set, self.scale)
  if not loss then return true end
  local bound = math.max(ADDS_UP * math.abs(self.total.gain), math.sqrt(square + loss.half ^ 2))
  return math.abs(loss.gain - sum) > bound
end

-- The fewest of some units that, with others, lose other than the sum; nil if all together do not.
local function interacting(self, list, others)
  local function holds(some)
    local units = table.move(others, 1, #others, 1, {})
    table.move(some, 1, #some, #units + 1, units)
    return differs(self, union(units), units)
  end
  if #list == 0 or not holds(list) then return nil end
  local found = search.smallest(list, holds, stopper(self))
  return not self.losses.ended and found or nil
end

-- What has no effect alone and is not failing, and what has.
local function sorted_out(self)
  local idle, active = {}, {}
  for _, unit in ipairs(self.units) do
    if not matters(self, unit) then idle[#idle + 1] = unit
    elseif not failed(self, unit) then active[#active + 1] = unit end
  end
  table.sort(active, function(a, b)
    local x, y = self.losses:of(a.set).gain, self.losses:of(b.set).gain
    if x ~= y then return x > y end
    return by_place(a, b)
  end)
  return idle, active
end

-- The scale on which the most of the losses add up, when units are left out one after another; another than the
-- metric's own only if two more do, as one may by chance.
local function choose_scale(self, active, prefixes)
  local losing, best, most = self.losses, losses.scales[1], -1
  for _, scale in ipairs(losing:usable()) do
    local total, count = losing:of(self.all, scale), 0
    for index = 2, #active do
      local before, after, one = losing:of(prefixes[index - 1], scale), losing:of(prefixes[index], scale),
        losing:of(active[index].set, scale)
      local near = before and after and one and math.max(ADDS_UP * math.abs(total.gain),
        math.sqrt(before.half ^ 2 + after.half ^ 2 + one.half ^ 2))
      if near and math.abs(after.gain - before.gain - one.gain) <= near then count = count + 1 end
    end
    if count > most + (scale == best and 0 or 1) then best, most = scale, count end
  end
  self.scale, self.total = best, losing:of(self.all, best)
end

-- Joins a unit with those of a list that it interacts with. The unit, and the list without them.
local function settle(self, unit, list)
  while not self.losses.ended do
    local found = interacting(self, list, { unit })
    if not found then break end
    list = without(list, found)
    table.insert(found, unit)
    unit = group(self, found)
  end
  return unit, list
end

-- Parts without effect alone that have one together: each does what the others do.
local function unseen(self)
  while not self.losses.ended do
    local idle, active = sorted_out(self)
    local found = #idle > 1 and interacting(self, idle, {})
    if not found or #found < 2 then return end
    local joined = group(self, found)
    accompany_all(self)
    if not failed(self, joined) then settle(self, joined, active) end
  end
end

-- Units that matter alone, and less or more together: adds them one by one, and finds what each interacts with.
local function together(self)
  local _, active = sorted_out(self)
  local prefixes, set = {}, {}
  for index, unit in ipairs(active) do
    set = union({ unit }, set)
    prefixes[index] = set
  end
  if not self.losses:ask(prefixes) then return end
  choose_scale(self, active, prefixes)
  local sound = {}
  for _, unit in ipairs(active) do
    unit, sound = settle(self, unit, sound)
    sound[#sound + 1] = unit
  end
end

-- Parts without effect that change what others lose.
local function hidden(self)
  for _ = 1, #self.units do
    local idle, active = sorted_out(self)
    local found = interacting(self, idle, active)
    local others = found and interacting(self, active, found)
    if not others then return end
    table.move(found, 1, #found, #others + 1, others)
    group(self, others)
  end
end

-- Under noise: units whose effect is too small to be shown may have one together; then runs of them are shown.
local function faint(self)
  local idle = sorted_out(self)
  if not self.losses.noisy or #idle < 2 or self.losses.ended then return end
  local all = run_of(idle)
  if not self.losses:ask { all.set } or not matters(self, all) then return end
  self.units = without(self.units, idle)
  table.insert(self.units, all)
  divide(self)
end

-- ---- the result ----

-- The candidate without a set, if that keeps most of the gain.
local function patch_of(self, gone)
  local losing = self.losses
  if not losing:ask { gone } then return nil end
  local loss, total = losing:of(gone), losing:of(self.all)
  if not loss or loss.gain > (1 - KEEPS) * total.gain then return nil end
  return { without = gone, keeps = 1 - loss.gain / total.gain, low = 1 - loss.high / total.gain,
    high = 1 - loss.low / total.gain, value = #gone > 0 and loss.value or losing:own(self.all) }
end

-- Leaves out members of groups too: one that loses nothing alone may do what another does.
local function thinner(self, patch, units)
  for _, unit in ipairs(units) do
    for _, member in ipairs(unit.members or {}) do
      if not matters(self, member) and self.losses:affords_one() then
        patch = patch_of(self, union({ member }, patch.without)) or patch
      end
    end
  end
  return patch
end

-- The fewest units that keep most of the gain: leaves out what loses least, as long as that is little.
local function smallest(self)
  local drop, sum = {}, 0
  local idle, active = sorted_out(self)
  for index = #active, 1, -1 do -- the least first
    sum = sum + self.losses:of(active[index].set, self.scale).gain
    if sum > (1 - KEEPS) * self.total.gain then break end
    drop[#drop + 1] = active[index]
  end
  for last = #drop, 0, -1 do
    local gone = table.move(drop, 1, last, 1, {})
    table.move(idle, 1, #idle, #gone + 1, gone)
    local patch = patch_of(self, union(gone))
    if self.losses.ended then return nil end
    if patch then return thinner(self, patch, without(self.units, gone)) end
  end
end

local function describe(self, unit)
  local losing = self.losses
  local loss = losing:of(unit.set, self.scale)
  local one = { set = unit.set, matters = matters(self, unit), failed = failed(self, unit) or nil }
  if not losing.found[table.concat(unit.set, " ")] then one.unknown = true
  elseif loss then
    local total = self.total.gain
    one.value, one.share, one.low, one.high = loss.value, loss.gain / total, loss.low / total, loss.high / total
  else
    one.reason = losing.found[table.concat(unit.set, " ")].reason
  end
  for index, member in ipairs(unit.members or {}) do
    one.members = one.members or {}
    one.members[index] = describe(self, member)
  end
  return one
end

local function result_of(self, patch)
  local losing, units = self.losses, {}
  for index, unit in ipairs(self.units) do units[index] = describe(self, unit) end
  return { units = units, value = losing:own(self.all), base = losing:of(self.all).value, gain = losing:of(self.all),
    noisy = losing.noisy or false, turns = losing.turns, used = losing.used, most = losing.most, patch = patch,
    ended = losing.ended, scale = self.scale.name }
end

-- Everything after the candidate's own measurement. result | nil, why; nil: it ended, or there is noise after all.
local function explain(self)
  local losing = self.losses
  self.units, self.scale = {}, losses.scales[1]
  if not alone(self) and not losing.found[table.concat(self.all, " ")] then return nil end
  local total = losing:of(self.all)
  if not total then return nil, "the baseline fails: " .. losing.found[table.concat(self.all, " ")].reason end
  if not (losing:matters(self.all) and total.gain > 0) then return nil, "no better" end
  self.total = total
  if losing.ended then return result_of(self) end
  if not confirm(self) and not losing.ended then return nil end
  accompany_all(self)
  together(self)
  accompany_all(self)
  unseen(self)
  hidden(self)
  faint(self)
  return result_of(self, not losing.ended and smallest(self) or nil)
end

-- run{ count, metric, most, measure, kept, seed }: see losses.new; count: of parts -> { units = { { set, matters,
-- failed, value (without it), share, low, high, reason, members }... }, value, base, gain, noisy, turns, used, most,
-- ended = "limit" | "interrupted" | nil, scale, patch = { without, keeps, low, high, value } }; nil, why, values.
function shares.run(spec)
  local self = setmetatable({ count = spec.count, losses = losses.new(spec) }, Shares)
  local values, why = self.losses:control()
  if not values then return nil, why and "the candidate fails: " .. why or self.losses.ended end
  local noisy = self.losses.noisy
  local result, message = explain(self)
  if not result and not message and not noisy and self.losses.noisy and not self.losses.ended then
    result, message = explain(self)
  end
  return result, message or self.losses.ended, self.losses
end

return shares
