-- budget: what a run may spend and what it has: change experiments, verifications, minutes, tokens, US dollars. What is in
-- flight is reserved, so that no cap is passed by work already started. Counts are of the current run (journal field run).
-- Experiments and verifications are counted; what a provider will take is estimated, and so reserved only until it is known.
local budget = {}

local Budget = {}
Budget.__index = Budget

local kinds = { "iterations", "measurements", "minutes", "tokens", "usd" }
local estimates, estimated = { "tokens", "usd" }, { tokens = true, usd = true }

-- budget.new(limits, history, elapsed): elapsed() is the run's wall-clock seconds.
function budget.new(limits, history, elapsed)
  return setmetatable({ limits = limits or {}, history = history, elapsed = elapsed, reserved = {}, last = {},
    carried = { tokens = 0, usd = 0 } }, Budget)
end

function Budget:spent(kind)
  if kind == "minutes" then return self.elapsed() / 60 end
  return self.history.run_totals[kind] or 0
end

function Budget:reserve(kind, amount)
  self.reserved[kind] = (self.reserved[kind] or 0) + amount
end

-- What may still be reserved of a kind; math.huge where it is not limited.
function Budget:left(kind)
  local limit = self.limits[kind]
  return limit and math.max(0, limit - self:spent(kind) - (self.reserved[kind] or 0)) or math.huge
end

-- Sums of dollars are not exact: what is missing by less than this is not missing.
local function slack(limit)
  return 1e-9 * limit
end

-- nil, or the reason why nothing more may start. Tokens and dollars that are only reserved may yet be given back.
function Budget:used_up()
  for _, kind in ipairs(kinds) do
    local limit = self.limits[kind]
    local taken = limit and self:spent(kind) + (estimated[kind] and 0 or self.reserved[kind] or 0)
    if limit and taken >= limit - (estimated[kind] and slack(limit) or 0) then
      return ("budget: %s used up (%.10g in this run)"):format(kind, limit)
    end
  end
end

local function mean_of(self, kind)
  local totals = self.history.totals
  return totals.asked > 0 and totals[kind] / totals.asked or 0
end

-- What a provider may take for a proposal, { tokens, usd }: the world's word, else the mean of what those asked so far took,
-- else 0. nil where neither is limited, or nobody is asked.
function Budget:needs(world, proposal)
  if not (self.limits.tokens or self.limits.usd) or proposal.edits or proposal.measure then return nil end
  local tokens, usd
  if world.estimate then tokens, usd = world:estimate(proposal) end
  self.last = { tokens = tokens or mean_of(self, "tokens"), usd = usd or mean_of(self, "usd") }
  return self.last
end

-- nil where what is left covers a list of needs together; else why not.
function Budget:short_of(list, what)
  for _, kind in ipairs(estimates) do
    local limit, sum = self.limits[kind], nil
    for index = 1, limit and list.n or 0 do
      if list[index] then sum = (sum or 0) + list[index][kind] end
    end
    local left = sum and self:left(kind)
    if sum and (sum > left + slack(limit) or left <= slack(limit)) then
      return ("budget: %.10g %s left%s"):format(left, kind, sum > 0 and (", %s may take %.10g"):format(what, sum) or "")
    end
  end
end

-- How many proposals like the last one the tokens and dollars left cover; at least one, for the next may ask nobody.
function Budget:covers()
  local count = math.huge
  for _, kind in ipairs(estimates) do
    local limit, need = self.limits[kind], self.last[kind] or mean_of(self, kind)
    if limit and need > 0 then count = math.min(count, math.floor((self:left(kind) + slack(limit)) / need)) end
  end
  return math.max(1, count)
end

-- Reserves so much of a kind for a slot, instead of what it had.
function Budget:hold(slot, kind, amount)
  self:reserve(kind, amount - (slot.reserved[kind] or 0))
  slot.reserved[kind] = amount
end

-- Reserves for a slot what it has taken so far, and needs (nil: none) for the asking that begins.
function Budget:hold_asking(slot, needs)
  if self.limits.tokens then self:hold(slot, "tokens", (slot.tokens or 0) + (needs and needs.tokens or 0)) end
  if self.limits.usd then self:hold(slot, "usd", (slot.cost or 0) + (needs and needs.usd or 0)) end
end

-- How many verifications a proposal takes at least.
local function verifications(proposal)
  if proposal.measure then return #proposal.measure * (proposal.repeats or 1) end
  return proposal.ask and 0 or 1
end

-- Why what is left does not cover a list of proposals, or nil; and whether it may when what is in flight has its lines.
function Budget:refuses(world, list)
  local needs = { n = #list }
  for index, proposal in ipairs(list) do
    local count, left = verifications(proposal), self:left "measurements"
    if count > left then return ("budget: %d measurements are asked for, %d are left"):format(count, left), false end
    needs[index] = self:needs(world, proposal) or false
  end
  local short = self:short_of(needs, #list > 1 and "the next proposals" or "the next proposal")
  return short, short ~= nil
end

-- Reserves for a slot what its planned proposal may take. One that is done again has taken something before, and ends here
-- where asking again is not covered.
function Budget:open(world, slot, plan)
  local proposal, needs = plan.proposal, self:needs(world, plan.proposal)
  self:hold(slot, "measurements", verifications(proposal))
  if not proposal.measure and not proposal.ask then self:hold(slot, "iterations", 1) end
  if plan.tokens or plan.cost then
    self:carry(-(plan.tokens or 0), -(plan.cost or 0))
    self:hold_asking(slot)
    local short = not slot.ended and self:short_of({ needs or false, n = 1 }, "doing it again")
    if short then slot.ended, needs = { outcome = "skipped_not_selected", reason = short }, nil end
  end
  self:hold_asking(slot, needs)
end

-- Gives back what was reserved for a slot that has its line; others: whether anything else is in flight.
function Budget:release(slot, others)
  for kind, amount in pairs(slot.reserved or {}) do self:reserve(kind, -amount) end
  if not others then -- sums of dollars are not exact
    self.reserved = { tokens = self.carried.tokens, usd = self.carried.usd }
  end
end

-- Reserves what experiments that will be done again have taken before; with negative amounts, gives it back.
function Budget:carry(tokens, usd)
  self.carried.tokens, self.carried.usd = self.carried.tokens + tokens, self.carried.usd + usd
  self:reserve("tokens", tokens)
  self:reserve("usd", usd)
end

-- What is reserved now, by kind; nil where nothing is.
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
