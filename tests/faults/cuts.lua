-- cuts: power cuts. `apsis exec cuts.lua BUILD [KIND[:NUMBER]] [EVERY]`. Of a run that was killed with a plan in flight, the journal and
-- logs/state.json are cut off, filled with zeros from there on, or have a hole of zeros, at every byte of the last 4 kB: read back in
-- this process, a journal has all the lines that are whole and no other, or is refused with its file, line and remedy; and at every end
-- of a line, the bytes beside it and each 97th byte `apsis run` goes on from there to what a run that was left alone has. Then of a
-- baseline and a run what they had not synced is dropped before and after each fsync, in three ways (disk.lua), and what was
-- journalled is there with its commit and its ref, and the run goes on. Exit 1 says which cuts did not hold, and how to do each again.
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/?.lua;" .. package.path
local disk = require "disk"
local fs = require "apsis.fs"
local history = require "apsis.core.history"
local direction = require "apsis.direction"
local host = require "apsis.host"
local journal = require "apsis.core.journal"
local note = require "apsis.live.note"
local project = require "project"
local tasks = require "apsis.core.tasks"

local build = assert(fs.realpath(arg[1] or "build"))
local only_kind, only_number = (arg[2] or ""):match "^([%a_]*):?(%d*)$"
local every = math.tointeger(tonumber(arg[3] or 1)) or 1
local jobs = math.tointeger(tonumber(os.getenv "JOBS" or 2)) or 2
local apsis = build .. "/apsis"
local root = ("%s/apsis-cuts-%d"):format(project.base(build), host.pid)
local LAST, EXPERIMENTS, STRIDE, LIMIT_S = 4096, 6, 97, 30

local failures, tally, order = {}, {}, {}

local function count(kind, number, problem)
  if not tally[kind] then
    tally[kind] = 0
    order[#order + 1] = kind
  end
  tally[kind] = tally[kind] + 1
  if problem then failures[#failures + 1] = ("cuts:%s:%d: %s"):format(kind, number, problem) end
end

local function wanted(kind, number)
  return (only_kind == "" or kind == only_kind) and (only_number == "" or number == tonumber(only_number)) and
    (only_number ~= "" or number % every == 0)
end

-- A text after a cut at a byte: cut off there, zeros from there on, or a hole of a sector.
local ways = {
  short = function(text, at) return text:sub(1, at) end,
  zeros = function(text, at) return text:sub(1, at) .. ("\0"):rep(#text - at) end,
  hole = function(text, at) return text:sub(1, at) .. ("\0"):rep(math.min(512, #text - at)) .. text:sub(at + 513) end,
}

-- nil, or what is wrong with how a journal is read that has these bytes. lines: the whole ones' texts, up to the cut.
local function reading_problem(path, text)
  assert(fs.write(path, text))
  local whole, valid, good = {}, true, 0
  for line in (text:match "^.*\n" or ""):gmatch "([^\n]*)\n" do
    whole[#whole + 1] = line
    if valid and line:find "%z" then valid = false end
    if valid then good = #whole end
  end
  local opened, cut = journal.open(path)
  if not opened then return "open: " .. cut end
  local seen = {}
  local folded = history.new(direction.new { name = "score", direction = "higher" }, opened)
  local ok, message, code = folded:fold(opened, function() seen[#seen + 1] = opened:text(#seen + 1) end, true)
  opened:close()
  for index = 1, #seen do
    if seen[index] ~= whole[index] then return ("line %d is another one"):format(index) end
  end
  if #seen ~= good then return ("%d lines of %d"):format(#seen, good) end
  if ok then return not valid and "a line with zeros was passed over" or nil end
  if valid or code ~= "EJOURNAL" then return "refused: " .. message end
  local named = message:find(("%s:%d: "):format(path, good + 1), 1, true)
  if not named or not message:find "restore" then return "refused badly: " .. message end
end

local function cut_journal_here(text)
  local path = root .. "/results.jsonl"
  for _, way in ipairs { "short", "zeros", "hole" } do
    for at = math.max(0, #text - LAST), #text - 1 do
      if wanted("read_" .. way, at) then count("read_" .. way, at, reading_problem(path, ways[way](text, at))) end
    end
  end
end

-- The note of phases is what it was, or none and a remark: never another one, never an error.
local function cut_state_here(text)
  local dir = root .. "/noted"
  assert(fs.mkdir(dir .. "/logs"))
  for _, way in ipairs { "short", "zeros", "hole" } do
    for at = math.max(0, #text - LAST), #text - 1 do
      if wanted("state_" .. way, at) then
        assert(fs.write(dir .. "/logs/state.json", ways[way](text, at)))
        local ok, value, remark = pcall(note.read, dir)
        local problem
        if not ok then problem = "raised: " .. value
        elseif next(value) and at < #text - 2 then problem = "a note that is not whole was taken"
        elseif not next(value) and not remark then problem = "not a word of it" end
        count("state_" .. way, at, problem)
      end
    end
  end
end

-- nil, or what is wrong after the journal's whole lines were `kept` and apsis went on. Lines may be more than the reference's budget
-- where the note of the run was lost: then it is another run.
local function resume_problem(place, kept, reference, budget)
  local dir, env = place .. "/p", project.environment(place)
  assert(fs.mkdir(env.HOME))
  for _, words in ipairs { { "baseline", "-q" }, { "run", "-q" } } do
    local _, lines = project.lines(dir)
    if words[1] == "run" or #lines == 0 then
      local code, output, how = project.command(dir, env, { apsis, table.unpack(words) }, LIMIT_S)
      if code == 3 and kept == "" and output:find "git update%-ref %-%-stdin" then return nil, true end -- says how to begin anew
      if code ~= 0 then return ("apsis %s: %s: %s"):format(words[1], code and "exit " .. code or how, output) end
    end
  end
  local problem = project.journal_problem(dir, kept)
  if problem then return problem end
  local _, lines = project.lines(dir)
  if #lines < budget + 1 or #lines > #reference then return ("%d lines"):format(#lines) end
  if project.has_gap(lines) then problem = project.gap_problem(dir, env, lines)
  else problem = project.difference(lines, { table.unpack(reference, 1, #lines) }) end
  problem = problem or project.repository_problem(dir, env, lines)
  if problem then return problem end
  local code, output = project.command(dir, env, { apsis, "replay", "--check" }, LIMIT_S)
  if code ~= 0 then return "replay --check: " .. output end
end

-- Runs each of the bodies, `jobs` at a time; each gets a folder of its own.
local function side_by_side(bodies)
  local scheduler, following = tasks.new(), 0
  for _ = 1, jobs do
    scheduler:spawn(function()
      while following < #bodies do
        following = following + 1
        local place = ("%s/%d"):format(root, following) -- no name twice: gc may still be at work in the last one
        bodies[following](place)
        fs.remove_tree(place)
      end
    end)
  end
  if not scheduler:run(function(interrupts) return interrupts > 0 end) then os.exit(130) end
end

local function run_at(place, env, words)
  local code, output = project.command(place .. "/p", env, { apsis, table.unpack(words) }, LIMIT_S)
  return code, output
end

-- A journal of more lines than any of the runs here: { lines }.
local function reference_of()
  local place = root .. "/alone"
  local env = project.environment(place)
  project.make(place .. "/p", env)
  assert(run_at(place, env, { "baseline", "-q" }) == 0)
  assert(run_at(place, env, { "run", "-q", "--iterations=" .. 2 * EXPERIMENTS }) == 0)
  local _, lines = project.lines(place .. "/p")
  assert(#lines == 2 * EXPERIMENTS + 1)
  return lines
end

-- A run of six that was killed just before its last candidate's line.
local function killed_run(place)
  local env = project.environment(place)
  project.make(place .. "/p", env)
  assert(run_at(place, env, { "baseline", "-q" }) == 0)
  env.LD_PRELOAD, env.FAULT, env.FAULT_PATH = build .. "/faults/shim.so", ("write:%d:-1"):format(EXPERIMENTS), "/results.jsonl"
  assert(run_at(place, env, { "run", "-q", "--iterations=" .. EXPERIMENTS }) == nil)
  local text, lines = project.lines(place .. "/p")
  assert(#lines == EXPERIMENTS and fs.stat(("%s/p/runs/%04d/proposal.json"):format(place, EXPERIMENTS)))
  fs.remove_tree(place .. "/cache")
  return text, assert(fs.read(place .. "/p/logs/state.json"))
end

-- The offsets where full resumes are tried: ends of lines, the bytes beside them, and each 97th.
local function chosen(text)
  local set, list = {}, {}
  for at in text:gmatch "()\n" do
    for near = at - 2, at + 1 do set[near] = true end
  end
  for at = #text - 1, 0, -STRIDE do set[at] = true end
  for at in pairs(set) do
    if at >= math.max(0, #text - LAST) and at < #text then list[#list + 1] = at end
  end
  table.sort(list)
  return list
end

local function cut_and_resume(bodies, from, file, text, reference)
  for _, way in ipairs { "short", "zeros" } do
    local kind = ("resume_%s_%s"):format(file:match "(%a+)%.", way)
    for _, at in ipairs(chosen(text)) do
      if wanted(kind, at) or only_number == "" and (only_kind == "" or only_kind == kind) then
        bodies[#bodies + 1] = function(place)
          project.copy(from .. "/p", place .. "/p")
          local left = ways[way](text, at)
          assert(fs.write(place .. "/p/logs/" .. file, left))
          local kept = project.lines(place .. "/p")
          count(kind, at, (resume_problem(place, kept, reference, EXPERIMENTS)))
        end
      end
    end
  end
end

-- What a command changes below a project: its changes, and the project as it was before.
local function record(place, words)
  local env = project.environment(place)
  local before = disk.of(place .. "/p")
  fs.remove(place .. "/record")
  env.LD_PRELOAD, env.RECORD, env.RECORD_ROOT = build .. "/faults/recorder.so", place .. "/record", place .. "/p"
  assert(run_at(place, env, words) == 0)
  return before, disk.changes(assert(fs.read(place .. "/record")))
end

-- The journal's lines that a cut must leave: those that were synced.
local function synced_lines(model)
  local logs = model.root.now.logs
  local file = logs and logs.now["results.jsonl"]
  return file and file.synced:match "^(.*\n)" or ""
end

-- Every cut before and after each fsync of a command.
local function drop_unsynced(bodies, place, words, reference)
  local model, changes = record(place, words)
  local number = 0
  local function cut()
    number = number + 1
    for _, way in ipairs { "dropped", "short", "zeros" } do
      local kind = ("unsynced_%s_%s"):format(words[1], way)
      if wanted(kind, number) then
        local kept, this, folder = synced_lines(model), number, ("%s/undisturbed-%s-%d"):format(root, kind, number)
        model:write(folder, way)
        bodies[#bodies + 1] = function(at)
          assert(fs.mkdir(at))
          assert(fs.rename(folder, at .. "/p"))
          count(kind, this, (resume_problem(at, kept, reference, project.experiments)))
        end
      end
    end
  end
  for _, one in ipairs(changes) do
    if one[1] == "fsync" then cut() end
    model:apply(one)
    if one[1] == "fsync" then cut() end
  end
  cut()
end

local function main()
  local reference = reference_of()
  local killed = root .. "/undisturbed-killed" -- gc goes beside what goes on from a cut
  local text, state = killed_run(killed)
  cut_journal_here(text)
  cut_state_here(state)
  local bodies = {}
  cut_and_resume(bodies, killed, "results.jsonl", text, reference)
  cut_and_resume(bodies, killed, "state.json", state, reference)
  local place = root .. "/undisturbed-recorded" -- a record lacks what gc does
  project.make(place .. "/p", project.environment(place))
  drop_unsynced(bodies, place, { "baseline", "-q" }, reference)
  drop_unsynced(bodies, place, { "run", "-q" }, reference)
  side_by_side(bodies)
  local all = 0
  for _, kind in ipairs(order) do
    all = all + tally[kind]
    print(("%-24s %6d cuts"):format(kind, tally[kind]))
  end
  table.sort(failures)
  for _, failure in ipairs(failures) do print(failure) end
  print(("cuts: %d made, %d did not hold"):format(all, #failures))
  return #failures == 0
end

project.finish(root, main)
