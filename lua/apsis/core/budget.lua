-- budget: what a run may spend and what it has: change experiments, verifications, minutes, tokens, US dollars. What is
-- in flight is reserved, so that no cap is passed by work already started. Counts are of the current run (journal field
-- run). Experiments and verifications are counted; what a provider will take is estimated, and so reserved only until
-- it is known.
local budget = {}

local Budget = {}
Budget.__index = Budget

local kinds = { "iterations", "measurements", "minutes", "tokens", "usd" }
local estimates, estimated = { "tokens", "usd" }, { tokens = true, usd = true }

-- budget.new(limits, history, elapsed): elapsed() is the run's wall-clock seconds.
function budget.new(limits, history, elapsed)
  local self = setmetatable({ history = history, elapsed = elapsed, reserved = {}, last = {},
    carried = { tokens = 0, usd = 0 } }, Budget)
  self:limit(limits or {})
  return self
end

-- Sets what may be spent. before: what a run that went on had spent, by kind, where a limit is asked for beyond that.
-- limited: the kinds that are, in order; estimates: whether some of them are only known afterwards.
function Budget:limit(limits, before)
  self.limits, self.before, self.limited = limits, before or {}, {}
  for _, kind in ipairs(kinds) do
    if limits[kind] then self.limited[#self.limited + 1] = kind end
  end
  self.estimates = (limits.tokens or limits.usd) ~= nil
end

function Budget:spent(kind)
  return self.history.run_totals[kind] or kind == "minutes" and self.elapsed() / 60 or 0
end

function Budget:reserve(kind, amount)
  self.reserved[kind] = (self.reserved[kind] or 0) + amount
end

-- What may still be reserved of a kind; math.huge if it is not limited.
function Budget:left(kind)
  local limit = self.limits[kind]
  if not limit then return math.huge end
  local left = limit - self:spent(kind) - (self.reserved[kind] or 0)
  return left > 0 and left or 0
end

-- The message that a limit is used up.
function Budget:used_up_text(kind)
  local limit, before = self.limits[kind], self.before[kind] or 0
  local whose = before > 0 and ("%.10g since run %d went on, %.10g in all"):format(limit - before, self.history.run,
    limit) or ("%.10g in this run"):format(limit)
  return ("budget: %s used up (%s)"):format(kind, whose)
end

-- Sums of dollars are not exact: what is missing by less than this is not missing.
local function slack(limit) return 1e-9 * limit end

-- nil, or the reason why nothing more may start. Tokens and dollars that are only reserved may yet be given back.
function Budget:used_up()
  local limited = self.limited
  for index = 1, #limited do
    local kind = limited[index]
    local limit, taken, short = self.limits[kind], self:spent(kind), 0
    if estimated[kind] then short = slack(limit) else taken = taken + (self.reserved[kind] or 0) end
    if taken >= limit - short then return self:used_up_text(kind) end
  end
end

local function amount_text(kind, number) return (kind == "usd" and "%.6g" or "%.0f"):format(number) end

local function mean_of(self, kind)
  local totals = self.history.totals
  local sum = totals[kind] - (kind == "usd" and totals.machines or 0)
  return totals.asked > 0 and sum / totals.asked or 0
end

-- How many verifications a proposal takes at least.
local function verifications(proposal)
  if proposal.measure then return #proposal.measure * (proposal.repeats or 1) end
  return proposal.ask and 0 or 1
end

-- What a proposal's verifications may cost on other machines, in dollars: the mean of those there, times how many.
local function machines_for(self, proposal)
  local totals = self.history.totals
  return totals.machines > 0 and verifications(proposal) * totals.machines / math.max(1, totals.priced) or 0
end

-- The same for a slot: the estimate from when it was opened, or the cost so far if that is higher.
local function machines_of(slot)
  return math.max(slot.machines and slot.machines.usd or 0, slot.reserved.machines or 0)
end

-- What a provider may take for a proposal, { tokens, usd }: the world's word, else the mean of what answers so far took
-- times how many are asked for, else 0; and whether that is known. nil if neither is limited, or nobody is asked.
function Budget:needs(world, proposal)
  if not self.estimates or proposal.edits or proposal.measure or proposal.handed then return nil end
  local tokens, usd
  if world.estimate then tokens, usd = world:estimate(proposal) end
  local k, asked = proposal.k or 1, self.history.totals.asked
  self.guess = asked > 0 and not (tokens or usd) and (" (the mean of the answers so far, %d)"):format(asked)
  self.last = { tokens = tokens or k * mean_of(self, "tokens"), usd = usd or k * mean_of(self, "usd") }
  return self.last, tokens and usd and true or asked > 0
end

-- nil if what is left covers a list of needs (false: none) together; else why not.
function Budget:short_of(list, what)
  for _, kind in ipairs(estimates) do
    local limit, sum = self.limits[kind], nil
    for _, need in ipairs(limit and list or {}) do
      if need then sum = (sum or 0) + need[kind] end
    end
    local left = sum and self:left(kind)
    if sum and (sum > left + slack(limit) or left <= slack(limit)) then
      local may = sum > 0 and (", %s may take %s%s"):format(what, amount_text(kind, sum), self.guess or "") or ""
      return ("budget: %s %s left%s"):format(amount_text(kind, left), kind, may)
    end
  end
end

-- How many proposals like the last one the tokens and dollars left cover; at least one, for the next may ask nobody.
local function covered(self)
  local count = math.huge
  for _, kind in ipairs(estimates) do
    local limit, need = self.limits[kind], self.last[kind] or mean_of(self, kind)
    if kind == "usd" then need = need + machines_for(self, {}) end
    if limit and need > 0 then count = math.min(count, math.floor((self:left(kind) + slack(limit)) / need)) end
  end
  return math.max(1, count)
end

-- How many of `free` experiments may start now.
function Budget:room(free)
  local limits = self.limits
  local left = limits.iterations and self:left "iterations" or free
  if left < free then free = left end
  left = limits.measurements and self:left "measurements" or free
  if left < free then free = left end
  if self.estimates then free = math.min(free, covered(self)) end
  return free > 0 and free or 0
end

-- Reserves so much of a kind for a slot, instead of what it had.
function Budget:hold(slot, kind, amount)
  local reserved, own = self.reserved, slot.reserved
  reserved[kind] = (reserved[kind] or 0) + amount - (own[kind] or 0)
  own[kind] = amount
end

-- Reserves for a slot what it has taken so far, and needs (nil: none) for the asking that begins.
function Budget:hold_asking(slot, needs)
  if self.limits.tokens then self:hold(slot, "tokens", (slot.tokens or 0) + (needs and needs.tokens or 0)) end
  if self.limits.usd then
    self:hold(slot, "usd", (slot.cost or 0) + (needs and needs.usd or 0) + machines_of(slot))
  end
end

-- What a slot has taken of a kind: what its answers say, what is under way, and its share of other machines.
local function taken(slot, kind)
  local name = kind == "usd" and "cost" or kind
  local machines = kind == "usd" and machines_of(slot) or 0
  return (slot[name] or 0) + (slot.under_way and slot.under_way[name] or 0) + machines
end

-- Reserves for a slot no less than it has taken.
local function cover(self, slot, kind)
  if self.limits[kind] then self:hold(slot, kind, math.max(slot.reserved[kind] or 0, taken(slot, kind))) end
end

-- Adds to what is under way in a slot (less if negative), raises what is reserved for it to that, and lets the world
-- note it.
function Budget:account(world, slot, tokens, usd)
  local before = slot.under_way or { tokens = 0, cost = 0 }
  slot.under_way = { tokens = math.max(0, before.tokens + tokens), cost = math.max(0, before.cost + usd) }
  for _, kind in ipairs(estimates) do cover(self, slot, kind) end
  if world.spent then world:spent(slot) end
end

-- Before a request of a slot: true if what is left (with its own reservation) covers what it may take, which then
-- counts as taken; nil, why not.
function Budget:afford(world, slot, tokens, usd)
  local need = { tokens = tokens, usd = usd }
  for _, kind in ipairs(estimates) do
    local limit = self.limits[kind]
    local left = limit and limit - self:spent(kind) - (self.reserved[kind] or 0) + (slot.reserved[kind] or 0)
      - taken(slot, kind)
    if limit and (need[kind] > left + slack(limit) or left <= slack(limit)) then
      return nil, ("budget: %.10g %s left, asking%s may take %.10g"):format(math.max(0, left), kind,
        (slot.under_way or (slot[kind == "usd" and "cost" or kind] or 0) > 0) and " again" or "", need[kind])
    end
  end
  self:account(world, slot, tokens, usd)
  return true
end

-- Counts one more verification of a slot, beyond what was reserved for it too.
function Budget:measured(slot)
  slot.measurements = (slot.measurements or 0) + 1
  if self.limits.measurements and slot.measurements > (slot.reserved.measurements or 0) then
    self:hold(slot, "measurements", slot.measurements)
  end
  if slot.machines then cover(self, slot, "usd") end
end

-- Why what is left does not cover this many more verifications; nil if it does.
function Budget:short_of_measurements(count)
  local left = self:left "measurements"
  if count > left then
    return ("budget: %d measurement%s asked for, %d are left"):format(count, count == 1 and " is" or "s are", left)
  end
end

-- Why what is left does not cover a list of proposals, or nil; and whether it may when what is in flight has its lines.
function Budget:refuses(world, list)
  for index = 1, self.limits.measurements and #list or 0 do
    local few = self:short_of_measurements(verifications(list[index]))
    if few then return few, false end
  end
  if not self.estimates then return nil end
  local needs = {}
  for index, proposal in ipairs(list) do
    local asking, machines = self:needs(world, proposal), machines_for(self, proposal)
    needs[index] = (asking or machines > 0) and { tokens = asking and asking.tokens or 0,
      usd = (asking and asking.usd or 0) + machines } or false
  end
  local short = self:short_of(needs, #list > 1 and "the next proposals" or "the next proposal")
  return short, short ~= nil
end

-- Reserves for a slot what its planned proposal may take. One that is done again has taken something before, and ends
-- here where asking again is not covered.
function Budget:open(world, slot, plan)
  local proposal, limits = plan.proposal, self.limits
  if limits.measurements then self:hold(slot, "measurements", verifications(proposal)) end
  if limits.iterations and not proposal.measure and not proposal.ask then self:hold(slot, "iterations", 1) end
  if self.history.totals.machines > 0 then slot.reserved.machines = machines_for(self, proposal) end
  if not self.estimates and not (plan.tokens or plan.cost) then return end
  local needs = not plan.answered and self:needs(world, proposal) or nil
  if plan.tokens or plan.cost then
    self:carry(-(plan.tokens or 0), -(plan.cost or 0))
    self:hold_asking(slot)
    local short = not slot.ended and self:short_of({ needs or false }, "doing it again")
    if short then slot.ended, needs = { outcome = "skipped_not_selected", reason = short }, nil end
  end
  self:hold_asking(slot, needs)
end

-- Gives back what was reserved for a slot that has its line; others: whether anything else is in flight.
function Budget:release(slot, others)
  local held, limited = slot.reserved, self.limited
  for index = 1, held and #limited or 0 do
    local kind = limited[index]
    if held[kind] then
      self:reserve(kind, -held[kind])
      held[kind] = nil
    end
  end
  if not others and self.estimates then -- sums of dollars are not exact
    self.reserved = { tokens = self.carried.tokens, usd = self.carried.usd }
  end
end

-- Reserves what experiments that will be done again have taken before; with negative amounts, gives it back.
function Budget:carry(tokens, usd)
  self.carried.tokens, self.carried.usd = self.carried.tokens + tokens, self.carried.usd + usd
  self:reserve("tokens", tokens)
  self:reserve("usd", usd)
end

-- What is reserved now, by kind; nil if nothing is.
function Budget:reservations()
  local held
  for _, kind in ipairs(kinds) do
    local amount = self.reserved[kind] or 0
    if amount > 0 then
      held = held or {}
      held[kind] = amount
    end
  end
  return held
end

-- { iterations = { limit, spent, reserved, left }, ... } for the kinds that are limited.
function Budget:table()
  local view = {}
  for _, kind in ipairs(kinds) do
    local limit = self.limits[kind]
    if limit then
      local spent, reserved = self:spent(kind), self.reserved[kind] or 0
      view[kind] = { limit = limit, spent = spent, reserved = reserved, left = math.max(0, limit - spent - reserved) }
    end
  end
  return view
end

return budget
