-- path: a path for messages and for commands to type. Called by project, live and the commands.
local fs = require "apsis.fs"
local nearest = require "apsis.project.nearest"

local path = {}

-- A path, relative if it is below the current folder; safe for a terminal.
function path.display(name)
  local real, cwd = fs.realpath(name), fs.cwd()
  local below = real and cwd and cwd ~= "/" and real:sub(1, #cwd + 1) == cwd .. "/"
  return nearest.escape(below and real:sub(#cwd + 2) or real or name)
end

-- One word for the shell, quoted if it must be.
function path.quoted(text)
  return text:find "^[%w_/.,:=+@-]+$" and text or "'" .. text:gsub("'", "'\\''") .. "'"
end

-- " DIR" for a command in a message, quoted if the shell needs that; "" for the current folder.
function path.argument(dir)
  if not dir or dir == "." then return "" end
  return " " .. path.quoted(dir)
end

return path
