-- notify: what a command of `on:` gets, what is said of it, and that nothing it does is more than said.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local environment = require "apsis.live.cage.environment"
local notify = require "apsis.goals.notify"
local process = require "apsis.process"
local tap = require "tap"
local wait = require "apsis.wait"

local test, equal, matches = tap.test, tap.equal, tap.matches

local dir = assert(fs.tempdir "notify-")
local said = {}

-- A notify whose command of a kind is this one; more: other parts of what it is made of.
local function with(on, more)
  said = {}
  local spec = { on = on, dir = dir, log = function(level, text) said[#said + 1] = level .. " " .. text end,
    run_dir = function(record) return ("%s/runs/%04d"):format(dir, record.experiment) end,
    facts = { program = "speed", branch = "autoloop/speed", state_branch = "memory/autoloop" } }
  for key, value in pairs(more or {}) do spec[key] = value end
  return notify.new(spec)
end

local line = { experiment = 7, candidate = "c0007", commit = ("a"):rep(40), outcome = "kept", status = "keep",
  primary_metric = 1.5, parents = json.array {}, rollback_reason = json.null, hypothesis = "shorter\nnames \u{e9}",
  timestamp = "2026-11-22T10:00:00Z" }

local function logged(kind) return fs.read(("%s/runs/0007/on-%s.log"):format(dir, kind or "kept")) end

test("where no command is named there is nothing", function()
  equal(with(nil), nil)
  equal(with {}, nil)
  equal(with { timeout_sec = 3 }, nil)
end)

test("a kind without a command of its own is passed over", function()
  local told = with { paused = "echo paused" }
  for _, kind in ipairs { "kept", "rejected", "completed" } do equal(told:tell(kind, line), nil) end
  equal(told:tell("paused", line), true)
  equal(said, {})
end)

test("stdin is the journal line, one line of JSON, as the journal has it", function()
  local record = setmetatable({}, { __index = function(_, key) return key == "id" and "c0007" or nil end })
  for key, value in pairs(line) do record[key] = value end
  record.id, record.value, record.kept, record.metrics = "c0007", 1.5, true, {} -- a record's own short names
  equal(with { kept = "cat" }:tell("kept", record), true)
  local text = logged()
  equal(select(2, text:gsub("\n", "")), 1)
  equal(json.decode(text), line)
  equal(text:sub(-1), "\n")
end)

test("a record that a fold left short is filled in first", function()
  local asked = 0
  local record = setmetatable({ experiment = 7, outcome = "kept" }, { __index = function(self, key)
    asked = asked + 1
    if key == "timestamp" then
      rawset(self, "timestamp", "2026-11-22T10:00:00Z")
      rawset(self, "hypothesis", "read again")
    end
    return rawget(self, key)
  end })
  equal(with { kept = "cat" }:tell("kept", record), true)
  equal(json.decode(logged()).hypothesis, "read again")
end)

test("without a line stdin is null, and there is no log", function()
  fs.remove_tree(dir .. "/runs")
  equal(with { paused = "read line; test \"$line\" = null" }:tell("paused", nil, { reason = "conflict" }), true)
  equal(fs.stat(dir .. "/runs"), nil)
end)

test("it runs in the project's directory, and knows what it is about", function()
  local told = with { completed = "pwd; echo $APSIS_KIND $APSIS_PROGRAM $APSIS_BRANCH $APSIS_MEMORY_BRANCH "
    .. "$APSIS_CANDIDATE $APSIS_COMMIT; echo $APSIS_REASON; command -v " .. host.executable:match "[^/]*$" }
  equal(told:tell("completed", line, { reason = "target 1.5 reached" }), true)
  equal(logged "completed",
    ("%s\ncompleted speed autoloop/speed memory/autoloop c0007 %s\ntarget 1.5 reached\n%s\n"):format(fs.realpath(dir),
    ("a"):rep(40), host.executable))
end)

test("what there is nothing to say of is unset, also where the caller has it", function()
  host.setenv("APSIS_MEMORY_BRANCH", "another's")
  host.setenv("APSIS_REASON", "another's")
  local told = with({ kept = "echo ${APSIS_MEMORY_BRANCH-unset} ${APSIS_REASON-unset} ${APSIS_COMMIT-unset}" },
    { facts = { program = "p" } })
  equal(told:tell("kept", { experiment = 7, outcome = "kept", commit = json.null, rollback_reason = json.null }), true)
  host.setenv("APSIS_MEMORY_BRANCH")
  host.setenv("APSIS_REASON")
  equal(logged(), "unset unset unset\n")
end)

test("the reason of a rejection is the line's, cut between characters where it is long", function()
  local told = with { rejected = 'printf %s "$APSIS_REASON"' }
  equal(told:tell("rejected", { experiment = 7, rollback_reason = "no \0better" }), true)
  equal(logged "rejected", "no better")
  equal(told:tell("rejected", { experiment = 7, rollback_reason = "x" .. ("\u{e9}"):rep(100000) }), true)
  equal(logged "rejected", "x" .. ("\u{e9}"):rep(1999))
  equal(said, {})
end)

test("a list is run without a shell, its words as they are", function()
  equal(with { kept = { "printf", "%s|", "$HOME", "a b", "" } }:tell("kept", line), true)
  equal(logged(), "$HOME|a b||")
end)

test("the user's own environment, ssh's and git's settings too, but not another repository's place", function()
  local script = ([[GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere GIT_WORK_TREE=/nowhere GIT_QUARANTINE_PATH=/nowhere \
    GIT_SSH_COMMAND='ssh -i key' GIT_CONFIG_COUNT=0 OWN=mine '%s' exec own.lua]]):format(host.executable)
  assert(fs.write(dir .. "/own.lua", [[
    local notify = require "apsis.goals.notify"
    notify.new { on = { kept = "env" }, dir = ".", run_dir = function() return "runs/0007" end, log = print }
      :tell("kept", { experiment = 7 })
  ]]))
  local result = assert(process.run { shell = script, cwd = dir })
  equal({ result.code, result.stdout.head }, { 0, "" })
  local got = logged()
  for _, kept in ipairs { "GIT_SSH_COMMAND=ssh -i key", "GIT_CONFIG_COUNT=0", "OWN=mine" } do
    assert(("\n" .. got):find("\n" .. kept .. "\n", 1, true), kept)
  end
  assert(not got:find("/nowhere", 1, true), got)
end)

test("a key that the provider's commands do not see is the user's own here, and is in no warning", function()
  host.setenv("HOOK_TEST_TOKEN", "sesame-sesame-sesame")
  environment.withhold { api_key_env = "HOOK_TEST_TOKEN" }
  equal(os.getenv "HOOK_TEST_TOKEN", nil)
  equal(with { kept = 'echo "refused: $HOOK_TEST_TOKEN" >&2; exit 4' }:tell("kept", line), false)
  equal(logged(), "refused: sesame-sesame-sesame\n")
  matches(said[1], "exit 4: refused: %[secret%]")
end)

test("a failure is a warning with the last words, the log and that the experiment is not affected; nothing is raised", function()
  equal(with { kept = "echo first; echo 'no \27[31mright to push' >&2; echo >&2; exit 3" }:tell("kept", line), false)
  equal(said, { ("warn on: kept: the command ended with exit 3: no  [31mright to push (%s/runs/0007/on-kept.log); the "
    .. "experiment is not affected"):format(dir) })
  equal(with { paused = "echo only; kill -9 $$" }:tell("paused", line), false)
  matches(said[1], "on: paused: the command was killed by SIGKILL: only %(")
  equal(with { kept = "exit 1" }:tell("kept", line), false)
  matches(said[1], "ended with exit 1 %(")
end)

test("its last words are the last few lines, without git's hints, whole ones where they fit", function()
  local function words(script)
    equal(with { kept = "{ " .. script .. "; } >&2; exit 1" }:tell("kept", line), false)
    return said[1]:match "exit 1: (.*) %(/"
  end
  equal(words "seq 9", "6 | 7 | 8 | 9")
  equal(words "echo; echo '  ! [rejected]'; echo; printf 'error: failed\\r\\n'; echo 'hint: fetch'; echo 'hint: first'",
    "! [rejected] | error: failed")
  equal(words(("echo first; printf '%%0%dd\\n' 7; echo last"):format(298)), "last")
  equal(words(("echo first; printf '%%0%dd\\n' 7"):format(400)), ("0"):rep(300))
  equal(words "echo 'hint: only'; printf '\\377\\n'", "\xff")
end)

test("a command that is not there, cannot be run, or has no directory is a warning", function()
  equal(with { kept = { "no-such-command", "x" } }:tell("kept", line), false)
  matches(said[1], "^warn on: kept: the command could not be run: E%u+: no%-such%-command")
  equal(with({ kept = "true" }, { dir = dir .. "/gone" }):tell("kept", line), false)
  matches(said[1], "could not be run: ENOENT")
  equal(with { kept = { "echo", ("x"):rep(200000) } }:tell("kept", line), false)
  matches(said[1], "could not be run: E2BIG")
end)

test("one that takes too long is ended, and said so", function()
  equal(with { kept = "echo slowly; sleep 600 & sleep 600", timeout_sec = 0.2 }:tell("kept", line), false)
  matches(said[1], "^warn on: kept: the command ran over its limit of 0.2 s: slowly %(")
end)

test("one that does not read its input, or closes it, does no harm, however long the line is", function()
  local long = { experiment = 7, hypothesis = ("x"):rep(3000000) }
  equal(with { kept = "exec <&-; echo done" }:tell("kept", long), true)
  equal(with { kept = "true" }:tell("kept", long), true)
  equal(with { kept = "wc -c" }:tell("kept", long), true)
  matches(logged(), "^30000%d%d\n$")
  equal(said, {})
end)

test("ten megabytes of output are in the log, and the warning has the last line, in a few words", function()
  equal(with { kept = "yes 0123456789 | head -c 10000000; echo; echo the end; exit 1" }:tell("kept", line), false)
  equal(fs.stat(dir .. "/runs/0007/on-kept.log").size, 10000009)
  matches(said[1], "exit 1: [%d |]*the end %(")
  equal(with { kept = "yes x | tr -d '\\n' | head -c 1000000; exit 1" }:tell("kept", line), false)
  assert(#said[1] < 600, #said[1])
end)

test("what it leaves running is ended with it", function()
  local marker = ("notify%d"):format(math.floor(wait.now() * 1000000))
  equal(with { kept = (
    "(setsid sh -c 'while :; do sleep 1; done # %s' </dev/null >/dev/null 2>&1 &) ; echo left"):format(marker) }:tell(
    "kept", line), true)
  equal(logged(), "left\n")
  local found
  for _ = 1, 200 do
    local pipe <close> = io.popen("grep -lz -- '" .. marker:gsub(".$", "[%0]")
      .. "' /proc/[0-9]*/cmdline 2>/dev/null | wc -l")
    found = tonumber(pipe:read("a"))
    if found == 0 then break end
    wait.sleep(0.01)
  end
  equal(found, 0)
end)

test("it runs where other users' files are theirs, not nobody's: ssh reads no configuration of nobody's", function()
  local before = os.getenv "APSIS_CAGE"
  equal(with { kept = "readlink /proc/self/ns/pid /proc/self/ns/user; echo ${APSIS_CAGE-unset}" }:tell("kept", line),
    true)
  equal(logged(), ("%s\n%s\n%s\n"):format(fs.readlink "/proc/self/ns/pid", fs.readlink "/proc/self/ns/user", before
    or "unset"))
  equal(os.getenv "APSIS_CAGE", before, "what is started next is as ever")
end)

test("an output that cannot be written is said, and the command is run all the same", function()
  assert(fs.write(dir .. "/file", ""))
  equal(with({ kept = "touch ran-without" }, { run_dir = function() return dir .. "/file/0007" end }):tell("kept",
    line), true)
  matches(said[1], "^warn on: kept: its output could not be written: ENOTDIR")
  assert(fs.stat(dir .. "/ran-without"))
  equal(with({ kept = "echo fits" }, { run_dir = function() return nil end }):tell("kept", line), true)
  equal(said, {})
end)

test("a second telling of the same line begins the log anew", function()
  local told = with { kept = "echo one" }
  equal({ told:tell("kept", line), told:tell("kept", line) }, { true, true })
  equal(logged(), "one\n")
end)

test("nothing that goes wrong on the way is raised", function()
  equal(with({ kept = "true" }, { run_dir = function() error "boom" end }):tell("kept", line), false)
  matches(said[1], "^warn on: kept: the command could not be run: .*boom; the experiment is not affected$")
  equal(with { kept = "true" }:tell("kept", { experiment = 7, bad = 0 / 0 }), false)
  matches(said[1], "could not be run: ")
  equal(with { kept = {} }:tell("kept", line), false)
end)

test("in the scheduler's task it waits without stopping the others", function()
  local told, result = with { kept = "sleep 0.05; echo ended" }, nil
  local task = coroutine.create(function() result = told:tell("kept", line) end)
  wait.task(task)
  local _, handle = coroutine.resume(task)
  wait.task(nil)
  equal({ coroutine.status(task), result }, { "suspended" })
  repeat local done = wait.any({ handle }, 10) until #done > 0
  wait.task(task)
  assert(coroutine.resume(task))
  wait.task(nil)
  equal({ coroutine.status(task), result, logged() }, { "dead", true, "ended\n" })
end)

test("a trapped signal ends it, and that is said", function()
  assert(wait.trap())
  equal(with { kept = ("kill -INT %s; sleep 600"):format(fs.readlink "/proc/self") }:tell("kept", line), false)
  matches(said[1], "^warn on: kept: the command was stopped: EINTR: interrupted by SIGINT %(.*; the experiment is not affected$")
end)

fs.remove_tree(dir)
tap.done()
