---@meta apsis.terminal
-- apsis.terminal: a terminal that gives each key at once, for scripts that fill the screen. What they show is text and
-- escape sequences, which they write to standard output.

---@class apsis.terminal
local terminal = {}

---@class apsis.terminal.Raw closing it puts the terminal back as it was
local raw = {}

function raw:close() end

---From now on keys can be read as they are pressed (wait.input), and are not echoed; Ctrl-C, Ctrl-Z and Ctrl-S are
---keys like others. Until the handle is closed. Raises on: not the number of a descriptor.
---@param fd integer 0 is standard input
---@return apsis.terminal.Raw? raw nil: "ENOTTY", no terminal is there
---@return string? message
---@return string? code
function terminal.raw(fd) end

return terminal
