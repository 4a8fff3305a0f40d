-- front: the candidates of a run that no other kept one beats in every metric, as a fold over the lines that were kept,
-- and what a candidate is worth to them. Members, reference and hypervolume begin with the baseline. Called by room.
local direction = require "apsis.direction"
local numbers = require "apsis.pareto"

local front = {}

local Front = {}
Front.__index = Front

-- new(owner, parts): owner.history is what is folded; parts: the manifest's metric.pareto, with a direction each.
function front.new(owner, parts)
  local self = setmetatable({ owner = owner, parts = parts, metrics = {}, members = {}, seen = 0 }, Front)
  for index, part in ipairs(parts) do self.metrics[index] = direction.new(part) end
  return self
end

-- From where the hypervolume is measured: the user's values, or as far beyond the baseline's as these are from 0.
local function reference_of(self, baseline)
  local reference = {}
  for index, metric in ipairs(self.metrics) do
    local value = baseline.metrics[metric.name]
    local reach = value == 0 and 1 or math.abs(value)
    reference[metric.name] = self.parts[index].reference or value - metric.sign * reach
  end
  return reference
end

-- The members with one more, { id, metrics, baseline }, and whether it joins; who keeps it out, or the ids of those
-- that leave. A baseline replaces a baseline that is alone.
local function joined(self, members, new)
  if new.baseline and #members == 1 and members[1].baseline then members = {} end
  local stay, gone = {}, {}
  for _, member in ipairs(members) do
    if not numbers.ahead(self.metrics, new, member) then return members, false, member end
    local beaten = numbers.dominates(self.metrics, new, member)
    local list = beaten and gone or stay
    list[#list + 1] = beaten and member.id or member
  end
  stay[#stay + 1] = new
  return stay, true, gone
end

-- Takes the lines that were kept since the last time; all of them, if the history began again.
local function fold(self)
  local history = self.owner.history
  local lines = history.kept_lines
  if self.lines ~= lines or self.seen > #lines then
    self.lines, self.seen, self.members, self.reference = lines, 0, {}, nil
  end
  for place = self.seen + 1, #lines do
    local record = history:at(lines[place])
    local new = { id = record.id, index = lines[place], metrics = record.metrics,
      baseline = record.outcome == "baseline" }
    if numbers.complete(self.metrics, new) then
      self.members = joined(self, self.members, new)
      if not self.reference or #self.members == 1 and self.members[1].baseline then
        self.reference = reference_of(self, self.members[1])
      end
    end
    self.seen = place
  end
end

function Front:records()
  fold(self)
  local list = {}
  for index, member in ipairs(self.members) do list[index] = self.owner.history:at(member.index) end
  return list
end

-- The hypervolume of metrics alone; nil if one is missing, or without a reference, which the baseline gives.
function Front:alone(metrics)
  if self.owner.history then fold(self) end
  local reference = self.reference or {}
  for _, part in ipairs(self.parts) do
    reference[part.name] = reference[part.name] or part.reference
    if not reference[part.name] or not direction.finite(metrics[part.name]) then return nil end
  end
  return numbers.hypervolume(self.metrics, { { metrics = metrics } }, reference)
end

local function limits_text(metric, value)
  local passes, why = metric:passes(value)
  return not passes and ("%s: %s"):format(metric.name, why) or nil
end

-- Whether all of a slot's values lie within their limits; else false and why.
function Front:passes(slot)
  for _, metric in ipairs(self.metrics) do
    local why = limits_text(metric, (slot.secondary or {})[metric.name])
    if why then return false, why end
  end
  return true
end

local function values_text(self, of)
  local texts = {}
  for index, metric in ipairs(self.metrics) do
    texts[index] = ("%s %.10g"):format(metric.name, of.metrics[metric.name])
  end
  return table.concat(texts, ", ")
end

local function joining_text(gone)
  if #gone == 0 then return "joins the front" end
  return ("joins the front; %s %s it"):format(table.concat(gone, ", "), #gone == 1 and "leaves" or "leave")
end

local TOO_LARGE <const> = "the hypervolume is more than a number holds: let the metrics be printed in larger units, or "
  .. "give metric.pareto a `reference` that is nearer"

-- Whether a slot is a baseline from which the search begins again: what is before it counts no more.
local function begins_anew(owner, slot)
  return slot.baseline and owner.history:begins_anew { metric = owner.metric.name, tree = slot.change.tree,
    direction = owner.metric.direction, machines = slot.machines, evaluator = slot.evaluator }
end

-- What a slot's candidate is worth now, whether it joins the front, and why or why not. Its worth is the hypervolume of
-- the front with it if it joins, else its own, but not above that of the front. nil: a metric is missing, or the volume
-- is beyond what a number holds (the third value).
function Front:worth(slot)
  fold(self)
  local new = { id = "", metrics = slot.secondary or {}, baseline = slot.baseline }
  if not numbers.complete(self.metrics, new) then return nil, false end
  local anew = begins_anew(self.owner, slot)
  local members, joins, which = joined(self, anew and {} or self.members, new)
  local alone = #members == 1 and joins and new.baseline
  local reference = alone and reference_of(self, new) or self.reference or reference_of(self, new)
  local bar, volume = self.owner.history.bar, numbers.hypervolume
  local whole = joins and volume(self.metrics, members, reference)
  if whole and not direction.finite(whole) then return nil, false, TOO_LARGE end
  if alone then return whole, true end
  if joins and self:passes(slot) then
    -- rounding must not make the front worth less than it was
    return self.owner.metric:better_of(whole, bar), true, joining_text(which)
  end
  local own = volume(self.metrics, { new }, reference)
  if self.owner.metric:better(own, bar) then own = bar end
  return own, false, not joins and ("%s is at least as good in each metric: %s, against %s"):format(which.id,
    values_text(self, which), values_text(self, new)) or nil
end

return front
