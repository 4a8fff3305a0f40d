-- repl: `apsis exec -i`: Lua line by line, with apsis's modules: an expression's values are shown, an unfinished
-- statement goes on in the next line. Ctrl-C ends what runs, or gives up a line.
local input = require "apsis.cli.input"
local legible = require "apsis.core.legible"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local repl = {}

local EVERY <const> = 10000 -- instructions between two looks for Ctrl-C

-- The function of a text, an expression or statements; nil, message, and whether it is only unfinished.
local function chunk_of(text)
  local chunk = load("return " .. text, "=stdin", "t")
  if chunk then return chunk end
  local message
  chunk, message = load(text, "=stdin", "t")
  return chunk, message, message and message:find "<eof>$" ~= nil
end

-- The next whole piece of Lua as a function; nil at the end; false and why it is none.
local function read_chunk()
  local text, prompt = nil, "> "
  while true do
    local line = input.line(prompt)
    if not line then
      if line == nil and text then return false, select(2, chunk_of(text)) end
      return line
    end
    text = text and text .. "\n" .. line or line
    local chunk, message, unfinished = chunk_of(text)
    if not unfinished then return chunk or false, message end
    prompt = ">> "
  end
end

local INTERRUPTED <const> = "interrupted"

local function traceback(what)
  if what == INTERRUPTED then return what end
  return debug.traceback(type(what) == "string" and what or legible(what), 2)
end

-- Calls a function; Ctrl-C raises an error in it.
local function call(chunk)
  local before = wait.interrupts()
  debug.sethook(function()
    if wait.interrupts() > before then error(INTERRUPTED, 0) end
  end, "", EVERY)
  local results = table.pack(xpcall(chunk, traceback))
  debug.sethook()
  return results
end

local function print_error(message)
  io.stderr:write(show.escape((message:gsub("\n[^\n]*%[C%]: in function 'xpcall'.*$", ""))), "\n")
end

-- Reads and calls until input ends.
function repl.run()
  if input.is_asked() then print 'Lua 5.4 with apsis: json = require "apsis.json"; Ctrl-D ends' end
  while true do
    local chunk, message = read_chunk()
    if chunk == nil then return end
    if message then print_error(message) end
    local results = chunk and call(chunk) or { true, n = 1 }
    if not results[1] then print_error(results[2]) end
    for index = 2, results[1] and results.n or 0 do
      results[index - 1] = show.escape(legible(results[index]))
    end
    if results[1] and results.n > 1 then print(table.concat(results, "\t", 1, results.n - 1)) end
  end
end

return repl
