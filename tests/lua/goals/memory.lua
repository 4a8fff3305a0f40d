-- memory: the state file of a program: a table that people edit, sections that steer, a history made of journal
-- records, pauses, what is
-- refused, and compaction.
local direction = require "apsis.direction"
local memory = require "apsis.goals.statefile.document"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local SANITIZED = os.getenv "APSIS_SANITIZED"

local function metric_of(better, epsilon)
  return direction.new { direction = better, name = "score", epsilon = epsilon }
end

local function new(better)
  return memory.new { name = "speed", branch = "autoloop/speed", goal = "Make it fast", metric = "score",
    direction = better }
end

local function tabled(...)
  return table.concat({ "# T", "", "## ⚙️ Machine State", "", "| Field | Value |", "|-------|-------|", ... }, "\n")
    .. "\n"
end

local clock = 0

-- A record as the journal's lines are.
local function record(number, fields)
  clock = clock + 1
  local made = { experiment = number, candidate = ("c%04d"):format(number), outcome = "kept", status = "keep",
    primary_metric = number, best = number, commit = ("0123456789abcdef"):rep(2), description = "change " .. number,
    timestamp = ("2026-11-22T%02d:%02d:00Z"):format(clock // 60 % 24, clock % 60) }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local function failed(number, reason)
  local made = record(number, { outcome = "skipped_verification_crash", status = "crash", rollback_reason = reason
    or "it broke" })
  made.primary_metric, made.best = nil, 0
  return made
end

local function context(spec)
  spec = spec or {}
  return { metric = spec.metric or metric_of(spec.better), target = spec.target, initial = spec.initial,
    branch = "autoloop/speed", previous = spec.previous or function(line) return line.experiment > 0
    and line.experiment - 1 or nil end, lines = spec.lines or 1, link = spec.link }
end

local function absorb(doc, records, spec)
  return doc:absorb(records, context(spec))
end

local function times(text, piece)
  local count, from = 0, 1
  while true do
    local at, to = text:find(piece, from, true)
    if not at then return count end
    count, from = count + 1, to + 1
  end
end

-- ---- reading ----

test("a row's value is what it says without its marks; nil where it says nothing", function()
  local doc = new()
  equal({ doc:value "Branch", doc:value "paused", doc:value "Pause Reason" }, { "autoloop/speed", "false" })
  doc:set("Pause Reason", "a|b")
  equal({ doc:value "Pause Reason", doc:value "No Such Row" }, { "a|b" })
end)

test("a new file has every row, reads back, and says nothing to a provider", function()
  local doc = new "lower"
  local read = doc:fields()
  equal(doc.warnings, {})
  equal({ read.iteration_count, read.metric_direction, read.branch, read.paused, read.completed,
    read.consecutive_errors }, { 0, "lower", "autoloop/speed", false, false, 0 })
  equal({ read.last_run, read.best_metric, read.pr, read.issue, read.journal_lines, read.pause_reason }, {})
  equal(doc:steering(), {})
  for _, name in ipairs { "Last Run", "Target Metric", "Completed Reason", "Recent Statuses", "Initial Metric",
    "Journal Lines" } do
    matches(doc:text(), "\n| " .. name .. " | — |\n")
  end
  equal(memory.parse(doc:text(), "speed"):fields(), read)
  raises("direction", memory.new, { name = "x", direction = "up" })
end)

test("a file of autoloop's is read as it is, and an absent Metric Direction means higher and is added on "
  .. "the next write", function()
  local text = tabled("| Last Run | 2025-01-15T12:00:00Z |", "| Iteration Count | 12 |", "| Best Metric | 0.91 |",
    "| Target Metric | 0.95 |", "| Branch | `autoloop/cov` |", "| PR | #42 |", "| Steering Issue | #7 |",
    "| Paused | true |", "| Pause Reason | manual |",
    "| Completed | false |", "| Consecutive Errors | 2 |", "| Recent Statuses | accepted, Rejected,error , "
      .. "ci-fix-exhausted |")
  local doc = memory.parse(text, "cov")
  local read = doc:fields()
  equal({ read.last_run, read.iteration_count, read.best_metric, read.target_metric, read.metric_direction,
    read.branch, read.pr, read.issue, read.paused, read.pause_reason, read.completed, read.consecutive_errors },
    { "2025-01-15T12:00:00Z", 12, 0.91, 0.95, "higher", "autoloop/cov", 42, 7, true, "manual", false, 2 })
  equal(read.recent_statuses, { "accepted", "rejected", "error", "ci-fix-exhausted" })
  equal(read.journal_lines, nil)
  equal(doc.warnings, {})
  equal(doc:text(), text)
  absorb(doc, { record(0, { outcome = "baseline" }) })
  matches(doc:text(), "\n| Recent Statuses | [^\n]*\n| Metric Direction | higher |\n")
  equal(doc:fields().iteration_count, 12)
end)

test("blank cells, escaped pipes, third columns, odd spacing, reordered rows and rows without outer pipes "
  .. "are no trouble", function()
  local text = tabled("|Paused|yes|", "| Pause Reason |   | by whom |", "  |  **Best Metric**  |  `0.5`  |  x |",
    "Completed | off", "| Completed Reason | a \\| b |", "|:---|---:|", "| PR |", "Issue |", "| Consecutive Errors ||",
    "| Mine | kept \\| so |", "| Target Metric | **−1.5** |")
  local doc = memory.parse(text, "odd")
  local read = doc:fields()
  equal({ read.paused, read.best_metric, read.completed, read.completed_reason, read.consecutive_errors,
    read.target_metric }, { true, 0.5, false, "a | b", 0, -1.5 })
  equal({ read.pause_reason, read.pr, read.issue }, {})
  equal(doc.warnings, {})
  equal(doc:text(), text)
end)

test("each row can be set alone, and nothing else changes", function()
  local cases = {
    { "|Paused|yes|", "Paused", "false", "|Paused|false|" },
    { "| Pause Reason |   | by whom |", "Pause Reason", "a|b\nc", "| Pause Reason | a\\|b c | by whom |" },
    { "  |  **Best Metric**  |  `0.5`  |  x |", "Best Metric", "12", "  |  **Best Metric**  |  12     |  x |" },
    { "Completed | off", "Completed", "true", "Completed | true" },
    { "| PR |", "PR", "#1", "| PR | #1 |" },
    { "| PR", "PR", "#1", "| PR | #1 |" },
    { "Issue |", "Issue", "#2", "Issue | #2 |" },
    { "| Consecutive Errors ||", "Consecutive Errors", "3", "| Consecutive Errors | 3 |" },
    { "| Pause Reason | x |", "Pause Reason", nil, "| Pause Reason | — |" },
    { "|Pause Reason|x|", "Pause Reason", "C:\\", "|Pause Reason|C:\\ |" },
    { "| Pause Reason | x |", "Pause Reason", "a\\|b", "| Pause Reason | a\\\\|b |" },
    { "| paused:   | no  | z", "Paused", "true", "| paused:   | true | z" },
  }
  for _, case in ipairs(cases) do
    for _, ending in ipairs { "\n", "\r\n" } do
      local before = tabled("| Mine | 1 |", case[1], "| Other | a \\| b |"):gsub("\n", ending)
      local doc = memory.parse(before, "x")
      doc:set(case[2], case[3])
      local after = tabled("| Mine | 1 |", case[4], "| Other | a \\| b |"):gsub("\n", ending)
      equal(doc:text(), after, case[1])
      local written = doc:text()
      doc:set(case[2], case[3])
      equal(doc:text(), written, "twice")
    end
  end
end)

test("a row that is absent joins the table; a table or a section that is absent is made after the title", function()
  local cases = {
    { "# T\n\nText.\n", "# T\n\n## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n| Paused | true "
      .. "|\n\nText.\n" },
    { "", "## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n| Paused | true |\n" },
    { "Just text", "## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n| Paused | true |\n\nJust text" },
    { "# T\n\n## Machine state\n\n## Notes\n",
      "# T\n\n## Machine state\n\n| Field | Value |\n|-------|-------|\n| Paused | true |\n\n## Notes\n" },
    { "## MACHINE STATE\n> note\n\n---\n", "## MACHINE STATE\n> note\n\n| Field | Value |\n|-------|-------|\n| "
      .. "Paused | true |\n\n---\n" },
    { "## Machine State\n| a|b |\n\n| Best Metric | 1 |\n| x | y |\n\n| p | q |",
      "## Machine State\n| a|b |\n\n| Best Metric | 1 |\n| x | y |\n| Paused | true |\n\n| p | q |" },
    { "## Machine State\n| Best Metric | 1 |", "## Machine State\n| Best Metric | 1 |\n| Paused | true |\n" },
    { "---\ntitle: x\n---\ntext\n",
      "---\ntitle: x\n---\n\n## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n| Paused | true |\n\ntext\n" },
  }
  for _, case in ipairs(cases) do
    local doc = memory.parse(case[1], "x")
    doc:set("Paused", "true")
    equal(doc:text(), case[2])
    equal(doc:fields().paused, true)
  end
  matches(memory.parse("# T\n", "x").warnings[1], "no Machine State section")
end)

test("headings in code fences and comments are none; a fence or comment that never ends hides nothing", function()
  local hidden = "# T\n\n```md\n## Machine State\n| Paused | true |\n```\n~~~~\n## Machine State\n~~~\n| Paused | "
    .. "true |\n~~~~\n<!--\n## Machine State\n| Paused | true |\n-->\n## Machine State\n\n<!--\n| Paused | true "
    .. "|\n-->\n| Paused | no |\n"
  local doc = memory.parse(hidden, "x")
  equal(doc:fields().paused, false)
  doc:set("Paused", "true")
  equal(doc:text(), (hidden:gsub("| no |", "| true |")))
  equal(memory.parse("# T\n```\n## Machine State\n| Paused | true |\n", "x"):fields().paused, true)
  equal(memory.parse("# T\n<!-- oh\n## Machine State\n| Paused | true |\n", "x"):fields().paused, true)
  equal(memory.parse("\u{FEFF}## Machine State\n| Paused | true |\n", "x"):fields().paused, true)
end)

test("what cannot be read is warned of with its line, its row and what to write; a Paused that cannot be "
  .. "read is paused", function()
  local doc = memory.parse(tabled("| Paused | maybe |", "| Best Metric | 97.3% |", "| Iteration Count | -2 |",
    "| PR | later |", "| Metric Direction | up |", "| Target Metric | 0x10 |", "| Initial Metric | nan |",
    "| Paused | false |", "| Consecutive Errors | 1.5 |", "| Completed | perhaps |"), "x")
  local read = doc:fields()
  equal({ read.paused, read.iteration_count, read.metric_direction, read.consecutive_errors, read.completed },
    { true, 0, "higher", 0, false })
  equal({ read.best_metric, read.pr, read.target_metric, read.initial_metric }, {})
  local all = table.concat(doc.warnings, "\n")
  for _, pattern in ipairs { "line 7: Paused: \"maybe\" is neither true nor false, so it counts as true; write "
    .. "true or false", "line 8: Best Metric: \"97.3%%\" is not a number", "line 9: Iteration Count: \"%-2\" is not a "
    .. "count, so it counts as 0", "line 10: PR: ", "line 11: Metric Direction: \"up\"",
    "line 12: Target Metric: \"0x10\"", "line 13: Initial Metric: \"nan\"",
    "line 14: paused: this row is there twice and the first one counts", "line 15: Consecutive Errors: ",
    "line 16: Completed: " } do
    matches(all, pattern)
  end
  equal(#doc.warnings, 10)
  for text, truth in pairs { Yes = true, ON = true, ["1"] = true, x = true, ["`true`"] = true, ["**true**"] = true,
    No = false, off = false, ["0"] = false, FALSE = false, ["—"] = false, ["-"] = false } do
    local asked = memory.parse(tabled("| Paused | " .. text .. " |"), "x")
    equal(asked:fields().paused, truth, text)
    equal(asked.warnings, {}, text)
  end
end)

-- ---- steering ----

test("what people wrote reaches the provider as steering; comments, stand-ins and introductions do not", function()
  local doc = memory.parse(table.concat({ "# T", "## current PRIORITIES", "<!-- edit\nthis -->",
    "*(No specific priorities set — go on.)*", "<!-- note --> Try caching.", "<!-- two", "lines --> Then less.", "---",
    "## 🔥 Lessons Learned", "", "Key findings and insights accumulated over time.", "", "- *(none yet)*", "", "---", "",
    "### 🚧🚧 **Foreclosed Avenues** (for now):", "- no threads <!-- said Ann -->", "```", "# <!-- code -->", "```",
    "---", "## Future Directions", "- *(none yet)*", "## Iteration History", "*(No iterations yet.)*" }, "\n"), "x")
  local list = doc:steering()
  equal(#list, 2)
  matches(list[1], "^Current priorities %b():\n+ ?Try caching%.\n ?Then less%.$")
  equal(list[2], "Foreclosed avenues (do not try these again):\n- no threads \n```\n# <!-- code -->\n```")
end)

-- ---- absorbing ----

test("an experiment is an entry at the top, newest first, with the mark of the direction and the sign of the values",
  function()
  local doc = new "lower"
  local lower = metric_of "lower"
  local best = { nil, 1.5, 1.3, 1.3 }
  local function previous(line) return best[line.experiment + 1] end
  local events = absorb(doc, {
    record(0, { outcome = "baseline", primary_metric = 1.5, best = 1.5 }),
    record(1, { primary_metric = 1.3, best = 1.3, fix_attempts = 2, learned = "short\n## loops",
      next_action_hint = "unroll" }),
    record(2, { outcome = "reverted_worse_metric", status = "discard", primary_metric = 1.7, best = 1.3,
      rollback_reason = "1.7 is worse" }),
    record(3, { outcome = "reverted_worse_metric", status = "discard", primary_metric = 1.3, best = 1.3,
      rollback_reason = "no better" }),
    record(4, { outcome = "measured", best = 1.3 }), record(5, { outcome = "asked", best = 1.3 }),
  }, { metric = lower, previous = previous, target = 0.9, initial = 1.5, lines = 6 })
  equal(events, {})
  local text = doc:text()
  local positions = {}
  for index, heading in ipairs { "\n### Iteration 3 — 2026%-11%-22 %d%d:%d%d UTC — c0003\n", "\n### Iteration 2 — ",
    "\n### Iteration 1 — ", "\n### Baseline c0000 — 2026%-11%-22 " } do
    positions[index] = text:find(heading) or error(heading)
    equal(index == 1 or positions[index - 1] < positions[index], true, heading)
  end
  for _, line in ipairs { "- **Status**: ✅ Accepted\n- **Change**: change 1\n"
    .. "- **Metric**: 1.3 (previous best: 1.5, delta: -0.2, improved)\n"
    .. "- **Commit**: 0123456789\n- **CI fix attempts**: 2\n- **Notes**: short ## loops\n",
    "- **Status**: ❌ Rejected\n- **Change**: change 2\n"
    .. "- **Metric**: 1.7 (previous best: 1.3, delta: +0.4, not improved)\n- **Notes**: 1.7 is worse\n",
    "- **Metric**: 1.3 (previous best: 1.3, delta: +0, tied)\n", "- **Status**: ✅ Measured\n- **Metric**: 1.5\n",
    "\n- short ## loops (c0001)\n", "\n- unroll (c0001)\n" } do
    equal(times(text, line), 1, line)
  end
  equal(times(text, "c0004") + times(text, "c0005"), 0)
  local read = doc:fields()
  equal({ read.iteration_count, read.best_metric, read.target_metric, read.initial_metric, read.metric_direction,
    read.journal_lines, read.consecutive_errors }, { 3, 1.3, 0.9, 1.5, "lower", 6, 0 })
  equal(read.recent_statuses, { "accepted", "rejected", "rejected" })
  equal(times(text, "(none yet)"), 2) -- priorities and foreclosed avenues
  equal(times(text, "CI fix attempts"), 1)
end)

test("1.5 to 1.3 lower improves, 1.5 to 1.7 lower does not, and a direction that is omitted is exactly as higher",
  function()
  local function mark(better, value, epsilon)
    local doc = new(better)
    absorb(doc, { record(1, { primary_metric = value }) },
      { metric = metric_of(better, epsilon), previous = function() return 1.5 end })
    return (doc:text():match("delta: ([^)]*)%)"))
  end
  equal(mark("lower", 1.3), "-0.2, improved")
  equal(mark("lower", 1.7), "+0.2, not improved")
  equal(mark("higher", 1.7), "+0.2, improved")
  equal(mark("higher", 1.3), "-0.2, not improved")
  equal(mark(nil, 1.3), mark("higher", 1.3))
  equal(mark(nil, 1.7), mark("higher", 1.7))
  equal(mark("lower", 1.4, 0.5), "-0.1, tied")
end)

test("lessons are not said twice, keep their candidate, and join what people wrote", function()
  local doc = memory.parse("# T\n\n## Lessons Learned\n\n- Mine, by hand\n\nA last word.\n\n---\n\n## Other\n", "x")
  absorb(doc, { record(1, { learned = "mine,  BY hand." }), record(2, { learned = "new | one <!-- x" }),
    record(3, { learned = "New | one <!-- x" }) })
  matches(doc:text(), "\n%- Mine, by hand\n\nA last word%.\n\n%- new | one <\\!%-%- x "
    .. "%(c0002%)\n\n%-%-%-\n\n## Other\n")
  equal(times(doc:text():match("## Lessons.-\n## Other"), "(c000"), 1)
  local bare = memory.parse("# T\n", "x")
  absorb(bare, { record(1, { learned = "a", next_action_hint = "b" }) })
  local text = bare:text()
  equal(text:find("Machine State", 1, true) < text:find("Lessons Learned", 1, true), true)
  equal(text:find("- b (c0001)", 1, true) < text:find("Iteration History", 1, true), true)
  equal(memory.parse(text, "x"):fields(), bare:fields())
end)

test("what a person adds stands in its section, whole and once; the stand-in goes; other sections stay", function()
  local doc, long = new(), ("word "):rep(200) .. "end"
  local before = doc:text()
  for _, key in ipairs { "priorities", "lessons", "foreclosed", "directions" } do
    equal(doc:add(key, "say " .. key), true)
  end
  equal(doc:add("lessons", "- " .. long), true)
  equal(doc:add("lessons", "  Say   lessons. "), false, "it says that already")
  equal(doc:add("foreclosed", "two\nlines <!-- not a comment"), true)
  local text = doc:text()
  for _, piece in ipairs { "-->\n\n- say priorities\n\n---", "-->\n\n- say lessons\n- " .. long .. "\n\n---",
    "- say foreclosed\n- two lines <\\!-- not a comment\n\n---", "- say directions\n\n---" } do
    assert(text:find(piece, 1, true), piece .. " in\n" .. text)
  end
  equal(times(text, "none yet"), 1, "the history's")
  equal(times(text, "\n## "), times(before, "\n## "))
  equal(#doc:steering(), 4)
end)

test("a section that is absent is made for a person's item, before the history", function()
  local doc = memory.parse(tabled "| Paused | false |" .. "\n## 📊 Iteration History\n\n*(none yet)*\n", "t")
  equal(doc:add("foreclosed", "mine"), true)
  matches(doc:text(), "\n## 🚧 Foreclosed Avenues\n\n%- mine\n\n%-%-%-\n\n## 📊 Iteration History\n")
end)

test("a person's item that ends as one of apsis's own is told from it", function()
  local doc = new()
  doc:add("lessons", "as seen in (c0012)")
  matches(doc:text(), "%- as seen in %(c0012%)%.\n")
end)

test("a pull request's link is in the entry where the row has one", function()
  local doc = new()
  absorb(doc, { record(1) })
  equal(times(doc:text(), "**PR**"), 0)
  doc:set("PR", "#42")
  absorb(doc, { record(2) }, { link = "https://example.org/pull/42" })
  absorb(doc, { record(3) })
  equal(times(doc:text(), "- **PR**: [#42](https://example.org/pull/42)\n"), 1)
  equal(times(doc:text(), "- **PR**: #42\n"), 1)
end)

test("three consecutive errors pause with the last reason; a baseline without a metric is one; a good baseline "
  .. "ends the row", function()
  local doc = new()
  local unmeasured = record(0, { outcome = "baseline" })
  unmeasured.primary_metric = nil
  equal(absorb(doc, { unmeasured }), {})
  equal(doc:fields().iteration_count, 0)
  equal(absorb(doc, { failed(1) }), {})
  absorb(doc, { record(2, { outcome = "baseline" }) })
  equal(doc:fields().consecutive_errors, 0)
  equal(absorb(doc, { failed(3), failed(4) }), {})
  equal(doc:fields().paused, false)
  local events = absorb(doc, { failed(5, "disk\nfull | gone") })
  equal({ #events, events[1].kind, events[1].reason, events[1].record.candidate },
    { 1, "paused", "3 consecutive errors: disk full | gone", "c0005" })
  local read = memory.parse(doc:text(), "x"):fields()
  equal({ read.paused, read.pause_reason, read.consecutive_errors, read.iteration_count },
    { true, events[1].reason, 3, 4 })
  equal(read.recent_statuses, { "error", "error", "error", "error", "error" })
  absorb(doc, { record(6) })
  read = doc:fields()
  equal({ read.paused, read.pause_reason, read.consecutive_errors }, { false, nil, 0 })
end)

test("a gate that gave up pauses with its reason and signature, as ci-fix-exhausted", function()
  local cases = {
    { { signature = "not ok 3", reason = "ci-fix-exhausted: not ok 3" }, "ci-fix-exhausted: not ok 3" },
    { { signature = "not ok 3", reason = "stuck in CI fix loop: not ok 3" }, "stuck in CI fix loop: not ok 3" },
    { { signature = "not ok 3", reason = "ci-timeout: wall-clock cap reached" }, "ci-timeout: wall-clock cap reached" },
    { { signature = "not ok 3" }, "ci-fix-exhausted: not ok 3" },
    { { signature = "s", reason = "it hung" }, "ci-fix-exhausted: it hung" },
    { nil, "ci-fix-exhausted: cannot be made green" },
  }
  for index = 1, #cases do
    local gate, reason = cases[index][1], cases[index][2]
    local doc = new()
    local events = absorb(doc, { failed(1), record(2, { outcome = "reverted_gate_failure", status = "discard",
      gate = gate, fix_attempts = 5, rollback_reason = "cannot be made green" }) })
    equal({ #events, events[1].reason, doc:fields().pause_reason, doc:fields().consecutive_errors },
      { 1, reason, reason, 0 })
    equal(doc:fields().recent_statuses, { "error", "ci-fix-exhausted" })
    matches(doc:text(), "Status%*%*: ⚠️ ci%-fix%-exhausted\n.-CI fix attempts%*%*: 5\n")
    equal(times(doc:text(), "**Commit**"), 0)
    absorb(doc, { record(3) })
    equal(doc:fields().paused, false)
  end
end)

test("a person's pause is theirs: it keeps its reason and is ended by nothing", function()
  for _, reason in ipairs { "holiday", "—" } do
    local doc = new()
    doc:set("Paused", "yes")
    doc:set("Pause Reason", reason)
    equal(absorb(doc, { failed(1), failed(2), failed(3), failed(4), record(5) }), {})
    local read = doc:fields()
    equal({ read.paused, read.pause_reason or "—" }, { true, reason })
    equal(times(doc:text(), "| Paused | yes |"), 1)
  end
  equal({ memory.is_own_pause "3 consecutive errors: x", memory.is_own_pause "holiday", memory.is_own_pause(nil) },
    { true, false, false })
end)

test("ten statuses are remembered", function()
  local doc, records = new(), {}
  for number = 1, 13 do records[number] = number < 4 and failed(number) or record(number) end
  absorb(doc, records)
  equal(#doc:fields().recent_statuses, 10)
  equal(times(table.concat(doc:fields().recent_statuses, " "), "error"), 0)
end)

test("lines that were taken in one by one make the same file as those taken in at once", function()
  local records = {}
  for number = 0, 9 do
    records[number + 1] = number == 0 and record(0, { outcome = "baseline" }) or number % 4 == 0 and failed(number)
      or record(number, { learned = "lesson " .. number, next_action_hint = number % 2 == 0 and "try it" or nil })
  end
  local once, each = new(), new()
  absorb(once, records, { lines = 10 })
  for number = 1, 10 do
    each = memory.parse(each:text(), "speed")
    absorb(each, { records[number] }, { lines = number })
  end
  equal(each:text(), once:text())
end)

test("where the row that counts the journal's lines was lost, entries are not written twice", function()
  local doc, records = new(), {}
  for number = 1, 5 do records[number] = record(number) end
  absorb(doc, { records[1], records[2], records[3] }, { lines = 3 })
  local text = doc:text()
  for _, row in ipairs { "", "| Journal Lines | 0 |\n", "| Journal Lines | x |\n" } do
    doc = memory.parse(text:gsub("| Journal Lines | 3 |\n", row), "speed")
    absorb(doc, records, { lines = 5 })
    for number = 1, 5 do equal(times(doc:text(), ("UTC — c000%d\n"):format(number)), 1) end
    equal({ doc:fields().iteration_count, doc:fields().journal_lines }, { 5, 5 })
  end
end)

test("completion names target, value and direction", function()
  local doc = new()
  doc:complete(metric_of "higher", 0.97, 0.95)
  equal({ doc:fields().completed, doc:fields().completed_reason },
    { true, "target metric 0.95 reached with value 0.97 (higher is better)" })
  doc:complete(metric_of "lower", 0.85, 0.9)
  equal(doc:fields().completed_reason, "target metric 0.9 reached with value 0.85 (lower is better)")
end)

-- ---- edits ----

test("an edit of a measurement is refused aloud and put back; control rows are people's", function()
  local doc = new "lower"
  absorb(doc, { record(0, { outcome = "baseline", primary_metric = 1.5, best = 1.5 }),
    record(1, { primary_metric = 1.3, best = 1.3 }) },
    { metric = metric_of "lower", previous = function(line) return line.experiment > 0 and 1.5 or nil end,
      initial = 1.5, target = 0.9, lines = 2 })
  local truth = { best = 1.3, initial = 1.5, direction = "lower", target = 0.9,
    iterations = { c0000 = 1.5, c0001 = 1.3 } }
  local good = doc:text()
  equal(doc:check(truth), {})
  equal(doc:text(), good)
  local edited = good:gsub("| Best Metric | 1%.3 |", "| Best Metric | 9 |"):gsub("| Initial Metric | 1%.5 |",
    "| Initial Metric | many |"):gsub("Metric%*%*: 1%.3 %(", "Metric**: 0.1 ("):gsub("| Metric Direction | lower |",
    "| Metric Direction | higher |"):gsub("| Target Metric | 0%.9 |", "| Target Metric | 1 |")
  doc = memory.parse(edited, "speed")
  local said = doc:check(truth)
  equal(#said, 5)
  matches(said[1], "^line %d+: Best Metric is 9, but the journal has 1.3: put back$")
  matches(table.concat(said, "\n"), "Initial Metric is many, but the journal has 1.5")
  matches(table.concat(said, "\n"), "c0001 has Metric 0.1, but the journal has 1.3")
  matches(table.concat(said, "\n"), "Metric Direction is higher, but the program has lower: corrected")
  matches(table.concat(said, "\n"), "Target Metric is 1, but the program has 0.9: corrected")
  equal(doc:text(), good)
  for row, value in pairs { Paused = "true", ["Pause Reason"] = "mine", Completed = "true",
    ["Completed Reason"] = "enough", PR = "#3", Issue = "#4", ["Consecutive Errors"] = "2",
    ["Recent Statuses"] = "rejected", ["Last Run"] = "2020-01-01T00:00:00Z" } do
    doc:set(row, value)
  end
  local mine = doc:text()
  equal(doc:check(truth), {})
  equal(doc:text(), mine)
  equal(#memory.parse(good, "speed"):check { initial = 1.5 }, 1) -- the journal has no best
  doc = memory.parse(good, "speed")
  equal(doc:check { best = 1.3, initial = 1.5, iterations = 1 }, {})
  matches(doc:check({ best = 1.3, initial = 1.5, iterations = 4 })[1], "Iteration Count is 1, but the journal has 4")
  equal(doc:fields().iteration_count, 4)
end)

test("Population: a person's island, remarks and own lines reach the provider; what the journal has is put back",
  function()
  local doc = new "higher"
  local lines = { record(0, { outcome = "baseline", primary_metric = 1, best = 1 }) }
  for number = 1, 4 do
    lines[number + 1] = record(number, { operator = "exploitation", parents = { "c0000" },
      notes = { island = "greedy", cell = "3/4" } })
  end
  absorb(doc, lines, { lines = 5 })
  local truth = { best = 4, initial = 1, iterations = function(id) return lines[tonumber(id:sub(2)) + 1] end }
  equal(doc:check(truth), {})
  equal(doc:steering(), {})
  local good = doc:text()
  matches(good, "\n%- island greedy · fitness 2 · exploitation of c0000 · cell 3/4 · ✅ Accepted: change 2 %(c0002%)\n")
  local edited = good:gsub("island greedy( · fitness 1 )", "island numeric%1"):gsub("change 2 %(c0002%)",
    "change 2 — too slow on wide input (c0002)"):gsub("fitness 3 ", "fitness 99 "):gsub("change 3 %(", "change 3; try it again (")
    :gsub("(%- island[^\n]*%(c0004%)\n)",
    "%1- Try the two numeric ones together.\n")
  doc = memory.parse(edited, "speed")
  local said = doc:check(truth)
  equal(#said, 1)
  matches(said[1], "^line %d+: c0003 in Population is not what the journal has: put back$")
  matches(doc:text(), "island greedy · fitness 3 · exploitation of c0000 · cell 3/4 · ✅ Accepted: change 3; try it again %(c0003%)\n")
  matches(doc:text(), "island numeric · fitness 1 ")
  equal(doc:steering(), { "The population, as the people of this project see it:\n- c0001 belongs to island numeric\n"
    .. "- c0002: too slow on wide input\n- c0003: try it again\n- Try the two numeric ones together." })
end)

test("Population: another evaluator's baseline removes the candidates before it; what people said with them stays",
  function()
  local doc, lines = new "higher", { record(0, { outcome = "baseline", primary_metric = 1, best = 1 }) }
  for number = 1, 5 do
    lines[number + 1] = record(number, { operator = "exploitation", parents = { "c0000" }, notes = { island = 2 } })
  end
  lines[5] = record(4, { outcome = "baseline", primary_metric = 100, best = 100 })
  absorb(doc, { lines[1], lines[2], lines[3] }, { lines = 3 })
  doc = memory.parse(doc:text():gsub("change 2 %(c0002%)\n", "change 2 — try it again (c0002)\n- See also (c0001)\n"),
    "speed")
  local at = { metric = direction.new "higher", lines = 6, oldest = 4, record_of = function(id)
    return lines[tonumber(id:sub(2)) + 1]
  end }
  doc:absorb({ lines[4], lines[5], lines[6] }, at) -- c0003 was measured before c0004, too
  matches(doc:text(), "Population\n\n%- c0002: try it again\n%- c0001: See also\n"
    .. "%- island 2 · fitness 5 · exploitation of c0000 · ✅ Accepted: change 5 %(c0005%)\n\n")
  local before = doc:text()
  doc:absorb({}, at)
  equal(doc:text(), before)
end)

test("a file that has taken in nothing of the journal is not held against it", function()
  local text = tabled("| Best Metric | 0.91 |", "| Metric Direction | maximize |")
  local doc = memory.parse(text, "x")
  equal(doc:check { best = 5, initial = 2, direction = "higher" }, {})
  equal(doc:text(), text)
end)

-- ---- compaction ----

local function long(count, fields)
  local doc, records = new(), {}
  for number = 0, count do
    records[#records + 1] = number == 0 and record(0, { outcome = "baseline" })
      or number % 3 == 0 and record(number, { outcome = "reverted_rejected", status = "discard", best = number - 1 })
      or record(number, fields)
  end
  absorb(doc, records, { lines = #records })
  return doc
end

test("beyond the newest ten, entries become a range line that says how many were kept, the metrics and what was kept",
  function()
  local doc = long(16)
  local before = doc:fields()
  equal({ doc:compact(30720) }, { true })
  equal(times(doc:text(), "### Iteration "), 10)
  matches(doc:text(), "\n### Iters 0%-6: kept 4, metrics 0 %-> 5: change 1; change 2; change 4; change 5\n$")
  equal(doc:fields(), before)
  local text = doc:text()
  doc:compact(30720)
  equal(doc:text(), text)
  absorb(doc, { record(17) }, { lines = 18 })
  doc:compact(30720)
  matches(doc:text(), "\n### Iters 0%-7: kept 5, metrics 0 %-> 7: change 1; change 2; change 4; change 5; change 7\n$")
  local short = long(9)
  text = short:text()
  short:compact(30720)
  equal(short:text(), text)
end)

test("a range holds fifty iterations and no more until room is short", function()
  local doc = long(130)
  doc:compact(1000000)
  local found = {}
  for range in doc:text():gmatch("\n### (Iters %d+%-%d+: kept %d+)") do found[#found + 1] = range end
  equal(#found, 3)
  matches(found[3], "^Iters 0%-49: kept 33$")
  matches(found[1], "^Iters 100%-120: ")
  doc:compact(#doc:text() + 100)
  equal(times(doc:text(), "### Iteration "), 5)
  matches(doc:text(), "\n### Iters 0%-125: kept 84, metrics 0 %-> 125: %.%.%.; [^\n]*change 125\n$")
end)

test("autoloop's own entries and ranges are understood and joined", function()
  local lines = { "# T", "## 📊 Iteration History", "All iterations in order.", "" }
  for number = 112, 101, -1 do
    table.move({ "### Iteration " .. number .. " — 2025-01-15 10:00 UTC — [Run](https://example.org/1)", "",
      "- **Status**: " .. (number % 2 == 0 and "✅ Accepted" or "❌ Rejected"), "- **Change**: did " .. number,
      ("- **Metric**: %d (previous best: %d, delta: +1)"):format(number, number - 1), "" }, 1, 6, #lines + 1, lines)
  end
  table.move({ "### Iters 50–100 — ✅ (metrics 20→55): early wins", "", "More about it.", "", "### Iters 1-49 — mixed",
    "", "---", "", "## Mine", "### Iters 1-2: not history" }, 1, 10, #lines + 1, lines)
  local text = table.concat(lines, "\n")
  local doc = memory.parse(text, "x")
  doc:compact(100000)
  equal(times(doc:text(), "### Iters 101-102: kept 1, metrics 100 -> 102: did 102\n\n"
    .. "### Iters 50–100 — ✅ (metrics 20→55): early wins\n"), 1)
  doc:compact(2000)
  equal(times(doc:text(), "### Iters 1-107: kept 3 or more, metrics 20 -> 106: mixed; early wins; More about it.; "
    .. "did 102; did 104; did 106\n\n---\n\n## Mine\n"), 1)
  equal(times(doc:text(), "All iterations in order.\n\n### Iteration 112"), 1)
  equal(times(doc:text(), "### Iters 1-2: not history"), 1)
end)

test("over the limit, notes and apsis's own lessons and directions give way, the oldest first; people's words never do",
  function()
  local doc = new()
  local text = doc:text():gsub("(## 📚 Lessons Learned\n)", "%1\n- By hand: " .. ("word "):rep(50) .. "\n")
    :gsub("(## 🎯 Current Priorities\n)", "%1\nFollow me.\n") .. "\n## Budget notes\n\n"
      .. ("- a line of mine\n"):rep(20)
  doc = memory.parse(text, "speed")
  doc:set("Paused", "true")
  doc:set("Pause Reason", "a reason of mine")
  local records = {}
  for number = 1, 60 do
    records[number] = record(number, { learned = ("lesson %d "):format(number) .. ("long "):rep(20),
      next_action_hint = ("idea %d "):format(number) .. ("wide "):rep(20) })
  end
  absorb(doc, records, { lines = 60 })
  local control = doc:fields()
  for _, limit in ipairs { 12000, 8000, 5000, 3500 } do
    equal(doc:compact(limit), true, limit)
    equal(#doc:text() <= limit, true, limit)
    equal(doc:fields(), control)
    for _, mine in ipairs { "- By hand: " .. ("word "):rep(50), "\nFollow me.\n",
      "\n## Budget notes\n\n" .. ("- a line of mine\n"):rep(20) } do
      equal(times(doc:text(), mine), 1, limit)
    end
    local kept = {}
    for id in doc:text():match("Lessons.-\n## 🚧"):gmatch("%((c%d+)%)\n") do kept[#kept + 1] = id end
    if #kept > 0 then equal(kept[#kept], "c0060", limit) end
    local once = doc:text()
    equal(doc:compact(limit), true)
    equal(doc:text(), once)
  end
  local ok, message = doc:compact(1500)
  equal(ok, nil)
  matches(message, "has %d+ bytes and the limit is 1500.*Shorten sections by hand, or raise memory.limit_kb to %d+")
  equal(doc:fields(), control)
  equal(times(doc:text(), "- By hand: "), 1)
end)

test("of apsis's own lessons the oldest are cut first, and one that was cut is not said again", function()
  local doc, records = new(), {}
  for number = 1, 12 do
    records[number] = record(number, { learned = ("lesson %d says "):format(number) .. ("more and "):rep(20) })
  end
  absorb(doc, records, { lines = 12 })
  repeat equal(doc:compact(doc:size() - 1), true) until doc:text():find "%.%.%. %(c"
  local cut = {}
  for id in doc:text():gmatch("%.%.%. %((c%d+)%)\n") do cut[#cut + 1] = id end
  equal(#cut > 0 and #cut < 12, true)
  for index, id in ipairs(cut) do equal(id, ("c%04d"):format(index)) end
  absorb(doc, { record(13, { learned = records[1].learned }), record(14, { learned = records[12].learned }) })
  equal(times(doc:text():match("Lessons.-\n## 🚧"), "says more"), 12)
end)

test("what people wrote below a range stays there when another entry joins, and a summary stays short", function()
  local doc = memory.parse(long(14):text(), "speed")
  doc:compact(30720)
  doc = memory.parse(doc:text() .. "\nBelow it, by hand.\n", "speed")
  absorb(doc, { record(15, { description = ("wide "):rep(30) }) })
  doc:compact(30720)
  matches(doc:text(), "\n### Iters 5%-5: [^\n]*\n\n### Iters 0%-4: [^\n]*\n\nBelow it, by hand%.\n$")
  for number = 16, 40 do
    absorb(doc, { record(number, { description = number .. (" wide"):rep(30) }) })
    doc:compact(30720)
  end
  local summary = doc:text():match("\n### Iters 5%-30: kept %d+, metrics [^:]*: ([^\n]*)\n")
  equal({ #summary <= 240, summary:match "^%.%.%.; %d+ wide" ~= nil, summary:match "30 wide[ wide]*%.%.%.$" ~= nil },
    { true, true, true })
end)

test("sections of people's own in the history stay where they are", function()
  local doc = long(20)
  local text = doc:text():gsub("### Iteration 5 ", "### A remark\n\nOf mine.\n\n%0")
  doc = memory.parse(text, "speed")
  doc:compact(30720)
  matches(doc:text(), "\n### Iters 6%-10: [^\n]*\n\n### A remark\n\nOf mine%.\n\n### Iters 0%-5: ")
end)

test("a thousand experiments, taken in one by one, stay below the limit", function()
  local doc = new()
  local most, limit, rounds = 0, 30720, SANITIZED and 100 or 1000
  for number = 1, rounds do
    absorb(doc, { record(number, { learned = ("lesson %d is that it goes on"):format(number),
      next_action_hint = "then try " .. number, description = "a change of a usual length for a title " .. number }) },
      { lines = number })
    equal(doc:compact(limit), true)
    most = math.max(most, doc:size())
  end
  equal(most <= limit, true)
  local read = memory.parse(doc:text(), "speed"):fields()
  equal({ read.iteration_count, read.journal_lines, read.best_metric }, { rounds, rounds, rounds })
  matches(doc:text(), "\n### Iters 1%-%d+: kept %d+, ")
end)

tap.done()
