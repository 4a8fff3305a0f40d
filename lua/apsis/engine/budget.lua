-- budget: what a run may spend and what it has: change experiments, verifications, minutes, tokens, US dollars. What is in
-- flight is reserved, so that no cap is passed by work already started. Counts are of the current run (journal field run).
local budget = {}

local Budget = {}
Budget.__index = Budget

local kinds = { "iterations", "measurements", "minutes", "tokens", "usd" }

-- budget.new(limits, history, elapsed): elapsed() is the run's wall-clock seconds.
function budget.new(limits, history, elapsed)
  return setmetatable({ limits = limits or {}, history = history, elapsed = elapsed, reserved = {} }, Budget)
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

-- nil, or the reason why nothing more may start.
function Budget:used_up()
  for _, kind in ipairs(kinds) do
    local limit = self.limits[kind]
    if limit and self:spent(kind) + (self.reserved[kind] or 0) >= limit then
      return ("budget: %s used up (%.10g in this run)"):format(kind, limit)
    end
  end
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
