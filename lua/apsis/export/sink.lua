-- sink: where exported text goes: standard output, or a file that is replaced when all is written, so that a reader
-- never sees half of it. A pipe or device is written to as it is.
local fs = require "apsis.fs"
local host = require "apsis.host"
local show = require "apsis.cli.table"

local sink = {}

local Sink = {}
Sink.__index = Sink

local BROKEN_PIPE = 32 -- the reader has gone, like head

-- open(path) -> sink | nil, message. "-" is standard output.
function sink.open(path)
  if path == "-" then return setmetatable({ file = io.stdout, shown = host.isatty(1) }, Sink) end
  local stat = fs.stat(path)
  if stat and stat.type == "directory" then return nil, ("%s is a folder; name a file"):format(path) end
  local self = setmetatable({}, Sink)
  if not stat or stat.type == "file" then
    self.path = stat and fs.realpath(path) or path
    self.temporary = ("%s.tmp-%d-0"):format(self.path, host.pid)
  end
  local message
  self.file, message = io.open(self.temporary or path, "wb")
  if not self.file then return nil, "cannot write " .. message end
  return self
end

-- true | nil, message; the message is nil if the reader has gone.
function Sink:write(text)
  if self.shown then text = show.escape(text) end
  local ok, message, number = self.file:write(text)
  if ok then return true end
  return nil, number ~= BROKEN_PIPE and "cannot write: " .. message or nil
end

-- All is written: the file takes its name. true | nil, message.
function Sink:close()
  if self.file == io.stdout then return self:write "" end
  local ok, message = self.file:close()
  if ok and self.temporary then ok, message = fs.rename(self.temporary, self.path) end
  if not ok then
    self:abandon()
    return nil, "cannot write: " .. message
  end
  return true
end

function Sink:abandon()
  if self.file ~= io.stdout then pcall(self.file.close, self.file) end
  if self.temporary then fs.remove(self.temporary) end
end

return sink
