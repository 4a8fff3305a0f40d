-- notify: runs the user's commands of `on:` after everything else: to push, open a pull request or write to a chat.
-- Each gets the journal line on stdin, and runs in the user's directory with the user's environment. A failure is only
-- logged; nothing is raised, undone or retried. Called by upkeep and amend.
local editline = require "apsis.edit.line"
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"

local notify = {}

local Notify = {}
Notify.__index = Notify

notify.kinds = { "kept", "rejected", "paused", "completed" }

local DEFAULT_TIMEOUT_S = 300
local LOG_LIMIT_BYTES = 16 * 1048576
local LONGEST_REASON = 4000 -- bytes of APSIS_REASON; the line has all of it
local LONGEST_WORDS, MOST_LINES = 300, 4 -- bytes and lines of the command's last words in a warning
local WORDS_BYTES = 4096 -- of its output, in which they are sought

-- Whether the manifest's `on` names any command.
function notify.any(on)
  for _, kind in ipairs(notify.kinds) do
    if on and on[kind] then return true end
  end
  return false
end

-- new{ on = { kept, rejected, paused, completed = COMMAND, timeout_sec }, dir, run_dir = function(record) -> its
-- folder, line = function(record) -> its journal text or nil, log = function(level, text), facts = { program, branch,
-- state_branch } } -> notify; nil if `on` names no command.
function notify.new(spec)
  if not notify.any(spec.on) then return nil end
  return setmetatable({ on = spec.on, dir = spec.dir, run_dir = spec.run_dir, line = spec.line, log = spec.log,
    facts = spec.facts or {} }, Notify)
end

-- what a record keeps beside what its line says
local worked_out = { id = true, value = true, kept = true, metrics = true }

-- A record's journal line, byte for byte if there is one; null without a record.
local function line_of(self, record)
  if not record then return "null\n" end
  local text = self.line and self.line(record)
  if text then return text .. "\n" end
  local line, _ = {}, record.timestamp -- a record that a fold left short is read again when it is asked for more
  for key, value in next, record do
    if not worked_out[key] then line[key] = value end
  end
  return json.encode(line) .. "\n"
end

-- The first bytes of a text, cut at a character.
local function cut(text, bytes)
  return #text <= bytes and text or text:sub(1, utf8.offset(text, 0, bytes + 1) - 1)
end

local function given(value)
  return type(value) == "string" and (value:gsub("%z", "")) or false -- false: not another program's
end

local function environment_of(self, kind, record, more)
  local env, facts = environment.own(), self.facts
  local reason = more.reason or record and record.rollback_reason or nil
  env.APSIS_KIND, env.APSIS_PROGRAM, env.APSIS_BRANCH = kind, given(facts.program), given(facts.branch)
  env.APSIS_MEMORY_BRANCH = given(facts.state_branch)
  env.APSIS_CANDIDATE, env.APSIS_COMMIT = given(record and record.candidate), given(record and record.commit)
  env.APSIS_REASON = type(reason) == "string" and given(cut(reason, LONGEST_REASON))
  return env
end

-- The command's log: an empty file in the experiment's folder; nil and why not.
local function log_path(self, kind, record)
  local dir = record and self.run_dir(record)
  if not dir then return nil end
  local path = ("%s/on-%s.log"):format(dir, kind)
  local made, message = fs.mkdir(dir)
  if made then made, message = fs.write(path, "") end
  return made and path, message
end

-- Runs the command under a supervisor without namespaces: inside one, other users' files appear to belong to nobody,
-- which ssh refuses for its configuration, and sudo fails. A trapped signal stops it.
local function run(spec)
  local mode <const> = "APSIS_CAGE"
  local before = os.getenv(mode)
  spec.env[mode] = before or false
  host.setenv(mode, "subreaper")
  local handle <close>, message, code = process.start(spec)
  host.setenv(mode, before)
  if not handle then return nil, message, code end
  local result, why, refused = handle:wait()
  if refused == "EINTR" then
    handle:kill()
    handle:wait()
  end
  return result, why, refused
end

-- The last lines of a text, joined and short enough for a warning; git's hints are left out.
local function ending(text)
  local lines, length = {}, 0
  for line in text:gmatch "[^\r\n]+" do
    line = editline.trim((line:gsub("%c", " ")))
    if line ~= "" and not line:find "^hint:" then lines[#lines + 1] = line end
  end
  local first = #lines + 1
  while first > 1 and first > #lines + 1 - MOST_LINES and length + #lines[first - 1] <= LONGEST_WORDS do
    first = first - 1
    length = length + #lines[first] + 3
  end
  return lines[first] and table.concat(lines, " | ", first) or lines[1] and cut(lines[#lines], LONGEST_WORDS)
end

-- The command's last words, from stderr or else stdout, without secrets.
local function last_words(result)
  for _, stream in ipairs { result.stderr, result.stdout } do
    local words = ending(environment.mask(stream.head .. (stream.tail or "")):sub(-WORDS_BYTES))
    if words then return ": " .. words end
  end
  return ""
end

-- How the command failed; nil if it did not.
local function failure(result, message, limit_s)
  if not result then
    return (tostring(message):find "^EINTR" and "was stopped: " or "could not be run: ") .. tostring(message)
  end
  if result.outcome == "exit" and result.code == 0 then return nil end
  local words = last_words(result)
  if result.outcome == "timeout" then return ("ran over its limit of %g s%s"):format(limit_s, words) end
  if result.outcome == "exit" then return ("ended with exit %d%s"):format(result.code, words) end
  return ("was killed by %s%s"):format(result.signal_name or result.signal or "a signal", words)
end

local function spec_of(self, kind, record, more)
  local command = self.on[kind]
  local log, unwritten = log_path(self, kind, record)
  local text = type(command) == "string"
  return { shell = text and command or nil, argv = not text and command or nil, cwd = self.dir,
    stdin_text = line_of(self, record), timeout_s = self.on.timeout_sec or DEFAULT_TIMEOUT_S,
    env = environment_of(self, kind, record, more), log = log, log_limit_bytes = LOG_LIMIT_BYTES }, unwritten
end

local function tell(self, kind, record, more)
  local spec, unwritten = spec_of(self, kind, record, more)
  local ended = false
  -- also where the run is interrupted, which abandons what waits
  local _ <close> = setmetatable({}, { __close = function()
    if ended then return end
    self.log("warn",
      ("on: %s: the command was interrupted and is not run again; the experiment is not affected"):format(kind))
  end })
  local result, message = run(spec)
  ended = true
  local why = failure(result, message, spec.timeout_s)
  unwritten = unwritten or result and result.log_error
  if unwritten then self.log("warn", ("on: %s: its output could not be written: %s"):format(kind, unwritten)) end
  if not why then return true end
  self.log("warn", ("on: %s: the command %s%s; the experiment is not affected"):format(kind, why, spec.log
    and (" (%s)"):format(spec.log) or ""))
  return false
end

-- Runs the command for a kind (kept, rejected, paused, completed) and a journal line or nil. more: { reason }. true if
-- it succeeded, false if it failed, nil if none is named.
function Notify:tell(kind, record, more)
  if not self.on[kind] then return nil end
  local ok, told = pcall(tell, self, kind, record, more or {})
  if ok then return told end
  self.log("warn", ("on: %s: the command could not be run: %s; the experiment is not affected"):format(kind,
    tostring(told)))
  return false
end

return notify
