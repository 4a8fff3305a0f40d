-- calls: every call of a run by which apsis touches the system fails once. `apsis exec calls.lua BUILD [KIND[:NUMBER[:ERROR]]
-- [EVERY]]` counts the calls of `apsis baseline` and of `apsis run` (three experiments), then runs them once for each call and
-- each error that it may plausibly give, with that one failing; EVERY n takes each n-th case only. After each: apsis ended by
-- itself, within its time, in success (then nothing differs from a run that was left alone) or with a documented exit code and
-- a clear message; the journal is valid; and the next run, which nothing disturbs, completes. Exit 1 says which cases did not
-- hold, and how to do each again.
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/?.lua;" .. package.path
local fs = require "apsis.fs"
local host = require "apsis.host"
local project = require "project"
local tasks = require "apsis.core.tasks"

local build = assert(fs.realpath(arg[1] or "build"))
local only_kind, only_number, only_error = (arg[2] or ""):match "^(%a*):?(%d*):?(%a*)$"
local every = math.tointeger(tonumber(arg[3] or 1)) or 1
local jobs = math.tointeger(tonumber(os.getenv "JOBS" or 2)) or 2
local apsis, shim = build .. "/apsis", build .. "/faults/shim.so"
local root = ("%s/apsis-faults-%d"):format(project.base(build), host.pid)
local LIMIT_S = 30

local numbers = { EIO = 5, ENOSPC = 28, EINTR = 4, EMFILE = 24, ENOMEM = 12, short = 0 }
local texts = { EIO = "Input/output error", ENOSPC = "No space left on device", EINTR = "Interrupted system call",
  EMFILE = "Too many open files", ENOMEM = "Cannot allocate memory" }

-- Which errors a kind of call may give. A file that is only opened takes no space; a rename is not interrupted.
local kinds = { "write", "fsync", "rename", "open", "spawn", "poll", "read", "mkdir", "link", "unlink", "truncate", "pipe" }
local errors = {
  write = { "EIO", "ENOSPC", "EINTR", "ENOMEM", "short" }, fsync = { "EIO", "ENOSPC", "EINTR", "ENOMEM" },
  rename = { "EIO", "ENOSPC", "ENOMEM" }, open = { "EIO", "EINTR", "EMFILE", "ENOMEM" },
  create = { "EIO", "ENOSPC", "EINTR", "EMFILE", "ENOMEM" }, spawn = { "EIO", "EMFILE", "ENOMEM" }, poll = { "EINTR", "ENOMEM" },
  read = { "EIO", "EINTR" }, mkdir = { "EIO", "ENOSPC" }, link = { "EIO", "ENOSPC" }, unlink = { "EIO" }, truncate = { "EIO", "EINTR" },
  pipe = { "EMFILE", "ENOMEM" },
}
local documented = { [0] = true, [2] = true, [3] = true, [4] = true, [5] = true }

local function environment(place, fault, log)
  local env = project.environment(place)
  env.LD_PRELOAD, env.FAULT, env.FAULT_LOG = shim, fault or false, log
  return env
end

-- The calls of a command, in order: { kind, number (of its kind), call, path }.
local function calls_of(place, words)
  local log, calls = place .. "/calls", {}
  local code, output = project.command(place .. "/p", environment(place, nil, log), { apsis, table.unpack(words) })
  assert(code == 0, output)
  for kind, number, call, path in assert(fs.read(log)):gmatch "(%a+)\t(%d+)\t([^\t]*)\t([^\n]*)\n" do
    calls[#calls + 1] = { kind = kind, number = math.tointeger(number), call = call, path = path }
  end
  return calls
end

local function copy(from, to)
  project.copy(from, to)
  assert(fs.mkdir(to .. "/home"))
end

-- nil, or what was wrong with how apsis ended; whole: whether the journal is what it is without a fault.
local function ending_problem(case, code, output, how, whole)
  if not code then return "ended by " .. how end
  if not documented[code] then return "exit " .. code end
  if output:lower():find "traceback" then return "a traceback" end
  if code == 0 then return whole end
  if case.where == "stdout" then return nil end
  local text = texts[case.error]
  if output:find("EGIT: [^\n]*") then text = "EGIT: " end -- libgit2 says what it lacked, and forgets why
  if not (output:find(case.error, 1, true) or text and output:find(text, 1, true) or case.error == "short") then
    return "the message does not say what failed"
  end
  local _, count = output:gsub("apsis: [^\n]*\n", "")
  if count ~= 1 and code ~= 0 then return ("%d messages"):format(count) end
end

-- One case: the command with its fault, then without, and what is then there. nil, or what did not hold.
local function check(case, place, reference)
  local dir, env = place .. "/p", project.environment(place)
  local before = project.lines(dir)
  local code, output, how = project.command(dir, environment(place, ("%s:%d:%d"):format(case.kind, case.number, numbers[case.error]),
    place .. "/hit"), { apsis, table.unpack(case.words) }, LIMIT_S)
  case.code, case.output = code, output
  local hit = (fs.read(place .. "/hit") or ""):match "\t([^\t]*\t[^\t]*)\n$"
  if not hit then return "not reached" end
  case.what = hit:gsub("\t", " ")
  local problem = project.journal_problem(dir, before)
  if problem then return problem end
  before = project.lines(dir)
  local _, lines = project.lines(dir)
  problem = ending_problem(case, code, output, how, project.difference(lines, { table.unpack(reference, 1, case.lines) }))
  if problem then return problem end
  local more = project.is_finished(dir)
  for _, words in ipairs { { "baseline", "-q" }, { "run", "-q", more and "--iterations=1" or nil } } do
    if words[1] == "run" or #lines == 0 then
      code, output, how = project.command(dir, env, { apsis, table.unpack(words) }, LIMIT_S)
      if code ~= 0 then return ("apsis %s afterwards: %s: %s"):format(words[1], code and "exit " .. code or how, output) end
    end
  end
  problem = project.journal_problem(dir, before)
  if problem then return "afterwards " .. problem end
  _, lines = project.lines(dir)
  problem = project.difference(lines, { table.unpack(reference, 1, project.experiments + (more and 2 or 1)) })
    or project.repository_problem(dir, env, lines)
  if problem then return "afterwards " .. problem end
  code, output = project.command(dir, env, { apsis, "replay", "--check" }, LIMIT_S)
  if code ~= 0 then return "apsis replay --check: " .. output end
  problem = project.left_problem(dir)
  return problem and "afterwards " .. problem
end

-- The cases of a command: each call with each of its errors, or those that were asked for.
local function cases_of(calls, words, from, list)
  for _, call in ipairs(calls) do
    for _, name in ipairs(errors[call.call == "create" and "create" or call.kind]) do
      local named = (only_kind == "" or call.kind == only_kind) and (only_number == "" or call.number == tonumber(only_number))
        and (only_error == "" or name == only_error)
      if named then
        list[#list + 1] = { words = words, from = from, lines = words[1] == "run" and project.experiments + 1 or 1,
          kind = call.kind, number = call.number, call = call.call, path = call.path,
          error = name, where = call.path:find "^pipe:" and "stdout" or nil }
      end
    end
  end
end

local function describe(case)
  local what = (case.what or case.call):gsub(root:gsub("%p", "%%%0") .. "/[%w_-]*/?", "")
  return ("apsis %s: %s %d (%s) with %s"):format(case.words[1], case.kind, case.number, what, case.error)
end

local failures, tally = {}, {}

local function count(case, problem)
  local row = tally[case.kind] or { cases = 0, on = 0, stopped = 0, missed = 0, calls = {}, called = 0 }
  tally[case.kind] = row
  if problem == "not reached" then
    row.missed = row.missed + 1
    return
  end
  row.cases = row.cases + 1
  local key = case.words[1] .. case.number
  if not row.calls[key] then row.calls[key], row.called = true, row.called + 1 end
  if case.code == 0 then row.on = row.on + 1 elseif case.code then row.stopped = row.stopped + 1 end
  if not problem then return end
  case.problem = problem
  failures[#failures + 1] = case
end

local function run_all(cases, reference)
  local scheduler, following = tasks.new(), 0
  for _ = 1, jobs do
    scheduler:spawn(function()
      while following < #cases do
        following = following + 1
        local case, number, problem = cases[following], following, nil
        for try = 1, 5 do -- how often it polls and reads a pipe is not always the same
          local place = ("%s/%d-%d"):format(root, number, try) -- no name twice: gc may still be at work in the last one
          copy(case.from, place)
          problem = check(case, place, reference)
          fs.remove_tree(place)
          if problem ~= "not reached" then break end
        end
        count(case, problem)
        if following % 500 == 0 then
          io.stderr:write(("  %d of %d, %d failed\n"):format(following, #cases, #failures))
        end
      end
    end)
  end
  if not scheduler:run(function(interrupts) return interrupts > 0 end) then os.exit(130) end
end

local function sampled(list)
  local some = {}
  for index = 1, #list, every do some[#some + 1] = list[index] end
  return some
end

local function main()
  local cases, words = {}, { { "baseline", "-q" }, { "run", "-q" } }
  local places = { root .. "/undisturbed-start", root .. "/undisturbed-baselined" } -- not by gc, while they are copied
  project.make(places[1] .. "/p", project.environment(places[1]))
  local work = root .. "/count"
  copy(places[1], work)
  local counted = calls_of(work, words[1])
  cases_of(counted, words[1], places[1], cases)
  fs.remove_tree(work .. "/cache")
  assert(fs.copy_tree(work .. "/p", places[2] .. "/p"))
  counted = calls_of(work, words[2])
  cases_of(counted, words[2], places[2], cases)
  local code, output = project.command(work .. "/p", project.environment(work), { apsis, "run", "-q", "--iterations=1" })
  assert(code == 0, output)
  local _, reference = project.lines(work .. "/p")
  assert(#reference == project.experiments + 2)
  fs.remove_tree(work)
  cases = sampled(cases)
  run_all(cases, reference)
  local tried = 0
  print(("%-9s %6s %6s %8s %8s %12s"):format("call", "calls", "failed", "went on", "stopped", "not reached"))
  for _, kind in ipairs(kinds) do
    local row = tally[kind]
    if row then
      tried = tried + row.cases
      print(("%-9s %6d %6d %8d %8d %12d"):format(kind, row.called, row.cases, row.on, row.stopped, row.missed))
    end
  end
  for _, case in ipairs(failures) do
    print(("%s: exit %s: %s\n  said: %s\n  again: FAULTS=%s:%d:%s"):format(describe(case), tostring(case.code), case.problem,
      (case.output or ""):gsub("\n", "\n        "):sub(1, 600), case.kind, case.number, case.error))
  end
  print(("calls: %d failed, %d did not hold"):format(tried, #failures))
  return #failures == 0
end

project.finish(root, main)
