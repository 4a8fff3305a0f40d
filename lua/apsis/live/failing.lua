-- failing: what is whose fault: errors that end the run, those that a command or an answer is to blame for, and
-- warnings that are given once: methods of the live world, and of the world of a single job.
local fs = require "apsis.fs"

local failing = {}

-- That the project's folder is gone, of which a part may have been made again since; nil if it is there, or if this is
-- a node, which has none. Errors that follow from that name one file of many.
function failing:gone()
  local manifest = self.manifest
  if not manifest or not manifest.path or fs.stat(manifest.dir) and (fs.stat(manifest.path)
    or fs.stat(manifest.home .. "/logs/results.jsonl")) then return nil end
  return ("the project folder %s is gone: it was removed or moved while apsis worked in it, so nothing can be "
    .. "recorded; put it back, then `apsis run` goes on"):format(manifest.dir)
end

-- Raises an error that ends the run: message and exit code. A strategy's hook may catch it, but no line is written
-- afterwards.
function failing:fail(message, code)
  local gone = self:gone()
  self.broken = { fatal = true, message = gone or message, code = gone and 3 or code }
  error(self.broken, 0)
end

-- Unwraps what a primitive returned; an error ends the run.
function failing:need(value, message)
  if value == nil or value == false then self:fail(tostring(message), 3) end
  return value
end

-- Errors of a machine that is out of resources or broken.
local machine = {}
for code in ("EIO ENOSPC EDQUOT EROFS EMFILE ENFILE ENOMEM EAGAIN ENOBUFS EINTR"):gmatch "%a+" do
  machine[code] = true
end

-- Errors that names, modes and depths which a command or an answer left can cause.
local theirs = {}
for code in ("EPATH EINVAL EACCES EPERM ENAMETOOLONG ELOOP ENOTDIR EISDIR ENOTEMPTY EEXIST ENOENT"):gmatch "%a+" do
  theirs[code] = true
end

-- What a primitive returned about what a command or an answer left: nil and a message if that is at fault. Any other
-- error ends the run.
function failing:left(value, message, code)
  if not value and not theirs[code] then self:fail(message, 3) end
  return value, message
end

-- If the machine could not start a command, the candidate is not to blame: the run ends.
function failing:need_started(what, message, code)
  if code == "ESANDBOX" then message = message .. "; `apsis doctor` shows what works here" end
  if machine[code] or code == "ESANDBOX" then self:fail(("%s could not be started: %s"):format(what, message), 3) end
end

-- Warns the user once about what a failed command may have lacked, on the terminal only; text: a place's advice, or
-- nil.
function failing:advise(name, text)
  if text then self:warn_once(text, ("%s: %s"):format(name, text)) end
end

-- Warns once per run about `what`.
function failing:warn_once(what, text)
  if self.said[what] then return end
  self.said[what] = true
  self:log("warn", text)
end

return failing
