-- replay: folds the journal again. --check plans every recorded experiment again from the same history and reports
-- where the strategy would differ; --at shows what it knew at an experiment. With another strategy or other options, a
-- room shows what that would have decided on the recorded proposals.
local common = require "apsis.cli.common"
local json = require "apsis.json"
local knowledge = require "apsis.cli.knowledge"
local proposals = require "apsis.core.proposal"
local recorded = require "apsis.cli.recorded"
local recordings = require "apsis.core.recording"
local rooms = require "apsis.core.rooms"

local replay = { place = 160, summary = "fold the journal again and check what the strategy decided",
  example = "apsis replay --strategy annealing" }

function replay.options(parser)
  common.project_argument(parser)
  parser:flag("--check",
    "plan every recorded experiment again and compare; exit 5 if one differs or nothing can be compared")
  parser:option("--strategy",
    "what another strategy would have decided on the recorded proposals"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:option("--at", "print what the strategy knew before experiment N"):convert(math.tointeger):argname "N"
  parser:flag("--json", "the result as JSON")
  rooms.call("options", "replay", parser)
end

local function exit_of(code)
  return code == "ESTRATEGY" and 2 or 3
end

-- ---- --check ----

-- How planning again differs from the record: a text per experiment; empty if it does not.
local function differences(engine, plan, view)
  local texts, list = {}, {}
  local again, failed = recordings.planned(engine, plan, view)
  for index, one in ipairs(again or {}) do texts[index] = one.wrong or json.encode(proposals.brief(one)) end
  for _, entry in ipairs(plan.entries) do
    local wanted, same = json.encode(entry.plan), entry.failed
    for _, text in ipairs(texts) do same = same or text == wanted end
    if failed then list[#list + 1] = ("experiment %d: planning again failed: %s"):format(entry.experiment, failed)
    elseif not same then
      list[#list + 1] = ("experiment %d: recorded %s, planned again %s"):format(entry.experiment, wanted,
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

-- Plans again every experiment that the strategy itself planned. { lines, compared, of_other_strategies, differing } |
-- nil, message, code.
local function check_all(self, recording)
  local engine, name = recorded.open_fold(self), self.strategy.name
  local result = { lines = recording.count, compared = 0, handed_in = 0, of_other_strategies = 0,
    other_strategies = json.array {}, differing = json.array {} }
  local seen = {}
  local ok, message, code = engine:fold(function()
    for _, plan in ipairs(recording:folded(engine.history.count)) do
      local count = compared_of(plan)
      if plan.handed then
        result.handed_in = result.handed_in + count
      elseif plan.strategy ~= name then
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

-- Why a check compared nothing.
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
    local handed_in = result.handed_in > 0 and ("; %d handed in, not planned"):format(result.handed_in) or ""
    print(("%s; %d plans compared, %d differ%s%s"):format(recorded_lines(result.lines), result.compared, #differing,
      handed_in, others > 0 and ("; %d were planned by a strategy other than %s"):format(others, self.strategy.name)
      or ""))
  end
  local some = result.compared > 0 or result.handed_in > 0 and others == 0
  if not some then return 5, nothing_compared(result) end
  if #differing == 0 then return 0 end
  local text = table.concat(differing, "\n", 1, math.min(SHOWN, #differing))
  if #differing > SHOWN then text = text .. ("\nand %d more"):format(#differing - SHOWN) end
  return 5, text .. "\n(the strategy or its options may have changed since, or another version of apsis "
    .. "recorded the run)"
end

-- ---- --at ----

-- Prints what the strategy knew when experiment args.at was planned.
local function show_at(self, args, recording)
  local wanted = recording:number_of(args.at)
  if not wanted then return 2, ("--at: no experiment %d that was planned is in the journal"):format(args.at) end
  local engine, known = recorded.open_fold(self), nil
  local ok, message, code = engine:fold(function()
    for _, plan in ipairs(recording:folded(engine.history.count)) do
      if plan.number == wanted then
        recording:at_plan(engine, plan, function() known = knowledge.of(engine, args.at) end)
      end
    end
  end)
  if not ok then return exit_of(code), message end
  if args.json then print(json.encode(known)) else knowledge.show(known, self.dir) end
  return 0
end

-- ---- the command ----

local function fold_only(self, args)
  local engine = recorded.open_fold(self)
  local ok, message, code = engine:fold()
  if not ok then return exit_of(code), message end
  local best = engine.history.best
  local result = { lines = engine.history.count, best = best and { candidate = best.id, value = best.value }
    or json.null,
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
  local self, message, code = recorded.open(args)
  if not self then return code, message end
  local others = not args.at and not args.check and (args.strategy or #(args.set or {}) > 0 or args.all_hooks)
  if others and not rooms.has "replay" then
    return 2, "--strategy, --set: this apsis is built without lua/apsis/lab, which replays another strategy; --check "
      .. "and --at are here"
  end
  if not (args.at or args.check or others) then return fold_only(self, args) end
  local ok
  ok, message, code = self:open_world()
  if not ok then return code, message end
  if others then return in_task(rooms.first, "replay", self, args, recorded.open_fold) end
  local recording
  recording, message = recordings.read(self.journal)
  if not recording then return 3, message end
  return in_task(args.at and show_at or check, self, args, recording)
end

return replay
