-- redecide_shown: `apsis replay --strategy NAME`: what another strategy would have decided, as people and programs read
-- it. Called by room.
local direction = require "apsis.direction"
local redecide = require "apsis.lab.redecide"
local json = require "apsis.json"
local recordings = require "apsis.core.recording"
local show = require "apsis.cli.table"

local shown = {}

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
      plural(saves.measurements, "measurement"), ("%.3g"):format(saves.seconds), number(saves.tokens),
      number(saves.cost)) }
    list[#list + 1] = { "  misses", ("%s (its best until then %s)"):format(halt.missed and best_text(halt.missed)
      or "nothing better", best_text(halt.best)) }
  end
  if #list == 0 then
    list[1] = { "halts", result.halts_at_end and "where the recording ends: "
      .. show.line(show.reason(result.halts_at_end, ""))
      or "nowhere in the recording" }
  end
  return list
end

-- "in 12 of these 60 plans the notes differ, in 3 the inspirations"; nil if nothing differs.
local function otherwise_text(plans)
  if plans.differ_otherwise == 0 then return nil end
  local parts = {}
  for index, key in ipairs(show.sorted(plans.otherwise)) do
    parts[index] = index > 1 and ("in %d the %s"):format(plans.otherwise[key], key)
      or ("in %d of these %d plans the %s %s"):format(plans.otherwise[key], plans.compared, key,
      key:find "s$" and "differ" or "differs")
  end
  return table.concat(parts, ", ") .. (plans.otherwise.notes and "; a world in the lab may go by notes" or "")
end

local function facts_of(result)
  local decisions, differs = result.decisions, result.plans.differs
  local list = halts_text(result)
  list[#list + 1] = { "decides", ("%s%s: %d kept (recorded %d), %d rejected (recorded %d); %d differ"):format(
    plural(decisions.taken, "decision"), #result.halts > 0 and " (also those after it halts)" or "", decisions.kept,
    decisions.recorded_kept, decisions.rejected, decisions.recorded_rejected, #decisions.differing) }
  list[#list + 1] = { #result.halts > 0 and "best of all" or "best",
    ("%s (recorded %s)"):format(best_text(result.best), best_text(result.recorded_best)) }
  list[#list + 1] = { "measures", decisions.unanswered > 0
    and ("from experiment %d on it asked %s for what the recording cannot answer (measurements, or what was shown of "
    .. "another best); the recorded decision stands there"):format(decisions.first_unanswered,
    ({ "once", "twice" })[decisions.unanswered] or decisions.unanswered .. " times") or nil }
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
  for _, line in ipairs(show.columns({ "ID", "VALUE", "RECORDED", "ITS OUTCOME", "HALT", "ITS REASON" }, rows,
    { false, true },
    show.width(), { 5 })) do print(line) end
  if #differing > ROWS then print(("and %d more (--json has all)"):format(#differing - ROWS)) end
end

local function show_held(result, name)
  print(("%s on %s, %s"):format(name, plural(result.lines, "recorded line"), redecide.label))
  show.facts(facts_of(result))
  show_differences(result.decisions.differing)
  if result.agrees then print "everything agrees with the recording: halts, decisions and plans" end
end

-- What the strategy given would have decided on the recorded proposals.
function shown.run(self, args, open_fold)
  local walk, message = redecide.new(self.journal)
  if not walk then return 3, message end
  if not walk.recording.planned then
    return 3, "no experiments yet, so there is nothing to decide: run `apsis run` first"
  end
  self.journal = walk.journal
  local result, code
  result, message, code = walk:run(open_fold(self))
  if not result then return code == "ESTRATEGY" and 2 or 3, message end
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

return shown
