-- terminal: every function of apsis.terminal, for allocations.c: `return run, prepare`. A terminal is not needed.
return function(step)
  local terminal = require "apsis.terminal"
  step("no terminal", function()
    local raw, message, code = terminal.raw(1000)
    if raw or code ~= "EBADF" then error(message or "a terminal where none is", 2) end
  end)
end
