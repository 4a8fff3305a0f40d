-- memory_edited: which changes of a state file are people's and which apsis made: what memory.edited tells two clones apart by.
local direction = require "apsis.direction"
local memory = require "apsis.project.memory"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local metric = direction.new { direction = "higher", name = "score" }

local function record(number, fields)
  local made = { experiment = number, candidate = ("c%04d"):format(number), outcome = "kept", status = "keep", primary_metric = number,
    best = number, commit = ("0123456789abcdef"):rep(2), description = "change " .. number, learned = "lesson " .. number,
    next_action_hint = "then try " .. number, timestamp = ("2026-11-22T10:%02d:00Z"):format(number % 60) }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local rejected = { outcome = "reverted_worse_metric", status = "discard" }
local crashed = { outcome = "skipped_verification_crash", status = "crash", rollback_reason = "it broke" }
local gated = { outcome = "reverted_gate_failure", status = "discard", gate = { reason = "ci-fix-exhausted", signature = "x" } }

-- The text after records number from to last, and what else `change` does to the document.
local function grown(text, from, last, fields, change)
  local doc = memory.parse(text, "speed")
  for number = from, last do
    doc:absorb({ record(number, fields) }, { metric = metric, branch = "autoloop/speed", previous = function() end, lines = number })
  end
  if change then change(doc) end
  doc:compact(6000)
  return doc:text()
end

local fresh = memory.new { name = "speed", branch = "autoloop/speed", goal = "Make it fast", metric = "score", direction = "higher" }:text()
local some = grown(fresh, 1, 4)

local function swapped(text, from, to)
  local at, stop = text:find(from, 1, true)
  assert(at, from)
  return text:sub(1, at - 1) .. to .. text:sub(stop + 1)
end

test("what apsis writes is nobody's edit: turns of every kind, pauses of its own and their end, completion, compaction", function()
  equal(memory.edited(fresh, fresh), false)
  equal(memory.edited(fresh, some), false)
  for name, fields in pairs { rejected = rejected, crashed = crashed, gated = gated, kept = {} } do
    for last = 5, 30, 5 do equal(memory.edited(some, grown(some, 5, last, fields)), false, name .. last) end
  end
  local paused = grown(some, 5, 7, crashed)
  equal(memory.parse(paused):fields().paused, true)
  equal(memory.edited(paused, grown(paused, 8, 8)), false, "ends with an accepted one")
  equal(memory.edited(some, grown(some, 5, 5, nil, function(doc) doc:complete(metric, 5, 4) end)), false)
  equal(memory.edited(some, grown(some, 5, 4, nil, function(doc) doc:set("Last Run", "2027-01-01T00:00:00Z") end)), false, "a turn alone")
  equal(memory.edited("# Mine\n\nWords.\n", grown("# Mine\n\nWords.\n", 1, 3)), false, "sections and a table that were not there")
end)

local edits = {
  { "Paused | false", "Paused | true" }, { "Pause Reason | —", "Pause Reason | holidays" }, { "| Completed | false", "| Completed | true" },
  { "| PR | —", "| PR | #4" }, { "| Issue | —", "| Issue | #7" }, { "Consecutive Errors | 0", "Consecutive Errors | 2" },
  { "accepted, accepted, accepted, accepted", "—" }, { "accepted, accepted, accepted, accepted", "accepted, rejected, accepted, accepted" },
  { "*(none yet)*", "Look at the allocator." }, { "- *(none yet)*", "- never again" }, { "- lesson 2 (c0002)\n", "%0- a finding of mine\n" },
  { "- then try 2 (c0002)\n", "- try this\n" }, { "Make it fast", "Make it small" }, { "# speed", "# speed, our way" },
  { "| Branch |", "| Owner | Ann |\n| Branch |" }, { "\n## 📊", "\n## Of ours\n\nText.\n\n## 📊" },
}
for _, edit in ipairs(edits) do
  test("a person's edit is told from apsis's, alone and beside turns: " .. edit[2]:gsub("\n", " "), function()
    local by_hand = swapped(some, edit[1], (edit[2]:gsub("%%0", edit[1])))
    equal(memory.edited(some, by_hand), true)
    if edit[1] ~= "Consecutive Errors | 0" then equal(memory.edited(some, grown(by_hand, 5, 6, rejected)), true, "and two turns") end
  end)
end

test("a pause that a person ends, and a completion that a person takes back, are theirs", function()
  local paused = grown(some, 5, 7, crashed)
  local freed = swapped(paused, "| Paused | true", "| Paused | false")
  equal(memory.edited(paused, freed), true)
  equal(memory.edited(paused, freed:gsub("Pause Reason | [^|]*|", "Pause Reason | — |")), true)
  equal(memory.edited(swapped(some, "Paused | false", "Paused | true"), some), true)
  local held = some:gsub("Paused | false", "Paused | true")
  equal(memory.edited(held, grown(some, 5, 5)), true, "and a turn that was accepted")
  local complete = grown(some, 5, 5, nil, function(doc) doc:complete(metric, 5, 4) end)
  equal(memory.edited(complete, swapped(complete, "| Completed | true", "| Completed | false")), true)
end)

test("any bytes may be asked about", function()
  for _, text in ipairs { "", "\n", "|", "\xff|\xff", "## Machine State\n|\n", "```", "<!--", "| Paused | \xff |" } do
    equal(memory.edited(text, text), false, text)
    equal(memory.edited(some, text), true, text)
  end
end)

tap.done()
