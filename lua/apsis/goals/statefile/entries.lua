-- entries: Iteration History: makes an entry from a journal record, and parses entries and range lines, apsis's and
-- autoloop's. Judges values only by direction. Called by absorb.lua, compact.lua and check.lua.
local direction = require "apsis.direction"
local lists = require "apsis.goals.statefile.lists"
local ranges = require "apsis.goals.statefile.ranges"
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local entries = {}

local LONGEST_CHANGE, LONGEST_NOTES, COMMIT_DIGITS = 200, 400, 10

local shown = {
  baseline = "✅ Measured", accepted = "✅ Accepted", rejected = "❌ Rejected", error = "⚠️ Error",
  ["ci-fix-exhausted"] = "⚠️ ci-fix-exhausted",
}

local function said(value)
  return type(value) == "string" and value:find "%S" and texts.line(value) or nil
end

local function number(value)
  return direction.finite(value) and value or nil
end

-- accepted, rejected, error, ci-fix-exhausted; baseline if one has a value.
function entries.status(record)
  if record.outcome == "baseline" then return number(record.primary_metric) and "baseline" or "error" end
  if record.outcome == "kept" then return "accepted" end
  if record.outcome == "reverted_gate_failure" then -- "short": the budget ended before the repairs
    return type(record.gate) == "table" and record.gate.status == "short" and "rejected" or "ci-fix-exhausted"
  end
  return record.status == "crash" and "error" or "rejected"
end

-- The status as an entry shows it.
function entries.shown(record)
  return shown[entries.status(record)]
end

-- Why a record was not kept.
function entries.reason(record)
  local gate = type(record.gate) == "table" and record.gate or {}
  return said(gate.reason) or said(record.rollback_reason)
    or record.outcome == "baseline" and said(record.description) or said(record.outcome) or "no reason was given"
end

-- "1.3 (previous best: 1.5, delta: -0.2, improved)"; the mark follows the direction, whatever the sign.
function entries.metric(metric, value, previous)
  value, previous = number(value), number(previous)
  if not value then return previous and ("— (previous best: %s)"):format(texts.brief(previous)) or "—" end
  if not previous then return texts.brief(value) end
  local mark = metric:better(value, previous) and "improved" or metric:tied(value, previous) and "tied"
    or "not improved"
  local delta = metric:delta(value, previous)
  return ("%s (previous best: %s, delta: %s, %s)"):format(texts.brief(value), texts.brief(previous),
    direction.delta_text(delta), mark)
end

local function notes_of(record, status)
  local notes = { said(record.learned) }
  if status ~= "accepted" and status ~= "baseline" then
    local why = entries.reason(record)
    if why ~= notes[1] then notes[#notes + 1] = why end
  end
  local signature = type(record.gate) == "table" and said(record.gate.signature)
  if signature and status == "ci-fix-exhausted" and not (notes[#notes] or ""):find(signature, 1, true) then
    notes[#notes + 1] = "signature: " .. signature
  end
  return #notes > 0 and texts.short(table.concat(notes, "; "), LONGEST_NOTES) or nil
end

-- Where a candidate of a strategy with islands came from and lives: { operator, parents, island, cell }; else nil.
local function origin_of(record)
  local notes = type(record.notes) == "table" and record.notes or {}
  if record.outcome == "baseline" or notes.island == nil then return nil end
  local parents = type(record.parents) == "table" and table.concat(record.parents, ", ") or ""
  return { operator = said(record.operator) or "—", parents = parents ~= "" and parents or "—",
    island = texts.line(tostring(notes.island)), cell = said(notes.cell) }
end

-- The line of a candidate in the section Population, and its parts; nil for one that is in none.
function entries.member(record, status)
  local origin = origin_of(record)
  local value = number(record.primary_metric) or type(record.stopped) == "table" and number(record.stopped.value)
  if not origin or not value or not said(record.candidate) then return nil end
  local facts = ("fitness %s · %s of %s%s · %s: "):format(texts.brief(value), origin.operator, origin.parents,
    origin.cell and " · cell " .. origin.cell or "", shown[status])
  local about = texts.short(said(record.description) or said(record.hypothesis) or "—", LONGEST_CHANGE)
  return { id = record.candidate, text = ("island %s · %s%s"):format(origin.island, facts, about),
    island = origin.island, facts = facts, about = about }
end

-- The lines of a record's entry, ending in an empty one. about: { count (iterations so far), status, previous, metric,
-- link }.
function entries.of(record, about)
  local baseline, id = record.outcome == "baseline", said(record.candidate)
  local made = { ("### %s — %s%s"):format(baseline and "Baseline" .. (id and " " .. id or "") or "Iteration "
    .. about.count, texts.date(record.timestamp), not baseline and id and " — " .. id or ""), "" }
  local function add(name, text)
    if text then made[#made + 1] = ("- **%s**: %s"):format(name, text) end
  end
  add("Status", shown[about.status])
  if not baseline then
    add("Change", texts.short(said(record.description) or said(record.hypothesis) or "—", LONGEST_CHANGE))
  end
  add("Metric", entries.metric(about.metric, record.primary_metric, about.previous))
  local origin = origin_of(record)
  if origin then
    add("Operator", origin.operator)
    add("Parent(s)", origin.parents)
    add("Island", origin.island)
  end
  if about.status == "accepted" and said(record.commit) then add("Commit", record.commit:sub(1, COMMIT_DIGITS)) end
  if not baseline then
    add("PR", about.link)
    local fixes = math.tointeger(number(record.fix_attempts) or 0)
    if fixes and fixes > 0 then add("CI fix attempts", fixes) end
  end
  add("Notes", notes_of(record, about.status))
  made[#made + 1] = ""
  return made
end

-- ---- what is there ----

-- The value of `- **Name**: value` in an item's lines, and its line number.
function entries.field(doc, item, name)
  for at = item.at + 1, item.stop do
    local found, text = doc.lines[at]:match("^%s*[-*+]%s+%*%*([^*]+)%*%*%s*:?(.*)$")
    if found and found:gsub(":$", ""):lower() == name:lower() then return texts.trim(text), at end
  end
end

-- Sets the numbers and values of an entry's item.
local function take_apart(doc, item, title)
  local count = title:match("^[Ii]teration%s+(%d+)")
  if not count and not title:find "^[Bb]aseline%s" then return end
  item.kind, item.count, item.baseline = "entry", tonumber(count), not count
  item.candidate = count and title:match("%s(c%d%d%d%d+)%s*$") or title:match("^%a+ (c%d+)")
  local status = entries.field(doc, item, "Status") or ""
  item.kept = count ~= nil and status:lower():find("accepted", 1, true) ~= nil
  local metric = entries.field(doc, item, "Metric") or ""
  item.value = texts.to_number(metric:match("^[*`]*([^%s*`(]+)") or "")
  item.previous = texts.to_number(metric:match("previous best:%s*([^%s,)]+)") or "")
end

-- Adds the items of one heading: an entry, a range or "other", up to a rule, and "other" from the rule on.
local function add_items(doc, list, at, last, title)
  local item, hidden, rule = { kind = "other", at = at, last = last, stop = last }, doc:scan().hidden, nil
  for line = at + 1, last do
    if not hidden[line] and sections.is_rule(doc.lines[line]) then rule = line; break end
  end
  if rule then item.last, item.stop = rule - 1, rule - 1 end
  while item.stop > at and sections.is_blank(doc.lines[item.stop]) do item.stop = item.stop - 1 end
  item.range = ranges.parse(title)
  if item.range then item.kind = "range" else take_apart(doc, item, title) end
  list[#list + 1] = item
  if rule then list[#list + 1] = { kind = "other", at = rule, last = last, stop = last } end
end

-- The items of the section, newest first, each { kind = "entry"|"range"|"other", at (first line), stop (last line with
-- text), last (last line) }; and the section.
function entries.items(doc)
  local section = sections.find(doc, "history")
  local within, level = {}, 7
  for _, head in ipairs(section and doc:scan().headings or {}) do
    if head.at >= section.first and head.at <= section.last then
      within[#within + 1] = head
      level = math.min(level, head.level)
    end
  end
  local list, tops = {}, {}
  for _, head in ipairs(within) do
    if head.level == level then tops[#tops + 1] = head end
  end
  for index, head in ipairs(tops) do
    add_items(doc, list, head.at, tops[index + 1] and tops[index + 1].at - 1 or section.stop, head.title)
  end
  return list, section
end

-- Inserts the lines of entries above the existing ones.
function entries.add(doc, made)
  local list, section = entries.items(doc)
  if list[1] then return doc:splice(list[1].at, list[1].at - 1, made) end
  made[#made] = nil -- what follows the section's end keeps its distance
  if section then lists.append(doc, "history", section, made) else sections.add(doc, "history", made) end
end

return entries
