-- parts: changes made step by step, divided into parts: random steps over a real repository, and what git makes of the
-- parts; and the words of the commits.
local direction = require "apsis.direction"
local message = require "apsis.deliver.message"
local parts = require "apsis.deliver.parts"
local random = require "apsis.random"
local scratch = require "scratch"
local steps = require "apsis.live.steps"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local inside = scratch.with "git init -q -b main repo; cd repo; git commit -q --allow-empty -m first"
local metric = direction.new { name = "score", direction = "higher" }

local function record(repo, number, edits, before, more)
  local tree = assert(repo:edit_tree(before and before.commit or nil, edits))
  local made = { id = ("c%04d"):format(number), experiment = number, kept = true, value = number, tree = tree,
    outcome = number == 0 and "baseline" or "kept", parents = before and { before.id } or {}, measured_by = metric,
    commit = assert(repo:commit { tree = tree, parents = before and { before.commit } or {},
      message = "step " .. number }) }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function history_of(list)
  return { get = function(_, id)
    for _, one in ipairs(list) do
      if one.id == id then return one end
    end
  end }
end

-- The candidates of a list of edits, one after the other; and the parts of the last one.
local function divide(repo, base, all, together)
  local list = { record(repo, 0, base) }
  for number, edits in ipairs(all) do list[number + 1] = record(repo, number, edits, list[number]) end
  local way = steps.of(history_of(list), list[#list])
  return assert(parts.of(repo, list[1], list[#list], way, together or {})), list
end

local function numbers(found)
  local list = {}
  for index, part in ipairs(found) do list[index] = table.concat(part.steps, " ") end
  return list
end

local function text_of(lines) return table.concat(lines, "\n") .. "\n" end

local function numbered(count)
  local lines = {}
  for index = 1, count do lines[index] = "line " .. index end
  return lines
end

-- A text with some of its lines replaced.
local function with(changes, count)
  local lines = numbered(count or 40)
  for at, line in pairs(changes) do lines[at] = line end
  return text_of(lines)
end

test("steps in other places are apart; in the same place, or close by, together", inside(function(repo)
  local base = { a = with {}, b = with {} }
  local found = divide(repo, base, { { a = with { [3] = "x" } }, { a = with { [3] = "x", [20] = "y" } },
    { b = with { [3] = "z" } } })
  equal(numbers(found), { "1", "2", "3" })
  found = divide(repo, base, { { a = with { [3] = "x" } }, { a = with { [3] = "x", [20] = "y" } },
    { a = with { [3] = "x2", [20] = "y" } } })
  equal(numbers(found), { "1 3", "2" })
  found = divide(repo, base, { { a = with { [3] = "x" } }, { a = with { [3] = "x", [7] = "y" } } })
  equal(numbers(found), { "1 2" })
  found = divide(repo, base, { { a = with { [3] = "x" } }, { a = with { [3] = "x", [8] = "y" } } })
  equal(numbers(found), { "1", "2" })
end))

test("a line that one step adds and a later one rewrites is both steps'", inside(function(repo)
  local lines = numbered(40)
  table.insert(lines, 10, "new")
  local first = text_of(lines)
  lines[10] = "newer"
  local found = divide(repo, { a = with {}, b = with {} }, { { a = first }, { b = with { [1] = "x" } },
    { a = text_of(lines) } })
  equal(numbers(found), { "1 3", "2" })
end))

test("steps kept together, a step of which nothing is left, and nothing at all", inside(function(repo)
  local base = { a = with {}, b = with {} }
  local all = { { a = with { [3] = "x" } }, { b = with { [3] = "x" } }, { a = with { [3] = "x", [30] = "y" } } }
  equal(numbers(divide(repo, base, all, { { 1, 2 } })), { "1 2", "3" })
  equal(numbers(divide(repo, base, { { a = with { [3] = "x" } }, { b = "y\n" }, { b = with {} } })), { "1" })
  equal(numbers(divide(repo, base, { { b = "y\n" }, { b = with {} } })), {})
end))

test("a file for a folder, a folder for a file, modes, links and binary files", inside(function(repo)
  local found = divide(repo, { a = with {}, ["d/f"] = "f\n", p = "p\n" }, { { ["d/f"] = false, d = "file\n" },
    { p = false, ["p/q"] = "q\n" }, { a = { bytes = with {}, mode = "100755" } }, { bin = "\0\1" },
    { bin = "\0\2", l = { bytes = "a", mode = "120000" } } })
  equal(numbers(found), { "1", "2", "3", "4 5" })
end))

-- A step: some lines of some files are replaced, added or deleted; now and then a file is made, renamed or deleted.
local function random_step(rng, files)
  local edits, names = {}, {}
  for name in pairs(files) do names[#names + 1] = name end
  table.sort(names)
  local name = names[rng:integer(1, #names)]
  local lines, roll = files[name], rng:integer(1, 12)
  if roll == 1 then
    local other = "n" .. rng:integer(1, 5)
    files[other] = files[other] or numbered(rng:integer(1, 8))
    name = other
  elseif roll == 2 and #names > 2 then
    files[name], edits[name] = nil, false
  elseif roll == 3 and not files["r" .. name] then
    files["r" .. name], files[name], edits[name] = lines, nil, false
    edits["r" .. name] = text_of(lines)
  end
  for _ = 1, rng:integer(1, 2) do
    local list = files[name]
    if list and #list > 1 then
      local at, what = rng:integer(1, #list), rng:integer(1, 3)
      if what == 1 then list[at] = "changed " .. rng:integer(1, 99)
      elseif what == 2 then table.insert(list, at, rng:integer(1, 3) == 1 and "" or "added " .. rng:integer(1, 99))
      else table.remove(list, at) end
    end
  end
  if files[name] then edits[name] = text_of(files[name]) end
  return edits
end

local RUNS = os.getenv "APSIS_SANITIZED" and 20 or 150

test("random steps: the parts merge in either order to the candidate's tree; each piece is in one", inside(function(repo)
  local several = 0
  for seed = 1, RUNS do
    local rng = random.stream(seed)
    local files, base, all = { a = numbered(60), b = numbered(30), c = numbered(10) }, {}, {}
    for name, lines in pairs(files) do base[name] = text_of(lines) end
    for number = 1, rng:integer(1, 6) do all[number] = random_step(rng, files) end
    local found, list = divide(repo, base, all)
    several = several + (#found > 1 and 1 or 0)
    local count = 0
    for _, part in ipairs(found) do count = count + #part.pieces end
    equal(count, #found.pieces)
    local at, tree = list[1].commit, list[1].tree
    for index = #found, 1, -1 do
      tree = assert(repo:merge(at, found[index].commit))
      at = assert(repo:commit { tree = tree, parents = { at, found[index].commit }, message = "m" })
    end
    equal(tree, list[#list].tree, "seed " .. seed)
  end
  assert(several > RUNS // 4, several .. " runs of several parts")
end))

test("the way to a candidate: steps that gained, others folded into the next, the candidate last", inside(function(repo)
  local list = { record(repo, 0, { a = "0\n" }, nil, { value = 10 }) }
  local function add(value, more) list[#list + 1] = record(repo, #list, { a = #list .. "\n" }, list[#list], more or {})
    list[#list].value = value end
  add(12)
  add(11)                                                 -- kept, and worse than the bar
  add(nil, { kept = false, outcome = "reverted_stage_failure" })
  add(15)
  add(16, { acceptance = { verdict = "rejected" } })      -- not shown to be better
  add(14)
  local found, base = steps.of(history_of(list), list[7])
  local ids = {}
  for index, step in ipairs(found) do
    ids[index] = { step.from.id, step.record.id }
    table.move(step.folded, 1, #step.folded, 3, ids[index])
  end
  equal(ids, { { "c0000", "c0001" }, { "c0001", "c0004", "c0002", "c0003" }, { "c0004", "c0006", "c0005" } })
  equal(base.id, "c0000")
  equal({ #(steps.of(history_of(list), list[1])) }, { 0 })
end))

test("a commit's facts stand in its last paragraph, and only there they are read", inside(function(repo)
  local one = record(repo, 1, { a = "1\n" }, nil, { value = 2.5, hypothesis = "so\nApsis-Commit: 1234" })
  local text = message.write { subject = "a\nb", body = message.hypothesis(one, "a"), facts = { { "Candidate", one.id },
    { "Commit", "abcdef" }, { "Part", nil }, { "Value", message.value(one, "us") } } }
  equal(text, "a b\n\nso Apsis-Commit: 1234\n\nApsis-Candidate: c0001\nApsis-Commit: abcdef\n"
    .. "Apsis-Value: 2.5 us (score, higher is better)\n")
  equal(message.brought(text), "abcdef")
  equal(message.brought "a\n\nApsis-Commit: 1234\n\nmore\n", nil)
  equal(message.brought "a\r\n\r\nApsis-Commit: 1234\r\nSigned-off-by: me\r\n", "1234")
  matches(message.value(one, nil, 3, "note"), "^3 %(score, higher is better; note%)$")
end))

tap.done()
