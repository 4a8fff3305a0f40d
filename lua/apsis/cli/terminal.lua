-- terminal: colour and a pager for a person who reads on a terminal, as git has them: NO_COLOR and TERM=dumb turn
-- colour off; APSIS_PAGER, else PAGER, else less, shows what a reading command prints.
local host = require "apsis.host"
local plain = require "apsis.project.plain"
local wait = require "apsis.wait"

local terminal = {}

-- Whether somebody at a terminal can answer a question.
function terminal.is_asked() return host.isatty(0) and host.isatty(2) end

-- Asks a question that only `y` or `yes` affirms.
function terminal.confirm(question)
  io.stderr:write(plain.text(question), " [y/N] ")
  io.stdin:setvbuf "no" -- so that waiting sees what is still to be read
  local answer = wait.input() and io.read "l"
  if not answer then io.stderr:write "\n" end
  return (answer or ""):lower():find "^%s*y" ~= nil
end

local codes = { red = 31, green = 32, yellow = 33, cyan = 36, bold = 1, dim = 2, reverse = 7 }

-- Whether the terminal shows more than ASCII.
function terminal.utf8()
  local locale = os.getenv "LC_ALL" or os.getenv "LC_CTYPE" or os.getenv "LANG" or ""
  return locale:upper():find "UTF%-?8" ~= nil
end

local colourful -- asked for once: a screen has hundreds of coloured texts

-- Whether standard output shows colours.
function terminal.colours()
  if colourful == nil then
    colourful = host.isatty(1) and (os.getenv "NO_COLOR" or "") == "" and os.getenv "TERM" ~= "dumb"
  end
  return colourful
end

-- A safe text in a colour, where the output shows colours; colour nil: as it is.
function terminal.paint(text, colour)
  if not colour or text == "" or not terminal.colours() then return text end
  return ("\27[%dm%s\27[m"):format(codes[colour], text)
end

local painted = { [""] = true } -- the sequences of paint
for _, code in pairs(codes) do painted[tostring(code)] = true end

-- A text as print shows it. On a terminal nothing controls it but paint's sequences: a journal of a cloned repository
-- may have others anywhere.
function terminal.safe(text)
  if not host.isatty(1) then return text end
  local parts, from = {}, 1
  for at, code, stop in text:gmatch "()\27%[(%d*)m()" do
    if painted[code] then
      parts[#parts + 1], from = plain.text(text:sub(from, at - 1)) .. text:sub(at, stop - 1), stop
    end
  end
  parts[#parts + 1] = plain.text(text:sub(from))
  return table.concat(parts)
end

-- The colour of a line of a patch; nil: none.
function terminal.patch_colour(line)
  if line:find "^@@" then return "cyan" end
  if line:find "^diff " or line:find "^index " or line:find "^%-%-%- " or line:find "^%+%+%+ " then return "bold" end
  return line:find "^%+" and "green" or line:find "^%-" and "red" or nil
end

-- The same of a patch, line by line.
function terminal.paint_patch(text)
  if not terminal.colours() then return text end
  return (text:gsub("[^\n]+", function(line) return terminal.paint(line, terminal.patch_colour(line)) end))
end

local LESS = "command -v less >/dev/null && exec less || exec cat"

-- From here on, what is printed goes through the pager, if this is a terminal and the pager is not cat. Returns a
-- function that waits until the pager has ended.
function terminal.page()
  local pager = os.getenv "APSIS_PAGER" or os.getenv "PAGER" or LESS
  local direct, direct_print = io.stdout, print
  local pipe = host.isatty(1) and pager ~= "" and pager ~= "cat" and
    io.popen('export LESS="${LESS-FRX}"; ' .. pager, "w")
  if not pipe then return function() end end
  wait.trap() -- Ctrl-C is the pager's
  rawset(io, "stdout", pipe)
  rawset(_G, "print", function(text) pipe:write(tostring(text), "\n") end)
  return function()
    rawset(io, "stdout", direct)
    rawset(_G, "print", direct_print)
    pipe:close()
  end
end

return terminal
