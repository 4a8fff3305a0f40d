-- work: sees to it that a request is tried: by whoever holds the run's lock; if nobody does, by this process, or
-- by one in the background. Called by the commands.
local allowance = require "apsis.live.allowance"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local holds = require "apsis.live.held"
local host = require "apsis.host"
local inboxes = require "apsis.drive.inbox"
local intake = require "apsis.drive.intake"
local lock = require "apsis.live.lock"
local outcome = require "apsis.drive.outcome"
local progress = require "apsis.cli.progress"
local quoted = require("apsis.project.path").quoted
local running = require "apsis.live.running"
local wait = require "apsis.wait"

local work = {}

local POLL_S <const> = 0.1
local REFUSED <const> = 2 -- the exit code if the manifest, or what measures, is not as it has to be
local IN_VAIN <const> = 20 -- times that a run took nothing of what is waited for: another process may be before it

-- Stands in for a provider that the manifest lacks: only what was handed in is tried.
local nobody = {}
function nobody.propose() return { { error = "no provider: only what is submitted is tried" } } end
function nobody.ask() return { error = "no provider can be asked" } end

-- The last run has ended, so that nothing is tried before a person begins another.
local function over(session)
  local last, newest = session.last, session.engine.history.run
  if last.status == "finished" and last.run == math.max(last.run or 0, newest) then
    return last.reason or "the run has ended"
  end
  return newest > 0 and allowance.ended(session.home) == newest and "the run has ended" or nil
end

-- Works off what waits, as the one that holds the run's lock. true | nil, message, code, why ("LOCKED"); message
-- "interrupted".
function work.once(dir, quiet)
  local session, message, code, why = running.open { dir = dir, overrides = {}, configured = function() return true end,
    progress_line = progress.new { quiet = quiet } }
  if not session then return nil, message, code, why end
  session.driven = true
  local result
  local ended = over(session)
  local taken = ended and intake.new(session, true)
  if ended and not taken:begins_another() then
    taken:refuse(ended)
  else
    ended = nil
    result, message, code = running.experiments(session, { at = "", stand_in = nobody, quiet = true })
    session.progress_line:clear()
  end
  if result and not result.interrupted and not result.waiting then session.engine.intake:refuse(result.reason) end
  session:close()
  if ended then return true end
  if result and result.interrupted then return nil, "interrupted", 130 end
  return result and true, message, code
end

-- The file that is there while a process in the background works on a request.
local function mark_of(home, id) return ("%s/.apsis/inbox/%s.work"):format(home, id) end

-- Starts a process in the background that works off what waits until a request has its line; its messages are in
-- logs/submit.log. true | nil, message, 3.
function work.background(home, dir, id)
  local log, mark = home .. "/logs/submit.log", mark_of(home, id)
  local ok, message = fs.write(mark, "")
  if not ok then return nil, message, 3 end
  local command = ("trap '' HUP; cd /; ($(command -v setsid) %s wait %s -C %s --json </dev/null; rm -f %s) >%s 2>&1 &")
    :format(quoted(host.executable), quoted(id), quoted(dir), quoted(mark), quoted(log))
  if os.execute(command) then return true end
  return nil, "no process could be started in the background", 3
end

-- Why the process in the background ended without a result: the last line of its messages | nil if it goes on.
local function failed(home, id)
  if fs.stat(mark_of(home, id)) then return nil end
  local text = fs.read(home .. "/logs/submit.log", 65536) or ""
  return (editline.last(text):gsub("^apsis: ", ""))
end

-- Closes a request that the project refuses to try. False if another process has the run's lock: it may be at it.
local function withdraw(home, id, reason)
  local held <close>, _, _, why = lock.take(home)
  local box = inboxes.new(home)
  if held and box:read(id) then box:close(id, { refused = reason }) end
  return why ~= "LOCKED"
end

-- Waits until a request has its line or the loop is over; if nobody works on it, this process does (with a deadline:
-- one in the background). A request that is refused does not wait any longer. options: timeout_s, here (this process
-- also with a deadline), quiet, look (what became of it; default outcome.of). What `look` returns.
function work.wait(self, id, options)
  local look = options.look or outcome.of
  local deadline = options.timeout_s and wait.now() + options.timeout_s
  local started, vain = nil, 0
  while true do
    local found, message, code = look(self.home, self.dir, id)
    if not found or found.state ~= "pending" or deadline and wait.now() >= deadline then return found, message, code end
    local free = not lock.holder(self.home)
    local answered = found.held and vain == 0 and holds.answer(self.home, found.held.experiment)
    if found.held and not answered or free and found.unanswered then return found end
    local why = free and started and failed(self.home, id)
    if why then
      found, message, code = look(self.home, self.dir, id)
      if not found or found.state ~= "pending" then return found, message, code end
      return nil, why, 3
    elseif free and deadline and not options.here and not started then
      started, message, code = work.background(self.home, self.dir, id)
      if not started then return nil, message, code end
    elseif free and (options.here or not deadline) then
      local done
      done, message, code, why = work.once(self.dir, options.quiet)
      local goes_on = done or why == "LOCKED" or code == REFUSED and not withdraw(self.home, id, message)
      if not goes_on then return nil, message, code end
      vain = done and vain + 1 or vain
      if vain == IN_VAIN then return nil, id .. " cannot be tried: its request is none that apsis wrote", 3 end
    end
    if not wait.sleep(POLL_S) then return nil, "interrupted", 130 end
  end
end

return work
