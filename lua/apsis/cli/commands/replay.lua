-- replay: folds the journal again. --check plans every recorded experiment anew from what its plan had folded, and says where
-- the strategy would not propose the same; --at shows what it knew at an experiment; with another strategy or other options alone,
-- what that one would have decided on the recorded proposals.
local common = require "apsis.cli.common"
local direction = require "apsis.direction"
local held = require "apsis.lab.held"
local json = require "apsis.json"
local knowledge = require "apsis.cli.knowledge"
local proposals = require "apsis.core.proposal"
local recordings = require "apsis.lab.recording"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"

local replay = { place = 160, summary = "fold the journal again and check what the strategy decided",
  example = "apsis replay --strategy annealing" }

function replay.options(parser)
  common.project_argument(parser)
  parser:flag("--check", "plan every recorded experiment again and compare; exit 5 where one differs, or none is there to compare")
  parser:option("--strategy", "another strategy: what it would have decided on the recorded proposals, held fixed"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:option("--at", "print what the strategy knew before experiment N"):convert(math.tointeger):argname "N"
  parser:flag("--json", "the result as JSON")
end

-- A world in which nothing happens: what halt, plan and a candidate's methods need. The candidates' files are read from git.
local still = {}
still.__index = still
function still:directions()
  local list = self.live:all_directions()
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

local function exit_of(code)
  return code == "ESTRATEGY" and 2 or 3
end

-- ---- --check ----

-- How planning a recorded plan again differs, a text for each of its experiments; none where it does not.
local function differences(engine, plan, view)
  local texts, list = {}, {}
  local again, failed = recordings.planned(engine, plan, view)
  for index, one in ipairs(again or {}) do texts[index] = one.wrong or json.encode(proposals.brief(one)) end
  for _, entry in ipairs(plan.entries) do
    local recorded, same = json.encode(entry.plan), entry.failed
    for _, text in ipairs(texts) do same = same or text == recorded end
    if failed then list[#list + 1] = ("experiment %d: planning again failed: %s"):format(entry.experiment, failed)
    elseif not same then
      list[#list + 1] = ("experiment %d: recorded %s, planned again %s"):format(entry.experiment, recorded,
        #texts > 0 and table.concat(texts, " ") or "nothing")
    end
  end
  return list
end

-- "61 recorded lines"
local function recorded_lines(count)
  return ("%d recorded line%s"):format(count, count == 1 and "" or "s")
end

local function compared_of(plan)
  local count = 0
  for _, entry in ipairs(plan.entries) do count = count + (entry.failed and 0 or 1) end
  return count
end

-- Plans again wherever the strategy itself planned. { lines, compared, of_other_strategies, differing } | nil, message, code.
local function check_all(self, recording)
  local engine, name = open_fold(self), self.strategy.name
  local result = { lines = recording.count, compared = 0, of_other_strategies = 0, other_strategies = json.array {},
    differing = json.array {} }
  local seen = {}
  local ok, message, code = engine:fold(function()
    for _, plan in ipairs(recording:folded(engine.history.count)) do
      local count = compared_of(plan)
      if plan.strategy ~= name then
        result.of_other_strategies = result.of_other_strategies + count
        if plan.strategy and not seen[plan.strategy] then table.insert(result.other_strategies, plan.strategy) end
        seen[plan.strategy or ""] = true
      elseif count > 0 then
        result.compared = result.compared + count
        local list = recording:at_plan(engine, plan, function(view) return differences(engine, plan, view) end)
        table.move(list, 1, #list, #result.differing + 1, result.differing)
      end
    end
  end)
  if not ok then return nil, message, code end
  return result
end

-- Why a check that compared nothing has nothing to compare.
local function nothing_compared(result)
  local others, names = result.of_other_strategies, result.other_strategies
  if others == 0 then return "nothing to check: no plans are recorded" end
  return ("nothing to check: all %d plans are of another strategy (%s); give --strategy %s"):format(others,
    #names > 0 and table.concat(names, ", ") or "not named", names[1] or "NAME")
end

local SHOWN = 5

local function check(self, args, recording)
  local result, message, code = check_all(self, recording)
  if not result then return exit_of(code), message end
  local differing, others = result.differing, result.of_other_strategies
  if args.json then
    print(json.encode(result))
  else
    print(("%s; %d plans compared, %d differ%s"):format(recorded_lines(result.lines), result.compared, #differing,
      others > 0 and ("; %d were planned by another strategy than %s"):format(others, self.strategy.name) or ""))
  end
  if result.compared == 0 then return 5, nothing_compared(result) end
  if #differing == 0 then return 0 end
  local text = table.concat(differing, "\n", 1, math.min(SHOWN, #differing))
  if #differing > SHOWN then text = text .. ("\nand %d more"):format(#differing - SHOWN) end
  return 5, text .. "\n(the strategy's file or its options may be others than when they were recorded)"
end

-- ---- --at ----

-- Prints what the strategy knew when experiment args.at was planned.
local function show_at(self, args, recording)
  local wanted = recording:plan_of(args.at)
  if not wanted then return 2, ("--at: no experiment %d that was planned is in the journal"):format(args.at) end
  local engine, known = open_fold(self), nil
  local ok, message, code = engine:fold(function()
    for _, plan in ipairs(recording:folded(engine.history.count)) do
      if plan == wanted then
        recording:at_plan(engine, plan, function() known = knowledge.of(engine, args.at) end)
      end
    end
  end)
  if not ok then return exit_of(code), message end
  if args.json then print(json.encode(known)) else knowledge.show(known, self.dir) end
  return 0
end

-- ---- another strategy ----

local function number(value)
  return value and direction.amount(value) or "none"
end

local function best_text(best)
  return best and ("%s %.10g"):format(best.candidate, best.value) or "none"
end

local function plural(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

local function halts_text(result)
  local list = {}
  for _, halt in ipairs(result.halts) do
    local saves = halt.saves
    list[#list + 1] = { "halts", ("before experiment %d%s: %s"):format(halt.experiment, #result.halts > 1
      and (" (run %d)"):format(halt.run) or "", show.line(show.reason(halt.reason, ""))) }
    list[#list + 1] = { "  saves", ("%s, %s, %s s, %s tokens, %s USD"):format(plural(saves.experiments, "experiment"),
      plural(saves.measurements, "measurement"), ("%.3g"):format(saves.seconds), number(saves.tokens), number(saves.cost)) }
    list[#list + 1] = { "  misses", ("%s (its best until then %s)"):format(halt.missed and best_text(halt.missed) or "nothing better",
      best_text(halt.best)) }
  end
  if #list == 0 then
    list[1] = { "halts", result.halts_at_end and "where the recording ends: " .. show.line(show.reason(result.halts_at_end, ""))
      or "nowhere in the recording" }
  end
  return list
end

-- "other notes in 12 of the 60 plans compared"; nil where nothing differs.
local function otherwise_text(plans)
  if plans.differ_otherwise == 0 then return nil end
  local parts = {}
  for index, key in ipairs(show.sorted(plans.otherwise)) do parts[index] = ("%s in %d"):format(key, plans.otherwise[key]) end
  return ("other %s of the %d plans compared%s"):format(table.concat(parts, ", "), plans.compared,
    plans.otherwise.notes and "; a world in the lab may go by notes" or "")
end

local function facts_of(result)
  local decisions, differs = result.decisions, result.plans.differs
  local list = halts_text(result)
  list[#list + 1] = { "decides", ("%s%s: %d kept (recorded %d), %d rejected (recorded %d); %d differ"):format(
    plural(decisions.taken, "decision"), #result.halts > 0 and " (also those after it halts)" or "", decisions.kept,
    decisions.recorded_kept, decisions.rejected, decisions.recorded_rejected, #decisions.differing) }
  list[#list + 1] = { #result.halts > 0 and "best of all" or "best",
    ("%s (recorded %s)"):format(best_text(result.best), best_text(result.recorded_best)) }
  list[#list + 1] = { "measures", decisions.unanswered > 0 and ("from experiment %d on it asked %s for measurements that the "
    .. "recording cannot answer; the recorded decision stands there"):format(decisions.first_unanswered,
    decisions.unanswered == 1 and "once" or decisions.unanswered .. " times") or nil }
  list[#list + 1] = { "plans", differs and recordings.no_answer(differs.experiment, differs.planned, differs.recorded)
    or ("%s compared, the same parents and operators as recorded"):format(plural(result.plans.compared, "plan")) }
  list[#list + 1] = { "but", otherwise_text(result.plans) }
  return list
end

local ROWS = 20

local function show_differences(differing)
  if #differing == 0 then return end
  local rows = {}
  for index = 1, math.min(ROWS, #differing) do
    local one = differing[index]
    rows[index] = { one.candidate, show.number(one.value), one.recorded, one.outcome, one.after_halt and "after" or "",
      show.line(one.reason and show.reason(one.reason, "") or "(it gave none)") }
  end
  print()
  for _, line in ipairs(show.columns({ "ID", "VALUE", "RECORDED", "ITS OUTCOME", "HALT", "ITS REASON" }, rows, { false, true },
    show.width(), { 5 })) do print(line) end
  if #differing > ROWS then print(("and %d more (--json has all)"):format(#differing - ROWS)) end
end

local function show_held(result, name)
  print(("%s on %s, %s"):format(name, recorded_lines(result.lines), held.label))
  show.facts(facts_of(result))
  show_differences(result.decisions.differing)
  if result.agrees then print "everything agrees with the recording: halts, decisions and plans" end
end

-- What the strategy given would have decided on the recorded proposals.
local function other(self, args)
  local walk, message = held.new(self.journal)
  if not walk then return 3, message end
  if not next(walk.recording.plans) then return 3, "no experiments yet, so there is nothing to decide: run `apsis run` first" end
  self.journal = walk.journal
  local result, code
  result, message, code = walk:run(open_fold(self))
  if not result then return exit_of(code), message end
  result.strategy = self.strategy.name
  if not args.json then
    show_held(result, self.strategy.name)
    return 0
  end
  result.decisions.differing, result.halts = json.array(result.decisions.differing), json.array(result.halts)
  for _, name in ipairs { "best", "recorded_best", "halts_at_end" } do result[name] = result[name] or json.null end
  result.plans.differs = result.plans.differs or json.null
  print(json.encode(result))
  return 0
end

-- ---- the command ----

local function fold_only(self, args)
  local engine = open_fold(self)
  local ok, message, code = engine:fold()
  if not ok then return exit_of(code), message end
  local best = engine.history.best
  local result = { lines = engine.history.count, best = best and { candidate = best.id, value = best.value } or json.null,
    outcomes = engine.history.outcomes }
  print(args.json and json.encode(result) or ("%s; best %s"):format(recorded_lines(result.lines),
    best and ("%s %.10g"):format(best.id, best.value) or "none"))
  return 0
end

-- Runs a part of the command in a task, so that hooks may wait.
local function in_task(body, ...)
  local arguments = table.pack(...)
  local code, message = recordings.in_task(function() return body(table.unpack(arguments, 1, arguments.n)) end)
  if code == "interrupted" then return 130, "interrupted" end
  return code, message
end

function replay.run(args)
  if args.at and args.check then return 2, "--at and --check: one or the other" end
  local self, message, code = session.configure(args.dir)
  if not self then return code, message end
  local ok
  ok, message, code = common.choose_strategy(self, args)
  if not ok then return code, message end
  ok, message, code = session.steps(self, "load_strategy", "read_journal")
  if not ok then return code, message end
  local others = not args.at and not args.check and (args.strategy or #(args.set or {}) > 0)
  if not (args.at or args.check or others) then return fold_only(self, args) end
  ok, message, code = self:open_world()
  if not ok then return code, message end
  if others then return in_task(other, self, args) end
  local recording
  recording, message = recordings.read(self.journal)
  if not recording then return 3, message end
  return in_task(args.at and show_at or check, self, args, recording)
end

return replay
