-- memory, by property: state files with every oddity that people and programs leave in them, made at random from a
-- seed, are read and
-- rewritten without loss. What was generated is known, so what is read is held against it.
local direction = require "apsis.direction"
local memory = require "apsis.goals.statefile.document"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local SANITIZED = os.getenv "APSIS_SANITIZED"
local FILES = SANITIZED and 40 or 500

local function one_of(stream, list) return list[stream:integer(1, #list)] end

local function chance(stream, percent) return stream:integer(1, 100) <= percent end

local function times(text, piece)
  local count, from = 0, 1
  while true do
    local at, to = text:find(piece, from, true)
    if not at then return count end
    count, from = count + 1, to + 1
  end
end

-- ---- the generator ----

-- A value as a person may write it into a cell, and as it is read.
local makers = {
  number = function(stream)
    local value = one_of(stream, { 0, 1, -1.5, 97.25, 1e-9, 12345678, -0.001, stream:integer(-9999, 9999) / 8 })
    local text = one_of(stream, { "%.15g", "`%.15g`", "**%.15g**", " %.15g" }):format(value)
    return text, value
  end,
  count = function(stream)
    local value = stream:integer(0, 5000)
    return ("%d"):format(value), value
  end,
  truth = function(stream)
    local value = chance(stream, 50)
    return one_of(stream, value and { "true", "True", "yes", "on", "1", "x", "`true`" }
      or { "false", "FALSE", "no", "off", "0" }), value
  end,
  reference = function(stream)
    local value = stream:integer(1, 999)
    return one_of(stream, { "#%d", "%d", "[#%d](https://x.org/a/pull/7)", "https://x.org/a/issues/%d" }):format(value),
      value
  end,
  text = function(stream)
    local value = one_of(stream, { "manual", "a|b", "disk | full | twice", "back\\slash", "ends in \\",
      "ünïcode — dash", "two  blanks", "<br>", "a `b` c", "ci-fix-exhausted: not ok 3 | parse", "||", "\\|" })
    return value, value
  end,
  statuses = function(stream)
    local list, written = {}, {}
    for index = 1, stream:integer(1, 12) do
      list[index] = one_of(stream, { "accepted", "rejected", "error", "ci-fix-exhausted" })
      written[index] = one_of(stream, { list[index], list[index]:upper(), " " .. list[index] .. "  " })
    end
    return table.concat(written, ","), list
  end,
  direction = function(stream)
    local value = one_of(stream, { "higher", "lower" })
    return one_of(stream, { value, value:upper(), "`" .. value .. "`" }), value
  end,
}

local known = {
  { "Last Run", "last_run", "text" }, { "Iteration Count", "iteration_count", "count", 0 },
    { "Best Metric", "best_metric", "number" },
  { "Target Metric", "target_metric", "number" }, { "Metric Direction", "metric_direction", "direction", "higher" },
  { "Branch", "branch", "text" }, { "PR", "pr", "reference" }, { "Issue", "issue", "reference" },
    { "Paused", "paused", "truth", false },
  { "Pause Reason", "pause_reason", "text" }, { "Completed", "completed", "truth", false },
  { "Completed Reason", "completed_reason", "text" },
  { "Consecutive Errors", "consecutive_errors", "count", 0 }, { "Recent Statuses", "recent_statuses", "statuses", {} },
  { "Initial Metric", "initial_metric", "number" }, { "Journal Lines", "journal_lines", "count" },
}

local function blanks(stream) return one_of(stream, { "", " ", " ", " ", "  ", "\t", "      " }) end

-- A row's line: outer pipes or none, any spacing, a third column. An escaped pipe at the end of a cell needs a blank
-- after it.
local function row_line(stream, name, text)
  local cell = text:gsub("|", "\\|")
  local after = cell:find "\\$" and " " or blanks(stream)
  local third = chance(stream, 15)
  local left = third and text == "" and "|" or one_of(stream, { "|", "|", "|", " |", "" })
  local right = third and "|" .. one_of(stream, { " x |", "|", " y" }) or text == "" and "|"
    or one_of(stream, { "|", "|", "|", "", "|  " })
  return left .. blanks(stream) .. name .. blanks(stream) .. "|" .. blanks(stream) .. cell .. after .. right
end

local function named(stream, name)
  return one_of(stream, { name, name, name, name:lower(), name:upper(), "**" .. name .. "**", "`" .. name .. "`",
    name .. ":" })
end

-- The table's rows in any order, some absent or blank, with unknown ones between; what they say.
local function rows_of(stream)
  local made, said = {}, {}
  for _, about in ipairs(known) do
    local row, key, kind, default = about[1], about[2], about[3], about[4]
    said[key] = default
    local how = stream:integer(1, 10)
    if how == 1 then made[#made + 1] = row_line(stream, named(stream, row), one_of(stream, { "", "—", "-", "`—`" }))
    elseif how > 2 then
      local text, value = makers[kind](stream)
      made[#made + 1], said[key] = row_line(stream, named(stream, row), text), value
    end
  end
  for _ = 1, stream:integer(0, 4) do
    made[#made + 1] = one_of(stream, { "| Owner | Ann \\| Bob |", "| Budget ||", "|:--|--:|", "| x |", "a | b | c | d",
      "| Note | `a \\| b` | third |" })
  end
  return stream:shuffle(made), said
end

-- Sections that apsis does not know, and those of people's own words: their text must stay as it is.
local foreign = {
  { "## Appendix", "", "| Field | Value |", "|---|---|", "| Paused | maybe |", "" },
  { "## Code", "", "```md", "## ⚙️ Machine State", "| Paused | true |", "```", "" },
  { "## Notes   ", "text with trailing blanks   ", "", "", "\tindented", "* * *" },
  { "---", "<!--", "## Iteration History", "### Iteration 1 — old", "-->", "" },
  { "## 🎯 Current Priorities", "", "Only caching.  ", "" }, { "## FORECLOSED AVENUES", "- no threads", "" },
  { "## 🚀 Roadmap", "### Iteration 99 — not the history", "- **Status**: ✅ Accepted", "" },
    { "***", "#tag, no heading", "" },
  { "___", "~~~", "### Iters 1-2: code", "~~~" },
}

local function pieces_of(stream)
  local list = {}
  for _, piece in ipairs(foreign) do
    if chance(stream, 40) then list[#list + 1] = table.concat(piece, "\n") .. "\n" end
  end
  return stream:shuffle(list)
end

local function history(stream)
  local lines = { one_of(stream, { "## 📊 Iteration History", "## Iteration history" }), "" }
  for number = stream:integer(0, 14), 1, -1 do
    table.move({ ("### Iteration %d — 2025-01-15 10:00 UTC — [Run](https://x.org/%d)"):format(number, number), "",
      "- **Status**: " .. one_of(stream, { "✅ Accepted", "❌ Rejected", "⚠️ Error" }), "- **Change**: change " .. number,
      ("- **Metric**: %d (previous best: %d, delta: +1)"):format(number, number - 1), "" }, 1, 6, #lines + 1, lines)
  end
  if chance(stream, 30) then
    lines[#lines + 1] = "### Iters 50–100 — ✅ (metrics 20→55): before"
    lines[#lines + 1] = ""
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A file: its text, what its table says, its pieces that must stay.
local function file_of(stream)
  local rows, said = rows_of(stream)
  local machine = one_of(stream, { "## ⚙️ Machine State", "## Machine State", "##  🤖 MACHINE STATE ##",
    "### machine state:" }) .. "\n" .. one_of(stream, { "", "\n", "\n> a | note\n\n" })
    .. one_of(stream, { "| Field | Value |\n|---|---|\n", "", "| Field | Value | By |\n|:-:|--|--|\n" })
    .. table.concat(rows, "\n") .. "\n"
  local kept = pieces_of(stream)
  local parts = table.move(kept, 1, #kept, 1, {})
  table.insert(parts, stream:integer(1, #parts + 1), machine)
  if chance(stream, 70) then table.insert(parts, stream:integer(1, #parts + 1), history(stream)) end
  local text = one_of(stream, { "# T\n\n", "# T\n---\n", "", "Some text.\n\n" })
    .. table.concat(parts, one_of(stream, { "\n", "\n---\n\n" }))
  if chance(stream, 20) then text = text:gsub("\n+$", "") end
  local ending = chance(stream, 30) and "\r\n" or "\n"
  if ending ~= "\n" then
    text = text:gsub("\n", ending)
    for index, piece in ipairs(kept) do kept[index] = piece:gsub("\n", ending) end
  end
  if chance(stream, 15) then text = "\u{FEFF}" .. text end
  for index, piece in ipairs(kept) do kept[index] = piece:gsub("[\r\n]+$", "") end -- the file may end with it
  return text, said, kept
end

local function each(name, visit)
  for number = 1, FILES do
    local stream = random.stream("memory", name, number)
    local text, said, kept = file_of(stream)
    local ok, message = xpcall(visit, debug.traceback, stream, text, said, kept)
    if not ok then error(("file %d: %s\n----\n%s\n----"):format(number, message, text), 0) end
  end
end

-- ---- the properties ----

test("what was read and not changed is written byte for byte", function()
  each("identity", function(_, text)
    local doc = memory.parse(text, "x")
    doc:steering()
    doc:fields()
    equal(doc:text() == text, true)
  end)
end)

test("every field is read as it was written, whatever its row looks like", function()
  each("fields", function(_, text, said)
    local doc = memory.parse(text, "x")
    local read = doc:fields()
    for _, about in ipairs(known) do
      local got, expected = read[about[2]], said[about[2]]
      if type(expected) == "string" and about[3] == "text" then expected = expected:match "^%s*(.-)%s*$" end
      equal(got, expected, about[1])
    end
    equal(doc.warnings, {})
  end)
end)

-- The one line in which two texts differ: its number and both; nil where they do not.
local function difference(before, after)
  local old, new = {}, {}
  for line in before:gmatch "[^\n]*\n?" do old[#old + 1] = line end
  for line in after:gmatch "[^\n]*\n?" do new[#new + 1] = line end
  local found
  equal(#new, #old, "lines")
  for index = 1, #old do
    if old[index] ~= new[index] then
      equal(found, nil, "a second line differs")
      found = index
    end
  end
  return found, old[found], new[found]
end

local function has_row(doc, text, name)
  local doubled = memory.parse(text, "x")
  doubled:set(name, "a value that no row has")
  return select(2, doc:text():gsub("\n", "")) == select(2, doubled:text():gsub("\n", ""))
end

test("a row is set alone: its name, its other columns and every other line stay", function()
  each("set", function(stream, text)
    local about = one_of(stream, known)
    local value = one_of(stream, { "true", "12.5", "a | b", "c\\", "é — è", "x\ny", "#7", nil })
    local doc = memory.parse(text, "x")
    local there, before = has_row(doc, text, about[1]), doc:fields()
    doc:set(about[1], value)
    local written = doc:text()
    if there then
      local at, old, new = difference(text, written)
      if at then
        local name = old:match "^%s*|?[^|]*"
        equal(new:sub(1, #(name:gsub("%s+$", ""))), (name:gsub("%s+$", "")))
        equal(new:match "[\r\n]*$", old:match "[\r\n]*$")
      end
    else
      equal(#written > #text, true)
    end
    local again = memory.parse(written, "x")
    local after = again:fields()
    for _, other in ipairs(known) do
      if other ~= about and other[2] ~= "issue" then equal(after[other[2]], before[other[2]], other[1]) end
    end
    if about[3] == "text" then equal(after[about[2]], value and value:gsub("\n", " ")) end
    again:set(about[1], value)
    equal(again:text() == written, true, "twice")
  end)
end)

local function records_for(stream, metric, first)
  local records, best = {}, nil
  for number = first, first + stream:integer(0, 14) do
    local value = stream:integer(-50, 50) / 4
    local crashed, kept = chance(stream, 15), number > first and metric:better(value, best)
    if number == first or kept and not crashed then best = value end
    records[#records + 1] = { experiment = number, candidate = ("c%04d"):format(number), status = crashed and "crash"
      or "keep", outcome = number == 0 and "baseline" or crashed and "skipped_verification_crash" or kept and "kept"
      or "reverted_worse_metric", primary_metric = not crashed and value or nil, best = best,
      commit = "0123456789abcdef", timestamp = "2026-11-22T10:00:00Z",
      description = one_of(stream, { "change", "## heading", "- **Status**: fake", "```", "<!-- open",
      "| Paused | true |",
        "a\nb", "---" }) .. " " .. number,
      learned = chance(stream, 40)
        and one_of(stream, { "## Machine State\n| Paused | true |", "plain", "<!--", "```\n" }) or nil,
      rollback_reason = "because\n## of this", next_action_hint = chance(stream, 30) and "next " .. number or nil }
  end
  return records, best
end

test("taking in experiments and compacting keep what is not theirs byte for byte, and doing it again changes nothing",
  function()
  each("absorb", function(stream, text, said, kept)
    local better = one_of(stream, { "higher", "lower" })
    local metric = direction.new { name = "m", direction = better }
    local doc = memory.parse(text, "x")
    local before = doc:fields()
    local records, best = records_for(stream, metric, stream:integer(0, 3))
    doc:absorb(records, { metric = metric, target = 100, previous = function() return best end, initial = 3,
      branch = "autoloop/x", lines = 40 })
    equal(doc:compact(30720), true)
    local limit = math.max(4000, doc:size() - stream:integer(0, 3000))
    doc:compact(limit)
    local written = doc:text()
    for _, piece in ipairs(kept) do
      -- a rule at its end may part it from the next
      local lines = piece:find "PRIORITIES\r?\n" and piece or piece:gsub("[%s*]+$", "")
      equal(times(written, lines) >= 1, true, piece)
    end
    local again = memory.parse(written, "x")
    equal(again:text() == written, true)
    again:compact(limit)
    equal(again:text() == written, true, "compacted again")
    local read, counted = again:fields(), 0
    for _, record in ipairs(records) do counted = counted + (record.outcome == "baseline" and 0 or 1) end
    equal({ read.iteration_count, read.best_metric, read.target_metric, read.initial_metric, read.metric_direction,
      read.journal_lines }, { before.iteration_count + counted, best, 100, 3, better, 40 })
    equal({ read.pr, read.issue, read.completed, read.completed_reason },
      { said.pr, said.issue, said.completed, before.completed_reason })
    if before.paused and not memory.is_own_pause(before.pause_reason) then
      equal({ read.paused, read.pause_reason }, { true, before.pause_reason })
    end
    equal(again.warnings, {})
    if text:find("\r\n", 1, true) then equal(written:gsub("\r\n", ""):find("\n", 1, true), nil, "line ends") end
  end)
end)

tap.done()
