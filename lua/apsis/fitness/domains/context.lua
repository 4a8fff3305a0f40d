-- context: the domain's interface: its component's keys, commands in the verification's workspace, files and diff of
-- the candidate, a chat model, a log. Decides nothing. Called by fitness/scoring.
local ask = require "apsis.fitness.domains.ask"
local fs = require "apsis.fs"
local items = require "apsis.fitness.domains.items"
local metric = require "apsis.metric"
local near_miss = require "apsis.live.near_miss"
local workers = require "apsis.fitness.domains.workers"

local context = {}

local Context = {}
Context.__index = Context

local MOST_OUTPUT = 64 * 1048576 -- most bytes read of a command's output or a report's file

-- new(job (verify's), component { name, spec, domain }, baseline = its numbers at the baseline | nil, wanted = ids |
-- nil).
function context.new(job, component, baseline, wanted)
  local self = setmetatable(near_miss.none { spec = component.spec, name = component.name, baseline = baseline,
    items = wanted, options = component.spec.options or {}, job = job, dir = job.dir, files_made = 0 }, Context)
  local world, record = job.world, job.record
  local function bound(name)
    return function(...) return Context[name](self, ...) end
  end
  self.run, self.read, self.log, self.each = bound "run_command", bound "read_file", bound "say", workers.each
  self.sources = function() return world:sources(record) end
  self.diff = function() return job.slot.baseline and "" or ask.diff(world, record, component.spec.against) end
  self.relative = bound "without_checkout"
  self.chat = function(messages)
    local chat, message = self.chats, nil
    if not chat then
      chat, message = ask.chat(world, job.slot, component.name, component.spec)
      self.chats = chat
    end
    if not chat then return { error = message, tokens = 0, cost = 0 } end
    return chat(messages)
  end
  return self
end

-- A file of the candidate's commit, else of the project's directory; never of the workspace. text | nil, message.
function Context:read_file(path)
  return items.file(self.job.world, self.job.record, path)
end

local function encoded(path)
  return (path:gsub("[^%w/._~-]", function(byte) return ("%%%02X"):format(byte:byte()) end))
end

-- The ways in which a command may refer to the checkout, before a path within it.
local function prefixes_of(job)
  local list, seen = {}, {}
  local root = job.world.prefix ~= "" and job.dir:sub(1, -#job.world.prefix - 2) or job.dir
  for _, dir in ipairs { job.dir, fs.realpath(job.dir) or job.dir, root, fs.realpath(root) or root } do
    for _, way in ipairs { "file://" .. encoded(dir), "file://" .. dir, dir } do
      if not seen[way] then seen[way], list[#list + 1] = true, (way:gsub("%p", "%%%0") .. "/") end
    end
  end
  return list
end

-- A text with paths relative to the checkout, whose path differs in every measurement.
function Context:without_checkout(text)
  if not text then return nil end
  self.prefixes = self.prefixes or prefixes_of(self.job)
  for _, prefix in ipairs(self.prefixes) do text = text:gsub(prefix, "") end
  return text
end

function Context:say(text)
  self.job.world:log("info", ("fitness: %s: %s"):format(self.name, text))
end

local function all_of(path)
  local text, cut = fs.read(path, MOST_OUTPUT)
  fs.remove(path)
  return text or "", cut == true
end

-- The METRIC lines that a command printed, or wrote into its own APSIS_METRICS.
local function metrics_of(self, scanner, private)
  local report = scanner:finish()
  local stat = fs.stat(private, { follow = false })
  if stat and stat.type == "file" and stat.size > 0 and stat.size <= MOST_OUTPUT then
    report = self.job.world:left(metric.scan_file(private)) or report
  end
  fs.remove_tree(private)
  near_miss.add(self, report)
  for name in pairs(report.not_finite) do report.metrics[name] = nil end
  return report.metrics
end

-- Empties the file for a command's report: earlier content never counts. Its path | nil, why it may not be used.
local function fresh_file(self, spec)
  local path = self.job.dir .. (spec.cwd ~= "." and "/" .. spec.cwd or "") .. "/" .. spec.file
  local astray = self.job:leads_out(path:match "^(.*)/", spec.file)
  if astray then return nil, astray end
  fs.remove_tree(path)
  return path
end

-- Runs a command in the workspace, in the cage: { status ("ok", "crash", "timeout"), reason, code, stdout, stderr,
-- text (of `file`, else stdout), metrics, seconds }; nil, message if it could not run. asked: { run, argument, cwd,
-- timeout_sec, env, file, write (a writable folder) }; the component gives the defaults.
function Context:run_command(asked)
  local job, spec = self.job, self.spec
  local command = { name = asked.name or self.name, run = asked.run or spec.run, cwd = asked.cwd or spec.cwd or ".",
    timeout_sec = asked.timeout_sec or spec.timeout_sec, env = spec.env, file = asked.file }
  self.files_made = self.files_made + 1
  local file = ("fitness-%s-%d"):format(self.name, self.files_made)
  local base = job.scratch .. "-" .. file -- beside the scratch folder, where no command writes
  local env = { APSIS_METRICS = job.scratch .. "/" .. file .. ".metrics" }
  fs.remove_tree(env.APSIS_METRICS)
  for name, value in pairs(asked.env or {}) do env[name] = value end
  local path, astray
  if command.file then path, astray = fresh_file(self, command) end
  if astray then return nil, astray end
  local scanner <close> = metric.scanner()
  local result, message = job:process(command, asked.argument, { env = env, scanner = scanner,
    stdout_file = base .. ".out", stderr_file = base .. ".err", write = asked.write })
  local stdout, cut = all_of(base .. ".out")
  local made = { stdout = stdout, stderr = (all_of(base .. ".err")), metrics = metrics_of(self, scanner,
    env.APSIS_METRICS) }
  if not result then return nil, message end
  made.status, made.reason = job:how_it_ended(command, result)
  if made.reason and made.reason:sub(1, #self.name) == self.name then
    made.reason = made.reason:sub(#self.name + 1):gsub("^:? ", "")
  end
  made.status, made.code, made.outcome, made.seconds = made.status or "ok", result.code, result.outcome, result.wall_s
  made.text = stdout
  astray = path and job:leads_out(path, command.file)
  if astray then return nil, astray end
  if path then made.text, cut = fs.read(path, MOST_OUTPUT) end
  if not made.text then
    return nil, ("%s was not written%s"):format(command.file, made.reason and " (" .. made.reason .. ")" or "")
  end
  if cut == true then
    return nil, ("%s is larger than %d MB"):format(command.file or "the output", MOST_OUTPUT >> 20)
  end
  return made
end

-- Whether a command was killed before it finished, or was not found: then ignore its output.
function context.broken(result)
  if result.status ~= "ok" and (result.outcome ~= "exit" or result.code == 126 or result.code == 127) then
    return result.reason
  end
end

return context
