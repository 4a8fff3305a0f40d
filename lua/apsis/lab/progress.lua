-- lab_progress: how far a campaign is: on a terminal one line with a bar and the time left, redrawn and at the end
-- cleared; in a pipe nothing, or with `spoken` a plain line every few seconds. If no trial has ended for some seconds
-- it shows what is busy. Writes to stderr. Called by lab.
local host = require "apsis.host"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local progress = {}

local Bar = {}
Bar.__index = Bar

local DRAW_S, SPEAK_S, WIDTH = 0.1, 5, 24
local SURE_S = 3 -- before that, what is left is a guess
local BUSY_S = 5 -- so long without the end of a trial, and what is running is named

function progress.new(options)
  local terminal = host.isatty(2) and os.getenv "TERM" ~= "dumb"
  return setmetatable({ terminal = terminal, silent = options.quiet or not (terminal or options.spoken),
    spoken = -math.huge, drawn = false }, Bar)
end

-- Trials from here on are of a part of the work, such as "fresh seeds".
function Bar:begin(title)
  self.title, self.began = title, wait.now()
  self.count, self.ended = 0, self.began
  if not self.terminal then self.spoken = self.began end
end

local function clock(seconds)
  seconds = math.ceil(seconds)
  if seconds >= 3600 then return ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60) end
  return ("%d:%02d"):format(seconds // 60, seconds % 60)
end

local function text_of(self, done, total, now, busy)
  local elapsed, quiet = now - self.began, now - self.ended
  local known = done > 0 and (elapsed >= SURE_S or done * 10 >= total)
  local left = known and clock(elapsed / done * (total - done)) .. " left" or "time left: ..."
  if quiet >= BUSY_S then left = ("busy for %d s: %s"):format(quiet // 1, show.line(busy(), 200)) end
  local count = ("%s  %d of %d trials  %s"):format(self.title, done, total, left)
  if not self.terminal then return count end
  local room = host.columns(2) or 80
  local width = math.min(WIDTH, room - #count - 4)
  if width < 4 then return count:sub(1, math.max(1, room - 1)) end
  local full = math.floor(width * done / total)
  return ("[%s%s] %s"):format(("#"):rep(full), ("."):rep(width - full), count)
end

-- busy() -> a text of what is running.
function Bar:update(done, total, busy)
  if self.silent then return end
  local now = wait.now()
  if done ~= self.count then self.count, self.ended = done, now end
  if now - self.spoken < (self.terminal and DRAW_S or SPEAK_S) then return end
  local text = text_of(self, done, total, now, busy)
  io.stderr:write(self.terminal and "\r\27[K" or "", text, self.terminal and "" or "\n")
  self.spoken, self.drawn = now, self.terminal
end

function Bar:clear()
  if self.drawn then io.stderr:write("\r\27[K") end
  self.drawn = false
end

return progress
