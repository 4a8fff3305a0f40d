-- mutants: changes the product in one small place at a time, and looks whether a test fails. Of all such changes in
-- lua/apsis/core and runtime a sample is drawn, by a number of each change's own: a seed draws the same ones, whatever
-- else changes in the code. Each is built in a copy of the tree, and tried in a sandbox of its own (bwrap), as a mutant
-- of the cage or of remove_tree could do harm. Prints the survivors and the share that was killed.
--   apsis exec tests/mutants/mutants.lua BUILD COUNT SEED JOBS ONLY [PART]     called by `make mutants`
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"
local random = require "apsis.random"

package.path = "tests/mutants/?.lua;" .. package.path
local rooms, sites = require "rooms", require "sites"

local build, count, seed, jobs, only, part = ... -- only: what the files' paths begin with, or ""
count, seed, jobs, part = math.tointeger(count), math.tointeger(seed), math.tointeger(jobs), math.tointeger(part)

local TEST_S, LEAST <const> = 240, 0.95

local function sh(script, seconds)
  return assert(process.run { argv = { "sh", "-c", script }, timeout_s = seconds, tail_bytes = 4000 })
end

local is_root <const> = sh("id -u", 10).stdout.head == "0\n"

local function lines(script)
  local list = {}
  for line in sh(script, 60).stdout.head:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

-- Changes that change nothing: "path: the changed line".
local function equivalents()
  local known = {}
  for line in (fs.read "tests/mutants/equivalent" or ""):gmatch "[^\n]+" do
    if not line:find "^#" then known[line] = true end
  end
  return known
end

local function squeezed(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

-- The tests that belong to a file: C and Lua ones before scripts, which take longer.
local function tests_of(path)
  local tests = rooms[path] or rooms[path:match "^(.*)/[^/]*$"]
  if not tests then error(path .. ": no tests in tests/mutants/rooms.lua") end
  local quick, scripts = {}, {}
  for _, test in ipairs(tests) do table.insert(test:find "%.t" and scripts or quick, test) end
  return table.move(scripts, 1, #scripts, #quick + 1, quick)
end

-- Names what stands in the list of equivalents and is no change of today's code.
local function report_stale(known, met)
  for line in pairs(known) do
    if not met[line] and line:sub(1, #only) == only then io.stderr:write("tests/mutants/equivalent: no such change: ", line, "\n") end
  end
end

-- The sample: the count changes with the lowest numbers; and how many there are.
local function draw()
  local all, texts, known, met, seen, drawn = {}, {}, equivalents(), {}, {}, {}
  for _, path in ipairs(lines "ls runtime/*.c runtime/*/*.c lua/apsis/core/*.lua | LC_ALL=C sort") do
    if path:sub(1, #only) == only and rooms[path] ~= false then
      texts[path] = assert(fs.read(path))
      assert(tests_of(path))
      local found = sites.of(path, texts[path])
      table.move(found, 1, #found, #all + 1, all)
    end
  end
  for _, site in ipairs(all) do
    local _, before, after = sites.apply(site, texts[site.path])
    local name = ("%s: %s: %s"):format(site.path, squeezed(before), squeezed(after))
    met[site.path .. ": " .. squeezed(after)] = true
    seen[name] = (seen[name] or 0) + 1
    site.drawn = random.stream(seed, name .. seen[name]):random()
  end
  if not part then report_stale(known, met) end
  table.sort(all, function(a, b) return a.drawn < b.drawn end)
  for _, site in ipairs(all) do
    if #drawn == count then break end
    site.text, site.before, site.after = sites.apply(site, texts[site.path])
    if not known[site.path .. ": " .. squeezed(site.after)] then drawn[#drawn + 1] = site end
  end
  return drawn, #all
end

-- A new copy of the tree with what is built of it: its folder.
local function copy(index)
  local dir = fs.realpath(build) .. "/mutants/" .. index
  assert(fs.remove_tree(dir))
  assert(fs.mkdir(dir))
  local script = [[dir='%s' && git ls-files -z | xargs -0 cp --parents -pt $dir && mkdir $dir/build && cd '%s' &&
    find . -maxdepth 2 -path ./mutants -prune -o -type f -print0 | xargs -0 cp --parents -pt $dir/build && cd $dir &&
    make build/apsis >make.log 2>&1 && cp -r build unchanged]]
  local result = sh(script:format(dir, build), 600)
  if result.code ~= 0 then error("the copy cannot be built: " .. dir .. "/make.log") end
  return dir
end

-- Runs a script in the copy: everything else is read-only, other processes and the network are not there. Root keeps
-- its user namespace, as some tests change owners.
local function boxed(dir, script)
  local argv = { "bwrap", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--cap-add", "ALL",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--bind", dir,
    dir, "--chdir", dir, "--setenv", "HOME", "/tmp", "--setenv", "APSIS", dir .. "/build/apsis", "--setenv", "BUILD",
    "build", "--die-with-parent", "sh", "-c", script }
  if is_root then table.remove(argv, 2) end
  return assert(process.run { argv = argv, timeout_s = 3600, tail_bytes = 2000 })
end

-- What a C file becomes: a change that leaves it as it was, but for debugging information, changes nothing.
local function object_of(path) return path:match "^runtime/cage/" and "cage" or path:match "^runtime/(.*)c$" .. "o" end

-- The same for Lua: is the code the same?
local function same_code(text, original)
  return string.dump(load(text), true) == string.dump(load(original), true)
end

-- Builds and runs the tests one after another until one fails, twice, or does not end: once is not enough, as a busy
-- machine may be the reason. What failed with nothing changed (known/TEST) does not count. "killed", by which;
-- "survived"; "invalid" if it cannot be built; "same" if the object file (or nil: is not looked at) is what it was.
local function try(dir, tests, object)
  local programs = {}
  for _, test in ipairs(tests) do
    if test:find "^build/" then programs[#programs + 1] = test end
  end
  local script = ([[
    make build/apsis %s >make.log 2>&1 || exit 77
    same() { strip -g -o before.o unchanged/$1 && strip -g -o after.o build/$1 && cmp -s before.o after.o; }
    if [ -n "%s" ] && same "%s"; then exit 78; fi
    names() { sed -n 's/^not ok [0-9]* //p' test.log; }
    fails() {
      timeout -k 5 %d tests/run ${test%%@*} >test.log 2>&1; code=$?
      [ $code -ge 124 ] && return 0
      [ $code -ne 0 ] || return 1
      known=known/$(echo "$test" | tr / _)
      [ ! -e "$known" ] || ! grep -q '^1\.\.' test.log || names | grep -qvxF -f "$known"
    }
    for test in %s; do
      case $test in *@*) export APSIS_CAGE=${test#*@} ;; *) unset APSIS_CAGE ;; esac
      if fails && { [ $code -ge 124 ] || fails; }; then names >failed; echo "$test"; exit 1; fi
    done]]):format(table.concat(programs, " "), object or "", object, TEST_S, table.concat(tests, " "))
  local result = boxed(dir, script)
  if result.code == 77 then return "invalid" end
  if result.code == 78 then return "same" end
  if result.code == 0 then return "survived" end
  return "killed", result.stdout.head:match "[^\n]+"
end

-- Whether a test passes with nothing changed. What fails in it then is named, and kills nothing from then on; a test
-- that does not even end kills nothing at all.
local function passes_unchanged(dir, test, known)
  if known[test] then return true end
  assert(fs.remove_tree(dir .. "/failed"))
  if try(dir, { test }) == "survived" then
    known[test] = true
    return true
  end
  local names = fs.read(dir .. "/failed")
  assert(fs.mkdir(dir .. "/known"))
  assert(fs.append(dir .. "/known/" .. test:gsub("/", "_"), names or ""))
  io.stderr:write("left out, as it fails with nothing changed: ", test, ": ", names or "all", "\n")
  return false
end

-- What comes from an item of a list on.
local function from(list, item)
  for index, other in ipairs(list) do
    if other == item then return table.move(list, index, #list, 1, {}) end
  end
end

-- The verdict on one change, and the test that killed it.
local function judge(dir, site, known)
  local path, in_lua = dir .. "/" .. site.path, site.path:find "%.lua$"
  local original = assert(fs.read(path))
  if in_lua and not load(site.text) then return "invalid" end
  if in_lua and same_code(site.text, original) then return "same" end
  local tests = tests_of(site.path)
  while true do
    assert(fs.write(path, site.text))
    local verdict, by = try(dir, tests, not in_lua and object_of(site.path))
    assert(fs.write(path, original))
    if verdict ~= "killed" or not by or passes_unchanged(dir, by, known) then return verdict, by end
    tests = from(tests, by)
    if #(fs.read(dir .. "/failed") or "") == 0 then table.remove(tests, 1) end
  end
end

-- Tries each jobs-th change, and prints a line for each: "verdict\tindex\tby\tseconds\twhere: the changed line", also
-- to the log.
local function work(drawn)
  local dir, known = copy(part), {}
  local log <close> = assert(io.open(build .. "/mutants.log", "a"))
  for index = part, #drawn, jobs do
    local site, began = drawn[index], os.time()
    local verdict, by = judge(dir, site, known)
    local line = ("%s\t%d\t%s\t%d s\t%s:%d: %s\n"):format(verdict, index, by or "", os.time() - began, site.path,
      site.number, squeezed(site.after))
    io.stdout:write(line):flush()
    log:write(line):flush()
  end
end

local function report(drawn, verdicts, total)
  local killed, survived, invalid, same = 0, 0, 0, 0
  for index, site in ipairs(drawn) do
    local verdict = verdicts[index] or "not tried"
    if verdict == "killed" then killed = killed + 1 end
    if verdict == "survived" then
      survived = survived + 1
      print(("survived: %s:%d: %s\n-%s\n+%s"):format(site.path, site.number, site.kind, site.before, site.after))
    elseif verdict == "invalid" then invalid = invalid + 1
    elseif verdict == "same" then same = same + 1
    elseif verdict == "not tried" then print(("not tried: %s:%d"):format(site.path, site.number)) end
  end
  local share = killed / math.max(1, killed + survived)
  print(("%d of %d killed: %.1f %% (seed %d; %d of %d changes drawn, %d could not be built, %d gave the same code)")
    :format(killed, killed + survived, 100 * share, seed, #drawn, total, invalid, same))
  return share >= LEAST
end

local drawn, total = draw()
if part then return work(drawn) end
assert(fs.write(build .. "/mutants.log", "")) -- what goes on meanwhile
local handles, verdicts = {}, {}
for index = 1, jobs do
  handles[index] = assert(process.start { argv = { host.executable, "exec", "tests/mutants/mutants.lua", build,
    tostring(count), tostring(seed), tostring(jobs), only, tostring(index) }, head_bytes = 1048576,
    stderr_file = build .. "/mutants.log" })
end
for _, handle in ipairs(handles) do
  local result = assert(handle:wait())
  if result.code ~= 0 then
    local how = result.signal_name or result.code and "exit " .. result.code or result.outcome
    print(("a part ended early: %s"):format(how))
  end
  for verdict, index in result.stdout.head:gmatch "(%a+)\t(%d+)\t[^\n]*" do verdicts[tonumber(index)] = verdict end
end
os.exit(report(drawn, verdicts, total) and 0 or 1, true)
