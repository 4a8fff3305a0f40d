-- input: lines from standard input for a command that takes its orders line by line, from a person at a terminal, who
-- gets a prompt, or from a pipe. Ctrl-C gives up a line, not the program.
local host = require "apsis.host"
local wait = require "apsis.wait"

local input = {}

local opened

-- Whether a person sees prompts.
function input.is_asked() return host.isatty(0) and host.isatty(1) end

-- The next line; nil where input ends or somebody ends the program; false if Ctrl-C gave it up.
function input.line(prompt)
  if not opened then
    io.stdin:setvbuf "no" -- so that waiting sees what is still to be read
    wait.trap()
    opened = true
  end
  if input.is_asked() then
    io.stdout:write(prompt)
    io.stdout:flush()
  end
  local line = wait.input() and io.read "l"
  if line then return line end
  if input.is_asked() then io.stdout:write "\n" end
  local count, name = wait.interrupts()
  if count > 0 and name == "SIGINT" and count ~= input.seen then
    input.seen = count
    wait.trap() -- it was answered: the next one is a first one
    return false
  end
  return nil
end

return input
