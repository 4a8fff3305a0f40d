-- memory_join: two texts of one state file that go on from a third, as one: what people edited on either side is there,
-- nothing that apsis
-- wrote is there twice, and a contradiction is said.
local direction = require "apsis.direction"
local memory = require "apsis.goals.statefile.document"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local metric = direction.new { direction = "higher", name = "score" }

local function record(number, fields)
  local made = { experiment = number, candidate = ("c%04d"):format(number), outcome = "kept", status = "keep",
    primary_metric = number, best = number, commit = ("0123456789abcdef"):rep(2), description = "change " .. number,
    learned = "lesson " .. number, next_action_hint = "then try " .. number,
    timestamp = ("2026-11-22T10:%02d:00Z"):format(number % 60) }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local rejected = { outcome = "reverted_worse_metric", status = "discard" }
local crashed = { outcome = "skipped_verification_crash", status = "crash", rollback_reason = "it broke" }

-- The text after records number from to last.
local function grown(text, from, last, fields, limit)
  local doc = memory.parse(text, "speed")
  for number = from, last do
    doc:absorb({ record(number, fields) }, { metric = metric, branch = "autoloop/speed", previous = function() end,
      lines = number })
  end
  doc:compact(limit or 20000)
  return doc:text()
end

local fresh = memory.new { name = "speed", branch = "autoloop/speed", goal = "Make it fast", metric = "score",
  direction = "higher" }:text()
local some = grown(fresh, 1, 4)

-- Pairs of what is there and what stands there then.
local function swapped(text, ...)
  local pairs_of = { ... }
  for index = 1, #pairs_of, 2 do
    local at, stop = text:find(pairs_of[index], 1, true)
    assert(at, pairs_of[index])
    text = text:sub(1, at - 1) .. pairs_of[index + 1] .. text:sub(stop + 1)
  end
  return text
end

local function row(text, name) return memory.parse(text):value(name) end

local function count(text, what)
  local found, at = 0, 1
  while true do
    local from, to = text:find(what, at, true)
    if not from then return found end
    found, at = found + 1, to + 1
  end
end

-- What people do: what is there, and what then.
local edits = {
  { "Paused | false", "Paused | true" }, { "Paused | false |\n| Pause Reason | —", "Paused | true |\n| Pause "
    .. "Reason | holidays" },
  { "| Completed | false", "| Completed | true" }, { "| PR | —", "| PR | #4" },
    { "| Issue | —", "| Issue | [#7](http://x/7)" },
  { "Consecutive Errors | 0", "Consecutive Errors | 2" }, { "accepted, accepted, accepted, accepted", "—" },
  { "<!-- What to", "- Look at the allocator.\n\n<!-- What to" }, { "- *(none yet)*", "- never again\n- nor this" },
  { "- lesson 2 (c0002)\n", "- lesson 2 (c0002)\n- a finding of mine\n" }, { "- lesson 2 (c0002)\n", "" },
  { "- lesson 2 (c0002)\n", "- lesson 2, in my words (c0002)\n" }, { "- then try 2 (c0002)\n", "- try this\n" },
  { "Make it fast", "Make it small" }, { "# speed", "# speed, our way" },
    { "| Branch |", "| Owner | Ann |\n| Branch |" },
  { "\n## 📊", "\n## Of ours\n\nText.\n\n```\n## no heading\n```\n\n---\n\n## 📊" },
  { "<!-- What to try next, in your words. The provider is asked to follow it. -->\n\n*(none yet)*\n",
    "Words.\n\nMore words.\n" },
}

test("what one side alone changed counts, whichever side it is", function()
  equal({ memory.join(some, some, fresh) }, { fresh, {} })
  for _, edit in ipairs(edits) do
    local by_hand, turned = swapped(some, edit[1], edit[2]), grown(some, 5, 6, rejected)
    equal({ memory.join(some, by_hand, some) }, { by_hand, {} })
    equal({ memory.join(some, some, by_hand) }, { by_hand, {} })
    equal({ memory.join(some, by_hand, by_hand) }, { by_hand, {} })
    equal({ memory.join(some, turned, by_hand) }, { (memory.join(some, turned, by_hand)), {} }, edit[2])
  end
end)

for _, edit in ipairs(edits) do
  test("an edit here and turns at origin are both there, byte for byte: " .. edit[2]:gsub("\n", " "), function()
    local turned = grown(some, 5, 6, rejected)
    local by_hand = swapped(some, edit[1], edit[2])
    local joined, warnings = memory.join(some, by_hand, turned)
    if edit[2] == "—" then
      equal(#warnings, 1, "what the turns changed too is theirs")
      return equal(joined, turned)
    end
    equal(warnings, {})
    if edit[1]:find "lesson" or edit[1]:find "then try" then
      local mine = edit[2]:match "([^\n]+)\n$" -- what stands last of it
      if mine then equal(count(joined, mine .. "\n"), 1) end
      equal(count(joined, "lesson 6 (c0006)") + count(joined, "then try 6 (c0006)"), 2)
      equal(count(joined, "lesson 2 (c0002)"), by_hand:find("lesson 2 (c0002)", 1, true) and 1 or 0)
    else
      equal(joined, swapped(turned, edit[1], edit[2]))
    end
    equal({ memory.join(some, joined, turned) }, { joined, {} }, "joined again it is the same")
  end)
end

test("an edit at origin and turns here: the turns come again with the journal, and nothing is there twice", function()
  for _, fields in ipairs { {}, rejected, crashed } do
    local turned = grown(some, 5, 8, fields)
    for _, edit in ipairs(edits) do
      local by_hand = swapped(some, edit[1], edit[2])
      local joined, warnings = memory.join(some, turned, by_hand)
      equal(warnings, {})
      equal(row(joined, "Journal Lines"), "4")
      local again = memory.parse(grown(joined, 5, 8, fields))
      equal(again:value "Iteration Count", "8")
      for _, what in ipairs { "- lesson 6 (c0006)", "Iteration 6", "- lesson 8 (c0008)" } do
        equal(count(again:text(), what), 1, what)
      end
      if edit[2] ~= "—" and not edit[2]:find "Consec" then
        equal(#again:fields().recent_statuses, 8, edit[2])
        equal(again:value "Consecutive Errors", row(turned, "Consecutive Errors"))
      end
      if not edit[2]:find "^Paused" then equal(again:value "Paused", row(turned, "Paused"), edit[2]) end
    end
  end
end)

test("a pause here beside a priority at origin: the examiner's case, and the other way round", function()
  local ours = swapped(some, "Paused | false", "Paused | true", "- *(none yet)*", "- no regexes")
  local theirs = swapped(some, "*(none yet)*", "- try the cache")
  for _, sides in ipairs { { ours, theirs }, { theirs, ours } } do
    local joined, warnings = memory.join(some, sides[1], sides[2])
    equal({ joined, warnings }, { swapped(ours, "*(none yet)*", "- try the cache"), {} })
  end
end)

local rows_of = {
  -- base, ours, theirs: Paused and Pause Reason; what counts; what is said
  { "false", "—", "true", "a", "false", "b", "true", "a", 'Paused is "true" here and "false" at origin, and '
    .. '"true" counts' },
  { "true", "x", "false", "—", "true", "b", "true", "b", 'Paused is "false" here and "true" at origin, and '
    .. '"true" counts' },
  { "false", "—", "true", "a", "true", "b", "true", "b", 'Pause Reason is "a" here and "b" at origin, and "b" counts' },
  { "false", "—", "true", "holidays", "true", "3 consecutive errors", "true", "holidays" },
  { "true", "a", "false", "—", "true", "a", "false", "—" }, { "true", "a", "true", "a", "false", "—", "false", "—" },
  { "true", "a", "true", "b", "true", "a", "true", "b" }, { "false", "—", "true", "a", "true", "a", "true", "a" },
}
for index, case in ipairs(rows_of) do
  test("a pause counts wherever it was made, and its reason goes with it, " .. index, function()
    local function with(first, priority)
      local rows = ("Paused | %s |\n| Pause Reason | %s"):format(case[first], case[first + 1])
      return swapped(some, "Paused | false |\n| Pause Reason | —", rows,
        "*(none yet)*", priority)
    end
    local joined, warnings = memory.join(with(1, "- p"), with(3, "- p\n- mine"), with(5, "- p\n- theirs"))
    equal(joined, swapped(with(5, "- p\n- theirs\n- mine"), case[5] .. " |\n| Pause Reason | " .. case[6],
      case[7] .. " |\n| Pause Reason | " .. case[8]))
    equal(warnings, { case[9] })
  end)
end

test("other rows that both changed are origin's, with a warning that names the row and both values", function()
  local ours = swapped(some, "| PR | —", "| PR | #4", "| Issue | —", "| Issue | #1",
    "accepted, accepted, accepted, accepted", "—", "| Branch", "| Owner | Ann |\n| Branch")
  local theirs = swapped(some, "| PR | —", "| PR | #5", "accepted, accepted, accepted, accepted", "error",
    "| Branch", "| Owner | Bob |\n| Branch")
  local joined, warnings = memory.join(some, ours, theirs, { "in A", "in B" })
  equal(joined, swapped(theirs, "| Issue | —", "| Issue | #1"))
  equal(warnings, { 'a line is "| Owner | Ann |" in A and "| Owner | Bob |" in B, and "| Owner | Bob |" counts',
    'PR is "#4" in A and "#5" in B, and "#5" counts',
    'Recent Statuses is empty in A and "error" in B, and "error" counts' })
  local with = swapped(some, "| Branch", "| Owner | — |\n| Branch")
  ours, theirs = swapped(with, "Owner | —", "Owner | Ann"), swapped(with, "Owner | —", "Owner | Bob", "| PR | —",
    "| PR | #5")
  joined, warnings = memory.join(with, ours, theirs)
  equal(joined, theirs)
  matches(warnings[1], "Owner | Ann.* here and .*Owner | Bob.* at origin")
  equal({ memory.join(with, ours, swapped(with, "| PR | —", "| PR | #5")) },
    { swapped(ours, "| PR | —", "| PR | #5"), {} })
end)

test("a section that both changed is origin's with what was added here at its end, and without what one side removed",
  function()
  local base = swapped(some, "*(none yet)*", "- one\n- two\n- three", "\n## 📊",
    "\n## Ours\n\nFirst.\n\nSecond.\n\n---\n\n## 📊")
  local ours = swapped(base, "- two\n", "", "- three", "- three\n- mine", "First.\n", "", "Second.",
    "Second.\n\nMine, one.\n\nMine, two.")
  local theirs = swapped(base, "- one", "- yours\n- ones", "Second.", "Second.\n\nYours.")
  local joined, warnings = memory.join(base, ours, theirs)
  equal(warnings, {})
  matches(joined, "%-%->\n\n%- yours\n%- ones\n%- three\n%- mine\n\n%-%-%-")
  matches(joined, "## Ours\n\nSecond%.\n\nYours%.\n\nMine, one%.\n\nMine, two%.\n\n%-%-%-\n\n## 📊")
  equal(memory.join(base, joined, theirs), joined)
  local emptied = swapped(some, "- *(none yet)*", "- one")
  equal(memory.join(emptied, some, swapped(emptied, "- one", "- one\n- two")), swapped(some, "- *(none yet)*", "- two"),
    "no stand-in")
end)

test("sections that are only on one side: made, removed, removed while the other goes on", function()
  local base = swapped(some, "\n## 📊", "\n## Ours\n\nText.\n\n---\n\n## 📊")
  local theirs = swapped(base, "*(none yet)*", "- yours")
  local bare = swapped(base, "\n## Ours\n\nText.\n\n---\n", "")
  equal(memory.join(base, bare, theirs), swapped(some, "*(none yet)*", "- yours"))
  local more = swapped(base, "Text.", "Text.\n\nMine.")
  equal(memory.join(base, bare, swapped(theirs, "Text.", "Text.\n\nYours.")),
    swapped(theirs, "Text.", "Text.\n\nYours."))
  matches(memory.join(base, more, swapped(some, "*(none yet)*", "- yours")), "\n## Ours\n\nMine%.\n\n%-%-%-\n\n## 📊")
  local one, other = some .. "\n## A\n\nMine.\n", swapped(some, "\n## 📊", "\n## B\n\nYours.\n\n## 📊")
  equal(memory.join(some, one, other), other .. "\n## A\n\nMine.\n")
  equal(memory.join(some, one:sub(1, -2), other .. "x"), other .. "x\n\n## A\n\nMine.")
end)

test("files made on both sides are joined too, and a history is no place to lose words in", function()
  local ours, theirs = swapped(fresh, "*(none yet)*", "- mine"), swapped(fresh, "*(none yet)*", "- yours")
  equal(memory.join(nil, ours, theirs), swapped(fresh, "*(none yet)*", "- yours\n- mine"))
  local noted = swapped(some, "- **Notes**: lesson 3", "- **Notes**: lesson 3, says Ann") .. "\nThe end.\n"
  local joined = memory.join(some, noted, grown(some, 5, 5))
  equal(joined, swapped(grown(some, 5, 5), "- **Notes**: lesson 3", "- **Notes**: lesson 3, says Ann")
    .. "\nThe end.\n")
end)

test("line ends are those of origin's file, and a last line may have none", function()
  local theirs = swapped(some, "*(none yet)*", "- yours"):gsub("\n", "\r\n")
  local ours = swapped(some, "Paused | false", "Paused | true", "- *(none yet)*", "- mine")
  local joined = memory.join(some, ours, theirs)
  equal(joined, (swapped(ours, "*(none yet)*", "- yours"):gsub("\n", "\r\n")))
  equal(memory.join(some, ours:sub(1, -2), swapped(some, "*(none yet)*", "- yours")),
    swapped(ours, "*(none yet)*", "- yours"))
  equal(memory.join("## Lessons Learned\n", "## Lessons Learned\n- mine", "## Lessons Learned\n- yours\n\n---\n"),
    "## Lessons Learned\n- yours\n- mine\n\n---\n")
end)

test("any bytes may be joined, and joined again they are the same, unless something is left open or the table is gone",
  function()
  local odd = { "", "\n", "|", "\xff|\xff", "## Machine State\n|\n", "```", "<!--", "| Paused | \xff |",
    "## \xff\n\xff", some, "# a\n# a\n# a\n", "## Machine State\n| Paused | true |\n## Machine State\n| "
    .. "Paused | false |", "## Lessons Learned\n- x (c1)\n- y (c1)", "## Current Priorities\n- a\n```\n- b\n",
    "---\n---\n---", "\u{FEFF}# x\r\n\r\n| Paused | yes" }
  for _, base in ipairs(odd) do
    for _, ours in ipairs(odd) do
      for _, theirs in ipairs { odd[4], odd[10], odd[11], odd[12], odd[14], odd[16] } do
        local joined = memory.join(base, ours, theirs)
        local again = memory.join(base, joined, theirs)
        local open = (base .. ours .. theirs):find "```" or base == "<!--" or ours == "<!--"
        local whole = theirs == some or not (base .. ours):find "Machine State"
        if whole and not open then equal(again, joined) end
      end
    end
  end
end)

tap.done()
