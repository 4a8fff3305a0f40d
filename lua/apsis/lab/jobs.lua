-- jobs: the trials of a campaign in worker processes of this same program. Each gets a run of neighbouring trials,
-- short at first and at the end, so that all end together, and prints a line for each; one that dies is replaced once,
-- and then named. Owns the processes from start to reap: none is left when run returns or raises. Knows nothing of what
-- a trial is. Called by campaign.
local editline = require "apsis.edit.line"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local wait = require "apsis.wait"

local jobs = {}

local CHUNK_S, LEAST_S = 0.7, 0.1 -- how long a worker process should last; what it must, to be worth its start
local GROWTH = 8 -- how much more than the last a chunk may hold
local OUTPUT_BYTES = 1 << 30
local LOOK_S = 0.5 -- how often progress is called while nothing ends

-- A worker's line for a trial. It is between line breaks, so that what a world wrote without one is no part of it.
function jobs.line(index, record, message)
  return ("\n@%d %s\n"):format(index, record and "record " .. record or "failure " .. json.encode(message))
end

local script = "return require(%q).serve(%q)"

local Crew = {}
Crew.__index = Crew

-- How many trials the next worker gets.
local function chunk_size(self)
  local left = self.total - self.next + 1
  local fair = math.ceil(left / (2 * self.jobs))
  if not self.pace then return 1 end
  local wanted = math.min(CHUNK_S / self.pace, self.largest * GROWTH, fair)
  wanted = math.max(wanted, math.min(LEAST_S / self.pace, self.largest * GROWTH))
  return math.tointeger(math.max(1, math.min(left, wanted // 1)))
end

-- The next trials to run: what a worker that died left, then the rest in order; nothing that comes after a failure.
local function next_chunk(self)
  local limit = self.failure and self.failure.index or math.huge
  local again = table.remove(self.again, 1)
  if again then return again.from < limit and again or next_chunk(self) end
  if self.next > self.total or self.next >= limit then return nil end
  local from = self.next
  local to = from + chunk_size(self) - 1
  self.next, self.largest = to + 1, math.max(self.largest, to - from + 1)
  return { from = from, to = to }
end

local function fail(self, index, message)
  if not self.failure or index < self.failure.index then self.failure = { index = index, message = message } end
  for job in pairs(self.running) do
    if job.from > self.failure.index then self:stop(job) end
  end
end

function Crew:stop(job)
  job.handle:close()
  self.running[job] = nil
end

local function start(self, chunk)
  self.request.from, self.request.to = chunk.from, chunk.to
  local handle, message = process.start { argv = { host.executable, "exec", "/dev/stdin" },
    stdin_text = script:format(self.server, json.encode(self.request)), head_bytes = OUTPUT_BYTES }
  if not handle then return fail(self, chunk.from, "cannot start a worker process: " .. message) end
  self.running[{ from = chunk.from, to = chunk.to, handle = handle }] = true
end

-- How a worker ended that did not do its trials.
local function ending_of(result)
  local said = editline.last(result.stderr.head .. (result.stderr.tail or ""))
  if result.outcome == "signal" then return "was ended by " .. (result.signal_name or "signal " .. result.signal) end
  return ("ended with exit code %s%s"):format(result.code or "?", said ~= "" and ": " .. said or "")
end

-- A worker that died at a trial: that one is run again in a process of its own, once.
local function replace(self, index, to, result)
  self.deaths[index] = (self.deaths[index] or 0) + 1
  if self.deaths[index] > 1 then
    return fail(self, index, ("its worker process %s, twice (is there memory enough? with fewer --jobs each has more)")
      :format(ending_of(result)))
  end
  if index < to then table.insert(self.again, 1, { from = index + 1, to = to }) end
  table.insert(self.again, 1, { from = index, to = index })
end

-- Takes the records that a worker printed; the first trial that it has none for, and its failure where it has one.
local function take(self, job, result)
  local index = job.from
  for number, kind, text in (result.stdout.head .. (result.stdout.tail or "")):gmatch("\n@(%d+) (%l+) ([^\n]*)\n") do
    if tonumber(number) ~= index or index > job.to then break end
    if kind == "failure" then return index, json.decode(text) end
    self.done(index, text)
    index = index + 1
  end
  return index
end

-- Takes what an ended worker printed, and sees to what it did not do.
local function collect(self, job)
  self.running[job] = nil
  local result, message = job.handle:result()
  job.handle:close()
  if not result then return fail(self, job.from, "its worker process did not start: " .. tostring(message)) end
  local index, failure = take(self, job, result)
  if failure then return fail(self, index, failure) end
  if index <= job.to then return replace(self, index, job.to, result) end
  io.stderr:write(result.stderr.head, result.stderr.tail or "")
  self.pace = result.wall_s / (job.to - job.from + 1)
end

local function handles_of(self)
  local list, handles = {}, {}
  for job in pairs(self.running) do list[#list + 1] = job end
  table.sort(list, function(a, b) return a.from < b.from end)
  for index, job in ipairs(list) do handles[index] = job.handle end
  return list, handles
end

-- Ends the workers; what they have done counts, and which trials they were at is known.
local function interrupt(self)
  self.interrupted = {}
  for _, job in ipairs((handles_of(self))) do
    job.handle:kill(0)
    local result = job.handle:wait()
    local index, failure = job.from, nil
    if result then index, failure = take(self, job, result) end
    if index <= job.to and not failure then table.insert(self.interrupted, index) end
  end
end

local function work(self)
  while true do
    local list, handles = handles_of(self)
    while #list < self.jobs do
      local chunk = next_chunk(self)
      if not chunk then break end
      start(self, chunk)
      list, handles = handles_of(self)
    end
    if #list == 0 then return end
    local done, interrupts = wait.any(handles, LOOK_S)
    if interrupts > 0 then return interrupt(self) end
    for _, index in ipairs(done) do
      if self.running[list[index]] then collect(self, list[index]) end
    end
    if self.idle then self.idle((handles_of(self))) end
  end
end

-- run{ server = the module whose serve(request) a worker calls, request, total, jobs, done(index, text), idle(running)
-- } -> { failure = { index, message }, interrupted = the indexes of the trials that were running then, nil if nothing
-- interrupted }. idle is called now and then with { {from, to}... }, the trials of each worker. Of several failures the
-- first in order is reported, which is the one that a single process would meet.
function jobs.run(spec)
  local self = setmetatable({ server = spec.server, request = spec.request, total = spec.total, jobs = spec.jobs,
    done = spec.done, idle = spec.idle, next = 1, largest = 1, again = {}, deaths = {}, running = {} }, Crew)
  local ok, message = pcall(work, self)
  for job in pairs(self.running) do self:stop(job) end
  if not ok then error(message, 0) end
  return { failure = self.failure, interrupted = self.interrupted }
end

return jobs
