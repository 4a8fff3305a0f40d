-- queue: a scheduler behind three commands: submit, status, cancel. Jobs are known by name, never by the scheduler's
-- number, which may be used twice. One status command asks about all jobs, every few seconds; when it fails or is slow,
-- it is asked less often, and nothing is concluded from its silence. Knows no job folder. Called by evaluations.
local environment = require "apsis.live.cage.environment"
local process = require "apsis.process"
local wait = require "apsis.wait"

local queue = {}

local Queue = {}
Queue.__index = Queue

local COMMAND_S <const> = 60 -- for the scheduler to answer
local SHARE <const> = 10 -- at most this part of the time is spent on asking
local SLOWEST <const> = 20 -- of poll_sec: the longest pause after failures

-- new{ submit, status, cancel = command lines, poll_sec, parse(line) -> name, state ("queued", "running" or "over"),
-- where | nil, programs = { submit, status, cancel = { run = what setup looks for, called = what messages call it,
-- absent = the message if it is not found, or nil } }, variables = names of all that the commands see of the
-- environment (default: all) }.
function queue.new(spec)
  return setmetatable({ spec = spec, due = 0, failures = 0 }, Queue)
end

local function first_line(result)
  for _, stream in ipairs { result.stderr, result.stdout } do
    local line = (stream.head or ""):match "[^\n]*%S[^\n]*"
    if line then return (line:gsub("%c+$", ""):gsub("%c", " "):sub(1, 300)) end
  end
  if result.outcome == "timeout" then return ("no answer within %g s"):format(COMMAND_S) end
  return result.outcome == "exit" and "exit " .. result.code or result.outcome
end

-- Runs one of the three. Its standard output | nil, why.
local function ask(self, which, names, env)
  local run, program = self.spec[which], self.spec.programs[which]
  local argv = type(run) == "table" and table.move(run, 1, #run, 1, {}) or { "sh", "-c", run, "sh" }
  table.move(names, 1, #names, #argv + 1, argv)
  local only = self.spec.variables
  local variables = only and environment.passed(only) or environment.without_repository()
  for name, value in pairs(env or {}) do variables[name] = value end
  local result, message = process.run { argv = argv, env = variables, clean_env = only ~= nil, timeout_s = COMMAND_S,
    head_bytes = 16 << 20 }
  if not result then return nil, ("%s: %s"):format(program.called, message) end
  if result.code == 127 and program.absent then return nil, program.absent end
  if result.code ~= 0 then return nil, ("%s: %s"):format(program.called, first_line(result)) end
  if result.stdout.tail then return nil, program.called .. ": more than 16 MB of output" end
  return result.stdout.head
end

-- Submits a job, one at a time. true | nil, why: then it is unknown whether it was submitted.
function Queue:submit(name, env)
  while self.submitting do wait.sleep(0.01) end
  self.submitting = true
  local answer, message = ask(self, "submit", { name }, env)
  self.submitting = false
  self.due = math.min(self.due, wait.now() + self.spec.poll_sec)
  return answer ~= nil, message
end

local function read(self, text)
  local jobs = {}
  for line in text:gmatch "[^\n]*%S[^\n]*" do
    local name, state, node = self.spec.parse(line)
    if not name then
      return nil, ("%s: unexpected line %q"):format(self.spec.programs.status.called, line:sub(1, 100))
    end
    if state ~= "over" and (not jobs[name] or state == "running") then jobs[name] = { state = state, node = node } end
  end
  return jobs
end

-- Asks now. The answer { jobs = { [name] = { state, node } }, began } | nil, why.
function Queue:ask(names)
  local began = wait.now()
  self.asking = true
  local text, message = ask(self, "status", names)
  self.asking = false
  local jobs
  if text then jobs, message = read(self, text) end
  local took, every = wait.now() - began, self.spec.poll_sec
  self.failures = jobs and 0 or self.failures + 1
  self.trouble = message
  self.due = wait.now() + math.max(took * SHARE, every * math.min(SLOWEST, 2 ^ self.failures / (jobs and 1 or 2)))
  if not jobs then return nil, message end
  self.answer = { jobs = jobs, began = began }
  return self.answer
end

-- The newest answer, nil before the first; asks again if that is due. names(): of the jobs that matter.
function Queue:look(names)
  if not self.asking and wait.now() >= self.due then self:ask(names()) end
  return self.answer
end

-- Cancels jobs, whether they are there or not. true | nil, why.
function Queue:cancel(names)
  if #names == 0 then return true end
  local answer, message = ask(self, "cancel", names)
  return answer ~= nil, message
end

-- A line of a status command as the manual has it: NAME queued|running [WHERE].
function queue.parse(line)
  local name, state, node = line:match "^%s*(%S+)%s+(%l+)%s*(.-)%s*$"
  if state ~= "queued" and state ~= "running" then return nil end
  return name, state, node ~= "" and node or nil
end

return queue
