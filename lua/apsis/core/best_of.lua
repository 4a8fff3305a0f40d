-- best_of: best of K within the loop: how many answers each proposal asks for, what its prompt adds for that, which
-- answer is taken without a select hook, and what the line reports of them. apsis.trajectory decides which answer is
-- better, the budget what is left. Asks no provider and evaluates nothing. Called by planner, experiment and strategy.
local trajectory = require "apsis.trajectory"

local best_of = {}

-- How many answers a proposal wants, how many of them its complexity allows, and why not all.
local function wanted(engine, proposal)
  local settings, own = engine.trajectory, proposal.k
  if own or not (settings and settings.enabled) then return own or 1, own or 1 end
  local asked, gate = settings.k_candidates or trajectory.defaults.k_candidates, settings.complexity_gate
    or trajectory.defaults.complexity_gate
  if settings.raise_after and engine.history.since_best >= settings.raise_after then return asked, asked end
  local complexity = proposal.complexity or settings.complexity
  local k = trajectory.gate { complexity = complexity or "simple", k = asked, gate = gate }
  if k == asked then return asked, k end
  local why = ("%s is not in complexity_gate (%s)"):format(complexity or "simple", table.concat(gate, ", "))
  if not (complexity or settings.raise_after or engine.warned_of_complexity) then
    engine.warned_of_complexity = true
    engine.world:log("warn", "trajectory is enabled, but one answer is asked for: a proposal without a complexity is "
      .. "simple, and " .. why .. "; set trajectory.complexity or raise_after, or let the strategy set it")
  end
  return asked, k, why
end

local kinds = { { "tokens", "tokens" }, { "usd", "USD" } }

-- k, or 1 and why where the budget does not cover k; held: what others of the same plan will reserve, to which this one
-- is added.
local function covered(engine, proposal, k, held)
  proposal.k = nil -- what one takes
  local budget = engine.budget
  local need, known = budget:needs(engine.world, proposal)
  if not need then return k end
  local margin, why = (engine.trajectory or trajectory.defaults).margin or trajectory.defaults.margin, nil
  for _, kind in ipairs(kinds) do
    local name, unit = kind[1], kind[2]
    local limit = budget.limits[name]
    local left = limit and budget:left(name) - held[name]
    if limit and k > 1 and not known then
      k, why = 1, "what an answer takes is not known yet, and the budget is limited"
    elseif limit and trajectory.budget { k = k, cost = need[name], remaining = left, margin = margin } < k then
      why = k > 1 and ("%d answers at %.10g %s each are more than %.10g %% of the %.10g left"):format(k, need[name],
        unit, 100 * (1 - margin), math.max(0, left)) or why
      k = 1
    end
  end
  for name in pairs(held) do held[name] = held[name] + k * need[name] end
  return k, why
end

-- A proposal as it was planned, before how many it asks for was decided.
function best_of.undo(proposal)
  local said = proposal.trajectory
  if type(said) == "table" then proposal.k, proposal.trajectory = said.own, nil end
end

-- Limits how many answers each proposal of a plan asks for: its k becomes more than 1, or nil. Its `trajectory`, which
-- is the engine's, keeps what was wanted. The budget refuses later if nothing is left even for one.
function best_of.limit(engine, list)
  local held -- by those before
  for index = 1, #list do
    local proposal = list[index]
    if (proposal.k or engine.trajectory or held) and not (proposal.edits or proposal.measure or proposal.ask) then
      local own = proposal.k
      held = held or { tokens = 0, usd = 0 }
      local asked, k, why = wanted(engine, proposal)
      local fits, short = covered(engine, proposal, k, held)
      proposal.k = (fits > 1 or own == 1) and fits or nil
      if asked > 1 then proposal.trajectory = { own = own, asked = asked, why = short or why } end
    end
  end
end

-- A prompt that asks for confidences too, if it asks for one of several answers. A list of messages stays as the
-- strategy wrote it: apsis.prompt's parts ask already, and one that does without them may add trajectory.request.
function best_of.prompt(prompt, proposal)
  if (proposal.k or 1) < 2 or type(prompt) ~= "string" or prompt:find('"confidence"', 1, true) then return prompt end
  return prompt .. "\n\n" .. trajectory.request .. "\n"
end

-- The choice of a strategy without a select hook: the index, or nil and why; and what its line reports of the answers.
function best_of.select(answers)
  if not answers[2] then
    local answer = answers[1]
    if answer and not answer.error then return 1 end
    return nil, answer and answer.error
  end
  local index, details = trajectory.choose(answers)
  return index, not index and answers[1].error or nil, { notes = { trajectory = { answers = details } } }
end

-- What is known of answers among which the strategy itself chose.
local function details_of(answers, choice)
  local _, details = trajectory.choose(answers)
  for index, detail in ipairs(details) do
    local unfit = detail.lost and (detail.lost:find "^failed: " or detail.lost:find "^empty: ")
    if index == choice then detail.lost = nil
    elseif not unfit then
      detail.lost = "the strategy chose " .. (math.type(choice) == "integer" and "answer " .. choice or "none")
    end
  end
  return details
end

local function copied(map)
  local copy = {}
  for key, value in pairs(map or {}) do copy[key] = value end
  return copy
end

-- Puts into what select returned (slot.extra) what the line reports of K: { k, asked, why (not more), answers }.
function best_of.note(slot, answers, choice)
  local planned, extra = slot.proposal.trajectory, slot.extra
  if not planned and not answers[2] then return end
  -- A wrong type is reported later.
  if extra ~= nil and (type(extra) ~= "table" or extra.notes ~= nil and type(extra.notes) ~= "table") then return end
  extra = copied(extra)
  local notes = copied(extra.notes)
  local said = type(notes.trajectory) == "table" and notes.trajectory.answers
  notes.trajectory = { k = slot.proposal.k or 1, asked = planned and planned.asked or #answers, why = planned
    and planned.why, answers = answers[2] and (said or details_of(answers, choice)) or nil }
  extra.notes, slot.extra = notes, extra
end

return best_of
