-- replay: folds the journal again. --check plans every recorded experiment anew from what its plan had folded, and says where
-- the strategy would not propose the same; --at shows what it knew at an experiment.
local common = require "apsis.cli.common"
local files = require "apsis.live.files"
local hooks = require "apsis.engine.hooks"
local json = require "apsis.json"
local proposals = require "apsis.engine.proposal"
local session = require "apsis.cli.session"

local replay = { summary = "fold the journal again and check what the strategy decided", example = "apsis replay --check" }

function replay.options(parser)
  common.project_argument(parser)
  parser:flag("--check", "plan every recorded experiment again and compare; exit 5 where one differs")
  parser:option("--strategy", "another strategy than the manifest's"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:option("--at", "print what the strategy knew before experiment N"):convert(math.tointeger):argname "N"
  parser:flag("--json", "the result as JSON")
end

-- A world in which nothing happens: what halt, plan and a candidate's methods need. The candidates' files are read from git.
local still = {}
still.__index = still
function still:directions()
  local list = files.directions(self.live.dir).list
  return table.move(list, 1, self.directions_seen or #list, 1, {})
end
function still.log() end
function still.now() return 0 end
for _, name in ipairs { "read", "sources", "diff", "artifacts" } do
  still[name] = function(self, ...) return self.live[name](self.live, ...) end
end

local function open_fold(self)
  self.engine = self:new_engine(setmetatable({ live = self.world }, still))
  return self.engine
end

-- The plans of the journal, by how many lines each had folded: { [seen] = { line... } }, and the number of lines.
local function plans_by_seen(journal)
  local plans, count = {}, 0
  local ok, message, code = journal:each(function(line)
    count = count + 1
    if line.proposal and line.seen and line.outcome ~= "baseline" and line.outcome ~= "skipped_strategy_error" then
      plans[line.seen] = plans[line.seen] or {}
      table.insert(plans[line.seen], { line = line, at = count })
    end
  end)
  if not ok then return nil, message, code end
  return plans, count
end

-- What was in flight when a line was planned: planned before it, journalled after what it had folded.
local function in_flight(plans, line)
  local slots = {}
  for seen, list in pairs(plans) do
    for _, plan in ipairs(list) do
      local other = plan.line
      if seen <= line.seen and plan.at > line.seen and other.experiment < (line.group or line.experiment) then
        local proposal = { experiment = other.experiment }
        for key, value in pairs(other.proposal) do proposal[key] = value end
        slots[other.experiment] = { number = other.experiment, proposal = proposal }
      end
    end
  end
  return slots
end

-- What else a plan may have seen: free workers, the budget and the user's directions, as they were then.
local function set_context(engine, line)
  local context, busy = line.context or {}, #engine:in_flight()
  engine.workers = context.free and context.free + busy or engine.workers
  engine.budget.limits, engine.elapsed_s = context.limits or {}, context.elapsed_s or 0
  engine.budget.reserved = context.reserved or { iterations = busy, measurements = busy }
  if context.free then -- what was reserved then is in `free` already
    function engine.may_start() return context.free end
  end
  engine.world.directions_seen = context.directions
end

-- What plan gave, as the engine would journal it: the text of each proposal, or what is wrong with it.
local function texts_of(engine, given, number)
  local texts, list = {}, {}
  for index, one in ipairs(proposals.is_group(given) and given or { given }) do
    local checked, wrong = proposals.check(one, engine.history)
    list[index], texts[index] = checked or {}, wrong
  end
  engine.models:fill(list, engine.seed, number, engine.slots)
  for index, checked in ipairs(list) do texts[index] = texts[index] or json.encode(proposals.brief(checked)) end
  return texts
end

-- How planning a recorded line again differs; nil where it does not.
local function difference(engine, plans, line)
  local history, number = engine.history, line.group or line.experiment
  local run, since_kept, since_best, totals = history.run, history.since_kept, history.since_best, history.run_totals
  if line.run and run ~= line.run then history:begin(line.run) end
  engine.slots, engine.seed = in_flight(plans, line), line.seed or engine.seed
  set_context(engine, line)
  local ok, given = hooks.call(engine, engine:view(number, line.planned or 0), "plan")
  local texts = ok and texts_of(engine, given, number) or {}
  engine.slots = {}
  history.run, history.since_kept, history.since_best, history.run_totals = run, since_kept, since_best, totals
  local recorded = json.encode(line.plan or line.proposal)
  if not ok then return ("experiment %d: planning again failed: %s"):format(line.experiment, given) end
  for _, text in ipairs(texts) do
    if text == recorded then return nil end
  end
  return ("experiment %d: recorded %s, planned again %s"):format(line.experiment, recorded,
    #texts > 0 and table.concat(texts, " ") or "nothing")
end

local SHOWN = 5

local function check(self, args)
  local plans, count, code = plans_by_seen(self.journal)
  if not plans then return code == "EJOURNAL" and 3 or 2, count end
  local engine, differing, compared, others = open_fold(self), {}, 0, 0
  local name = self.strategy.name
  local function compare()
    for _, plan in ipairs(plans[engine.history.count] or {}) do
      if plan.line.strategy ~= name then
        others = others + 1
      else
        compared = compared + 1
        differing[#differing + 1] = difference(engine, plans, plan.line)
      end
    end
  end
  local ok, message = engine:fold(compare)
  if not ok then return 3, message end
  if args.json then
    print(json.encode { lines = count, compared = compared, of_other_strategies = others, differing = json.array(differing) })
  else
    print(("%d lines folded; %d plans compared, %d differ%s"):format(count, compared, #differing,
      others > 0 and ("; %d were planned by another strategy than %s"):format(others, name) or ""))
  end
  if #differing == 0 then return 0 end
  local text = table.concat(differing, "\n", 1, math.min(SHOWN, #differing))
  if #differing > SHOWN then text = text .. ("\nand %d more"):format(#differing - SHOWN) end
  return 5, text .. "\n(the strategy's file or its options may be others than when they were recorded)"
end

-- Prints what the strategy knew when experiment args.at was planned.
local function show_at(self, args)
  local plans, count = plans_by_seen(self.journal)
  if not plans then return 3, count end
  local wanted
  for seen, list in pairs(plans) do
    for _, plan in ipairs(list) do
      if plan.line.experiment == args.at then wanted = seen end
    end
  end
  if not wanted then return 2, ("--at: no experiment %d in the journal"):format(args.at) end
  local engine = open_fold(self)
  local ok, message = engine:fold(function()
    if engine.history.count ~= wanted then return end
    local memory, history = {}, engine.history
    for key, value in pairs(engine:view(args.at, 0).memory) do memory[key] = value end
    print(json.encode({ experiment = args.at, lines = wanted, memory = memory, outcomes = history.outcomes,
      best = history.best and { candidate = history.best.id, value = history.best.value } or json.null,
      current = history.current and history.current.id or json.null, since_kept = history.since_kept,
      since_best = history.since_best }, { pretty = true }))
  end)
  if not ok then return 3, message end
  return 0
end

function replay.run(args)
  local self, message, code = session.configure(args.dir)
  if not self then return code, message end
  local ok
  ok, message, code = common.choose_strategy(self, args)
  if not ok then return code, message end
  ok, message, code = session.steps(self, "load_strategy", "read_journal")
  if not ok then return code, message end
  if args.at or args.check then
    ok, message, code = self:open_world()
    if not ok then return code, message end
  end
  if args.at then return show_at(self, args) end
  if args.check then return check(self, args) end
  local engine = open_fold(self)
  ok, message, code = engine:fold()
  if not ok then return code == "ESTRATEGY" and 2 or 3, message end
  local best = engine.history.best
  local result = { lines = engine.history.count, best = best and { candidate = best.id, value = best.value } or json.null,
    outcomes = engine.history.outcomes }
  print(args.json and json.encode(result) or ("%d lines folded; best %s"):format(result.lines,
    best and ("%s %.10g"):format(best.id, best.value) or "none"))
  return 0
end

return replay
