-- against: the parts of `apsis show ID --against OTHER` that need no project: the search for what is at fault, what two candidates made of
-- each item, and the pieces of a change in a repository that git made.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local git = require "apsis.git"
local items = require "apsis.compare.items"
local pieces = require "apsis.live.pieces"
local random = require "apsis.random"
local search = require "apsis.live.search"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local SANITIZED = os.getenv "APSIS_SANITIZED"
local higher, lower = direction.new { name = "score" }, direction.new { name = "loss", direction = "lower" }

-- A search in which all is good once every culprit of one list is gone; asked: how often, of what.
local function hunt(count, most, culprits, breaks)
  local asked = {}
  local found = search.run { count = count, most = most, measure = function(set)
    asked[#asked + 1] = table.concat(set, " ")
    local gone, helped = {}, 0
    for _, index in ipairs(set) do gone[index] = true end
    for _, culprit in ipairs(culprits) do if gone[culprit] then helped = helped + 1 end end
    if breaks and breaks(gone) then return { all = false, count = 0 } end
    return { all = helped == #culprits and helped > 0, count = helped }
  end }
  return found, asked
end

test("one part at fault is found by leaving each out alone", function()
  local found, asked = hunt(5, 15, { 4 })
  equal({ found.found, found.minimal, #asked, found.used }, { { 4 }, true, 5, 5 })
  equal(found.others, {})
end)

test("parts that each make all good alone are all named", function()
  local found = search.run { count = 4, most = 10, measure = function(set)
    local good = #set == 1 and (set[1] == 2 or set[1] == 3)
    return { all = good, count = good and 1 or 0 }
  end }
  equal({ found.found, found.others }, { { 2 }, { 3 } })
end)

test("parts that help alone are tried together before halves are", function()
  local found, asked = hunt(6, 15, { 2, 5 })
  equal({ found.found, found.minimal, asked[7], #asked }, { { 2, 5 }, true, "2 5", 7 })
end)

test("parts that only help together are found by halves, and no part of the answer can be left out", function()
  local rng = random.stream(1, "search")
  for _ = 1, SANITIZED and 20 or 200 do
    local count = rng:integer(2, 24)
    local culprits, chosen = {}, {}
    for _ = 1, rng:integer(1, 3) do
      local index = rng:integer(1, count)
      if not chosen[index] then chosen[index], culprits[#culprits + 1] = true, index end
    end
    table.sort(culprits)
    local asked = {}
    local found = search.run { count = count, most = 1000, measure = function(set)
      local key, gone, left = table.concat(set, " "), {}, 0
      assert(not asked[key], "asked twice: " .. key)
      asked[key] = true
      for _, index in ipairs(set) do gone[index] = true end
      for _, culprit in ipairs(culprits) do if not gone[culprit] then left = left + 1 end end
      return { all = left == 0, count = left == 0 and 1 or 0 } -- alone none helps
    end }
    equal({ found.found, found.minimal, found.ended or "-" }, { culprits, true, "-" })
  end
end)

test("never more measurements than allowed, and what was found by then is given", function()
  for most = 1, 40 do
    local found, asked = hunt(30, most, { 7, 21 }, function(gone) return gone[7] ~= gone[21] end)
    assert(#asked <= most, most)
    equal(found.used, #asked)
    if found.found then
      local has = {}
      for _, index in ipairs(found.found) do has[index] = true end
      assert(has[7] and has[21], "what is found makes all good")
    end
    if not found.minimal then equal(found.ended, "limit") end
  end
end)

test("nothing is found where even without all it is not good; what is interrupted says so", function()
  local found = hunt(4, 15, {})
  equal({ found.found == nil, found.minimal, found.ended or "-" }, { true, false, "-" })
  local left = 3
  found = search.run { count = 9, most = 15, measure = function()
    left = left - 1
    if left >= 0 then return { all = false, count = 0 } end
  end }
  equal({ found.found == nil, found.ended, found.used }, { true, "interrupted", 3 })
end)

test("what cost no measurement is not counted", function()
  local found = search.run { count = 3, most = 5, measure = function(set) return { all = #set == 3, count = 0 }, #set == 1 end }
  equal({ found.found, found.used }, { { 1, 2, 3 }, 4 })
end)

test("items regress and are fixed by the metric's direction; epsilon is a tie, and a lost value is worse", function()
  local mine = items.values({ items = { a = 1, b = 2, c = 3, d = { loss = 5 }, e = { other = 1 }, new = 1 } }, lower)
  local theirs = items.values({ items = { a = 2, b = 1, c = 3, d = { loss = 6 }, e = { loss = 1 }, old = 1 } }, lower)
  local function ids(list)
    local out = {}
    for index, entry in ipairs(list) do out[index] = entry.item end
    return out
  end
  local found = items.compare(lower, mine, theirs, {}, { c = { prediction = "x" } })
  equal({ ids(found.regressed), ids(found.fixed), ids(found.only_here), ids(found.only_there), found.unchanged, found.reworded },
    { { "b", "e" }, { "a", "d" }, { "new" }, { "old" }, 1, 1 })
  equal(found.regressed[2].value, nil)
  local near = direction.new { name = "loss", direction = "lower", epsilon = 1 }
  equal(#items.compare(near, mine, theirs, {}, {}).regressed, 1)
  equal(items.values({}, lower), nil)
  equal(items.values({}, higher, { q = { score = 1 } }), { q = 1 })
end)

test("of a fitness, a component that is worse by findings of its own is restored as a whole", function()
  local mine = { ["lint:a.lua:3"] = 0, ["tests:x"] = 0, ["tests:y"] = 1, ["bench:p"] = 1 }
  local theirs = { ["tests:x"] = 1, ["tests:y"] = 1, ["bench:p"] = 1 }
  local record = { value = 0.1, secondary_metrics = { lint = 0, ["lint.count"] = 1, tests = 0.5, bench = 2 } }
  local other = { value = 0.9, secondary_metrics = { lint = 1, ["lint.count"] = 0, tests = 1, bench = 1 } }
  local components = items.components(record, other, mine, theirs)
  local targets = items.targets(higher, items.compare(higher, mine, theirs, {}, {}), components, record, other)
  equal({ #targets, targets[1].item, targets[2].component, targets[2].want }, { 2, "tests:x", "lint", 1 })
  equal({ items.is_of("lint:a.lua:3", targets), items.is_of("tests:y", targets), items.is_of("lint", targets) }, { true, false, false })
  local marks = {}
  for _, one in ipairs(items.metrics(record, other, "score", {}, components)) do marks[one.name] = one.mark or "-" end
  equal(marks, { lint = "worse", tests = "worse", bench = "better", ["lint.count"] = "-" })
  equal({ items.reached(higher, targets, 0.5, { ["tests:x"] = 1 }, { lint = 0.5 }) }, { { true }, 1 })
  equal({ items.reached(higher, targets, 0.5, nil, { lint = 1 }) }, { { [2] = true }, 1 })
  equal(select(2, items.reached(higher, targets, 1, nil, nil)), 0)
end)

test("a new finding is to be gone again where its linter ran: one that is not known is not called gone", function()
  local record = { value = 1, items = { ["lint:a: new"] = 0, ["lint:b: old"] = 0 }, secondary_metrics = { lint = 0, ["lint.count"] = 2 } }
  local other = { value = 0, items = { ["lint:b: old"] = 0, ["lint:c: gone"] = 0 }, secondary_metrics = { lint = 0, ["lint.count"] = 2 } }
  local mine, theirs = items.values(record, higher), items.values(other, higher)
  local found = items.findings(items.compare(higher, mine, theirs, {}, {}), record, other)
  local targets = items.targets(higher, found, items.components(record, other, mine, theirs), record, other)
  equal({ #targets, targets[1].item, targets[1].component, targets[1].finding }, { 1, "lint:a: new", "lint", true })
  local function reached(values, metrics) return select(2, items.reached(higher, targets, 1, values, metrics)) end
  equal(reached(mine, record.secondary_metrics), 0)
  equal(reached(theirs, other.secondary_metrics), 1)
  equal(reached({ ["tests:x"] = 1 }, { ["lint.count"] = 0 }), 1)
  equal(reached(nil, { ["lint.count"] = 0 }), 1)
  equal(reached({ ["tests:x"] = 1 }, { ["lint.count"] = 9 }), 0, "findings that were not recorded")
  equal(reached({ ["lint:b: old"] = 0 }, {}), 0, "it did not run")
end)

tap.with_room("noise", "a guard that was not held is to hold against all that its reason names", function()
  local all = { c0000 = { secondary_metrics = { size = 100 } }, c0001 = { secondary_metrics = { size = 80 } } }
  local history = { get = function(_, id) return all[id] end }
  local function targets(reason, max)
    return items.targets(higher, nil, {}, { value = 2, rollback_reason = reason, secondary_metrics = { size = 130 } }, { value = 1 },
      { history = history, metrics = { size = { direction = "lower" } }, guards = { { metric = "size", max_regression = max or "5%" } } })
  end
  local function holds(list, size) return select(2, items.reached(higher, list, 2, nil, { size = size })) end
  local list = targets "guard size: 30 % worse than the baseline c0000 was, at most 5 % allowed"
  equal({ #list, list[1].guard, list[1].want }, { 1, "size", 100 })
  equal({ holds(list, 130), holds(list, 105), holds(list, 106), holds(list, nil) }, { 0, 1, 0, 0 })
  list = targets("guard size: worse than c0001 and c0000", 10)
  equal({ holds(list, 90), holds(list, 91) }, { 1, 0 })
  equal(#targets "screened out", 0)
  equal(#targets "guard other: 3 worse than c0000", 0)
end)

-- A history of { id = { parents, value, items } }.
local function history_of(records)
  for id, record in pairs(records) do record.id = id end
  return { get = function(_, id) return records[id] end }, records
end

test("the ancestor to go back to is the nearest that passes all that regressed, else the nearest of both", function()
  local history, all = history_of {
    c0000 = { parents = {}, value = 1, items = { a = 1, b = 0 } },
    c0001 = { parents = { "c0000" }, value = 2, items = { a = 1, b = 1 } },
    c0002 = { parents = { "c0001" }, value = 2, items = { a = 0, b = 1 } },
    c0003 = { parents = { "c0002", "c0000" }, value = 2, items = { a = 0, b = 0 } },
    c0004 = { parents = { "c0001" }, value = 1, items = { a = 1, b = 1 } },
    c0009 = { parents = { "c0404" }, value = 3 },
  }
  local both = { { item = "a", want = 1 }, { item = "b", want = 1 } }
  local function to(targets, other)
    local found = items.go_back(history, higher, targets, all.c0003, all[other])
    return found and { found.candidate, found.generations, found.passes }
  end
  equal(to({ both[1] }, "c0004"), { "c0000", 1, true })
  equal(to({ both[2] }, "c0004"), { "c0002", 1, true })
  equal(to(both, "c0004"), { "c0001", 2, true })
  equal(to({ { item = "a", want = 7 } }, "c0004"), { "c0000", 1, false })
  equal(to({ { want = 2 } }, "c0004"), { "c0002", 1, true })
  equal(items.go_back(history, higher, both, all.c0009, { id = "c0404" }), nil)
end)

test("the other candidate is the one to go back to where it is no ancestor and better than the one that would be", function()
  local function to(metric, value, outcome)
    local history, all = history_of {
      c0000 = { parents = {}, value = 0.04, outcome = "baseline" },
      c0001 = { parents = { "c0000" }, value = value, outcome = outcome or "kept" },
      c0002 = { parents = { "c0000" }, value = 0.02, outcome = "kept" },
    }
    return items.go_back(history, metric, { { item = "a", want = 1 } }, all.c0002, all.c0001)
  end
  equal(to(higher, 1), { candidate = "c0001", value = 1, passes = true, instead_of = "c0000" })
  equal(to(higher, 0.04), { candidate = "c0000", value = 0.04, generations = 1, passes = false }, "a tie")
  equal(to(higher, 0.03).candidate, "c0000", "a worse one")
  equal(to(higher, nil).candidate, "c0000", "one without a value")
  equal(to(lower, 1).candidate, "c0000", "lower is better")
  equal(to(lower, 0.001).candidate, "c0001", "lower is better")
  equal(to(higher, 1, "reverted_worse_metric").candidate, "c0001", "another was better then")
  equal(to(higher, 1, "reverted_gate_failure").candidate, "c0000", "what the project's own CI refuses is no parent")
  equal(to(higher, 1, "reverted_threshold_failure").candidate, "c0000", "nor what lies outside of the thresholds")
end)

local function shell(dir, script)
  local file = assert(io.open(dir .. "/script.sh", "w"))
  file:write("cd '", dir, "/repo' || exit 1\n", script)
  file:close()
  local env = ("HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b")
    :format(dir)
  assert(os.execute(("%s sh -e '%s/script.sh'"):format(env, dir)), script)
end

local BEFORE = [[
seq 1 40 >plain; printf 'a\r\nb\r\nc\r\n' >crlf; printf 'x\ny' >nonl; printf '\0bin' >bin; ln -s plain link; seq 1 30 >ren
echo hi >'sp ace'; echo del >del; echo t >typ; echo e >mode; seq 50 80 >renm; seq 5 25 >filedir; : >emptied; mkdir was; echo q >was/in
printf '\0\1\2\3\4\5\6\7\10\n%s' "$(seq 1 60)" >binren
]]
local AFTER = [[
sed -i 's/^3$/three/; s/^20$/twenty/; s/^35$/thirtyfive/' plain; printf 'a\r\nB\r\nc\r\n' >crlf; printf 'x\ny\nz' >nonl
printf '\0bin2' >bin; ln -sfn nonl link; git mv ren ren2; sed -i 's/^20$/twenty/' ren2; echo ho >'sp ace'; rm del; rm typ
ln -s plain typ; chmod +x mode; echo q >>mode; git mv renm renm2; chmod +x renm2; echo new >new; printf nonewline >new2; : >newempty
git rm -q --cached filedir; mv filedir tmp; mkdir filedir; mv tmp filedir/in; rm emptied; printf '\0' >newbin; rm -r was; echo file >was
git mv binren binren2; printf more >>binren2; chmod +x crlf
]]

-- Runs body(repo, dir, pieces) in a repository with every kind of change.
local function with_odd_changes(body)
  local dir = assert(fs.tempdir "undisturbed-against-")
  assert(fs.mkdir(dir .. "/repo"))
  shell(dir, "git init -q -b main .\n" .. BEFORE .. "git add -A; git commit -qm a\n" .. AFTER .. "git add -A; git commit -qm b\n")
  local ok, message = xpcall(function()
    local repo <close> = assert(git.open(dir .. "/repo"))
    body(repo, dir, assert(pieces.of(repo, "HEAD~1", "HEAD")))
  end, debug.traceback)
  assert(fs.remove_tree(dir))
  if not ok then error(message, 0) end
end

test("links, renames, new, deleted and binary files, modes, CRLF and missing line ends are each a piece that can be taken back", function()
  with_odd_changes(function(repo, dir, list)
    local kinds = {}
    for _, piece in ipairs(list) do kinds[#kinds + 1] = pieces.title(piece):gsub(" @@.*", "") end
    table.sort(kinds)
    equal(kinds, { "binary file bin", "change of type typ", "crlf", "deleted file del", "deleted file was/in", "link link", "mode",
      "mode crlf", "mode mode", "mode renm2", "new binary file newbin", "new file new", "new file new2", "new file was", "nonl", "plain",
      "plain", "plain", "ren2", "rename emptied to newempty", "rename filedir to filedir/in", "rename ren to ren2",
      "rename renm to renm2", "renamed binary file binren2", "sp ace" })
    local numbers = {}
    for number in ipairs(list) do numbers[number] = number end
    equal(list:without(numbers), repo:commit_info("HEAD~1").tree, "without all of it: the old tree")
    equal(list:without {}, repo:commit_info("HEAD").tree)
    for _, group in ipairs(list.groups) do
      local tree = assert(list:without(group))
      shell(dir, ("git diff-tree -p --binary %s HEAD | git apply -R --index; [ \"$(git write-tree)\" = %s ]; git reset -q --hard")
        :format(tree, tree))
      local left = assert(pieces.of(repo, tree, "HEAD"))
      assert(#left >= 1 and #left <= #group + 2, "taken back is what was asked for")
    end
  end)
end)

test("a file and a folder of its name are taken back together", function()
  with_odd_changes(function(_, _, list)
    local together = {}
    for _, group in ipairs(list.groups) do
      if #group > 1 then together[#together + 1] = group end
    end
    equal(#together, 1)
    local titles = {}
    for index, number in ipairs(together[1]) do titles[index] = pieces.title(list[number]) end
    table.sort(titles)
    equal(titles, { "deleted file was/in", "new file was" })
  end)
end)

test("any pieces but those that go together can be taken back at once, in any order", function()
  with_odd_changes(function(repo, _, list)
    local rng = random.stream(1, "pieces")
    for _ = 1, SANITIZED and 5 or 40 do
      local gone, kept = {}, {}
      for _, group in ipairs(list.groups) do
        local into = rng:integer(1, 2) == 1 and gone or kept
        table.move(group, 1, #group, #into + 1, into)
      end
      local tree = assert(list:without(gone))
      local paths = {}
      for _, entry in ipairs(repo:entries(tree)) do paths[entry.path] = entry.mode .. entry.id end
      for _, from in ipairs { "HEAD", "HEAD~1" } do -- a file with one piece is as it was, or as it is
        local stays = from == "HEAD" and kept or gone
        for _, number in ipairs(stays) do
          if list[number].kind == "binary file" or list[number].kind == "new file" or list[number].kind == "deleted file" then
            local expected
            for _, entry in ipairs(repo:entries(from, list[number].path)) do
              if entry.path == list[number].path then expected = entry.mode .. entry.id end
            end
            equal(paths[list[number].path], expected, list[number].path)
          end
        end
      end
    end
  end)
end)

test("changes that are near each other are pieces of their own, and the one nearest to a line is named", function()
  local dir = assert(fs.tempdir "undisturbed-against-")
  assert(fs.mkdir(dir .. "/repo"))
  shell(dir, "git init -q .; printf 'a\\nb\\nc\\nd\\ne\\nf' >s.pl; git add -A; git commit -qm a\n"
    .. "printf 'A\\nb\\nd\\ne\\nF\\nG' >s.pl; git add -A; git commit -qm b\n")
  do
    local repo <close> = assert(git.open(dir .. "/repo"))
    local list = assert(pieces.of(repo, "HEAD~1", "HEAD")) -- a to A; c gone behind line 2; f to F and G
    equal(#list, 3)
    local expected = { "a\nb\nd\ne\nF\nG", "A\nb\nc\nd\ne\nF\nG", "A\nb\nd\ne\nf" }
    for number, text in ipairs(expected) do equal(repo:read(assert(list:without { number }), "s.pl"), text) end
    equal(repo:read(assert(list:without { 3, 1 }), "s.pl"), "a\nb\nd\ne\nf")
    for line, numbers in pairs { { 1 }, { 2 }, { 2 }, { 3 }, { 3 }, { 3 }, { 3 } } do
      equal(list:named { "s.pl:" .. line }, numbers, line)
      equal(list:named { ("syntax error at s.pl line %d, near x"):format(line) }, numbers, line)
    end
    equal(list:named { "s.pl:40" }, { 1, 2, 3 })
  end
  assert(fs.remove_tree(dir))
end)

test("pieces are named by path, by file name and by line, and never by part of a name", function()
  local dir = assert(fs.tempdir "undisturbed-against-")
  assert(fs.mkdir(dir .. "/repo"))
  shell(dir, "git init -q .; mkdir lib; seq 1 40 >lib/calc.lua; echo a >a.lua; echo n >notes; git add -A; git commit -qm a\n"
    .. "sed -i 's/^3$/x/; s/^30$/y/' lib/calc.lua; echo b >a.lua; echo m >notes; git add -A; git commit -qm b\n")
  do
    local repo <close> = assert(git.open(dir .. "/repo"))
    local list = assert(pieces.of(repo, "HEAD~1", "HEAD")) -- 1: a.lua, 2 and 3: lib/calc.lua, 4: notes
    local cases = {
      ["lib/calc.lua"] = { 2, 3 }, ["lib/calc.lua:30"] = { 3 }, ["calc.lua:3: no such name"] = { 2 }, ["lib/calc.lua:15"] = { 2, 3 },
      ["/home/x/lib/calc.lua:3"] = { 2 }, ["other/calc.lua"] = {}, ["a.lua."] = { 1 }, ["see a.lua, line 3"] = { 1 }, ["aa.lua"] = {},
      ["a.lua.orig"] = {}, ["a.luac"] = {}, ["take notes"] = {}, ["xa.lua a.lua"] = { 1 }, ["tests::a.lua::test_b"] = { 1 },
      ["a.lua:99999999999999999999"] = { 1 }, [""] = {},
    }
    for text, expected in pairs(cases) do equal(list:named { text }, expected, text) end
    equal(list:named { "a.lua", "lib/calc.lua:30" }, { 1, 3 })
  end
  assert(fs.remove_tree(dir))
end)

tap.done()
