local fs = require "apsis.fs"
local tap = require "tap"
local terminal = require "apsis.terminal"

-- The number of the descriptor that the new terminal has.
local function descriptor()
  for _, name in ipairs(assert(fs.list "/proc/self/fd")) do
    if (fs.readlink("/proc/self/fd/" .. name) or ""):find "ptmx" then return tonumber(name) end
  end
end

-- Whether what is typed there is shown: "echo" or "-echo".
local function mode(fd)
  local pipe <close> = assert(io.popen(("stty -a <&%d"):format(fd)))
  return pipe:read "a":match "%f[%w-]%-?echo%f[%W]"
end

tap.test("raw needs the number of a descriptor, and a terminal behind it", function()
  tap.raises("not a file descriptor", terminal.raw, -1)
  tap.raises("not a file descriptor", terminal.raw, 1 << 31)
  tap.raises("number expected", terminal.raw)
  tap.equal(select(3, terminal.raw((1 << 31) - 1)), "EBADF")
end)

tap.test("nothing typed is shown until the handle is closed, or goes out of scope", function()
  local master <close> = assert(io.open("/dev/ptmx", "r+"))
  local fd = assert(descriptor())
  tap.equal(mode(fd), "echo")
  local raw <close> = assert(terminal.raw(fd))
  tap.equal(mode(fd), "-echo")
  raw:close()
  tap.equal(mode(fd), "echo")
  do
    local _ <close> = assert(terminal.raw(fd))
    tap.equal(mode(fd), "-echo")
  end
  tap.equal(mode(fd), "echo")
  tap.equal(io.type(master), "file")
end)

tap.done()
