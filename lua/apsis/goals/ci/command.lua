-- command: runs the project's CI on a candidate's commit like a verification (a clean checkout with hidden files,
-- limits, cage), and asks a provider to repair a failed candidate: methods of the live world. Writes the output to
-- runs/NNNN/gate.log, and the repair's prompt and answer to runs/NNNN/fix_N. gate.lua judges.
local answers = require "apsis.live.answers"
local environment = require "apsis.live.cage.environment"
local ended = require "apsis.live.ended"
local fs = require "apsis.fs"
local verify = require "apsis.live.verify"

local gate = {}

local LINES, BYTES = 200, 24576 -- the end of the gate's output that the provider gets
local WHOLE = 262144 -- bytes at its end that the signature is made of

local function command_text(run)
  return type(run) == "table" and table.concat(run, " ") or run
end

-- The end of a file from an offset on.
local function end_of(path, from)
  local file <close> = io.open(path, "rb")
  if not file then return "" end
  file:seek("set", math.max(from, file:seek("end") - WHOLE))
  return file:read("a") or ""
end

-- A text without control characters and without the checkout's folders, which differ each time.
local function cleaned(text, place)
  for _, dir in ipairs { place.scratch, place.root } do
    local plain = dir:gsub("%W", "%%%0")
    text = text:gsub(plain .. "/", ""):gsub(plain, ".")
  end
  text = text:gsub("\27%[[%d;:?]*%a", ""):gsub("\27%][^\7\27]*[\7\27]\\?", ""):gsub("\r\n?",
    "\n"):gsub("[%z\1-\8\11-\31\127]", "?")
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  return environment.mask(text)
end

-- The last lines of a text, cut at a line if possible.
local function last_lines(text)
  local lines = {}
  for line in text:gsub("\n$", ""):gmatch("[^\n]*") do lines[#lines + 1] = line end
  local kept = table.concat(lines, "\n", math.max(1, #lines - LINES + 1))
  if #kept <= BYTES then return kept end
  return (kept:sub(-BYTES):gsub("^[^\n]*\n", ""):gsub("^[\128-\191]+", ""))
end

-- Runs the gate on a candidate for at most left_s seconds. { outcome, code, signal_name: as process.run; cut: stopped
-- by left_s, not by its own limit; output: the last lines; whole: more of them }.
function gate:gate(slot, record, left_s)
  local spec = self.manifest.gate
  local job = verify.job(self, slot, record, {}, spec, "gate")
  local path = slot.dir .. "/gate.log"
  fs.append(path, ("=== %s %s (%s): %s\n"):format(record.id, slot.fix_attempts and "after repair " .. slot.fix_attempts
    or "as it was proposed", record.commit:sub(1, 10), command_text(spec.run)))
  local stat = fs.stat(path)
  local command = { name = "gate", run = spec.run, cwd = ".", env = spec.env,
    timeout_sec = math.min(spec.timeout_sec, left_s) }
  local result, message = job:process(command, nil, { log = "gate.log" })
  result = result or { outcome = "failed", message = message }
  local said = message or end_of(path, (stat and stat.size or 0) + #"$ gate\n")
  local text = cleaned(said, job.place)
  local seen = { outcome = result.outcome, code = result.code, signal_name = result.signal_name, signal = result.signal,
    message = result.message, cut = result.outcome == "timeout" and left_s < spec.timeout_sec, whole = text,
    output = last_lines(text) }
  fs.append(path, ("=== %s\n"):format(result.code == 0 and "green" or "red: "
    .. (message or result.code and "exit " .. result.code or result.signal_name or result.outcome)))
  job.place:close()
  return seen
end

-- Asks the provider to repair slot.repair.candidate, in a separate folder beside the first change.
function gate:repair(slot, prompt)
  local kept = answers.all(self, slot, 1)
  if kept then return kept end
  local dir = slot.dir
  slot.dir = ("%s/fix_%d"):format(dir, slot.repair.attempt)
  if #ended.all(slot.dir, self.here.pool.root) == 0 then fs.remove_tree(slot.dir) end
  self:need(fs.mkdir(slot.dir))
  self:write_prompt(slot, prompt)
  local given = self.provider:propose(slot, prompt)
  slot.dir = dir
  return given
end

-- After a repair is committed: forgets what the previous version's verification left.
function gate:begin_anew(slot)
  fs.remove_tree(slot.dir .. "/artifacts")
  slot.stderr, slot.measuring = nil, nil
end

return gate
