-- shown: what `apsis debug` prints, for people or as JSON, a line for each answer. What strategies print and candidates
-- hold is text here and nothing else.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local legible = require "apsis.core.legible"
local memory = require "apsis.debug.memory"
local sandbox = require "apsis.core.sandbox"
local show = require "apsis.cli.table"
local steps = require "apsis.debug.step"

local shown = {}

local Shown = {}
Shown.__index = Shown

local help <const> = [[
s [N]   step: the next hook or line, or the Nth      r [N]   back one step, or N
n       to the next experiment                       rn      to the experiment before
c       on to a breakpoint, or to the end            rc      back to a breakpoint
g N     to experiment N                              w       this step again
p EXPR  a Lua expression: run, memory, returned, what the hook was given (candidate, line, ...),
        and the locals of the strategy's file that a hook uses (not those inside a hook: print them there)
m       memory                                       l       the hook's source
b WHAT  break at a hook, an experiment, an outcome or an expression, or at several together:
        b accept   b 40   b kept   b if run.since_best > 9   b accept if candidate.value > 3
b       the breakpoints                              d N     delete one; d all
f       after you changed the strategy's file: read it again, and go to the start of this experiment with it
h       this                                         q       quit
An empty line does the last command again. Ctrl-C stops going.]]

function shown.new(as_json) return setmetatable({ as_json = as_json }, Shown) end

local function lines_of(text)
  for line in (show.escape(text) .. "\n"):gmatch "([^\n]*)\n" do print(line) end
end

local function answer(self, key, text)
  if self.as_json then print(json.encode { [key] = text }) else lines_of(text) end
end

function Shown:step(step)
  if self.as_json then return print(steps.json(step)) end
  for _, line in ipairs(steps.lines(step)) do print(line) end
end

-- A remark; with a step: on that.
function Shown:note(text, step)
  answer(self, "note", text)
  if step then self:step(step) end
end

function Shown:wrong(text) answer(self, "error", text) end

-- A breakpoint's expression failed at a step, for the first time.
function Shown:failing(number, problem, step)
  local text = "breakpoint %d fails at step %d, %s, and so does not stop there: %s"
  self:note(text:format(number, step.number, step.hook, problem))
end

function Shown:help() answer(self, "help", help) end

-- Breakpoints by number.
function Shown:breaks(breaks)
  local texts = {}
  for _, number in ipairs(show.sorted(breaks)) do
    local one = breaks[number]
    texts[#texts + 1] = ("breakpoint %d: %s%s"):format(number, one.text, one.problem and
      (" (not true where it failed: %s)"):format(one.problem) or "")
  end
  answer(self, "breakpoints", #texts > 0 and table.concat(texts, "\n") or "no breakpoints")
end

local function one_line(text) return (text:gsub("\\?\r?\n", "\\n")) end

-- A value: a table with each of its keys on a line.
local function value_text(value)
  local text = legible(value)
  if type(value) ~= "table" or text:sub(1, 1) ~= "{" or #text < 70 then return text end
  local rows = {}
  for key, element in sandbox.sorted_pairs(value) do
    rows[#rows + 1] = one_line(("  %s = %s"):format(tostring(key), type(element) == "string"
      and ("%q"):format(element) or legible(element)))
  end
  return "{\n" .. table.concat(rows, "\n") .. "\n}"
end

function Shown:values(values)
  local texts = {}
  for index = 1, values.n do
    local ok, text = pcall(value_text, values[index])
    texts[index] = ok and text or type(text) == "string" and text or "a value that cannot be shown"
  end
  answer(self, "value", #texts > 0 and table.concat(texts, "\n") or "nil")
end

function Shown:memory(step)
  local picture, rows = memory.picture(step.owner), {}
  if self.as_json then return print(json.encode { memory = picture }) end
  for path, text in sandbox.sorted_pairs(picture) do
    if text ~= "{...}" then rows[#rows + 1] = one_line(("%s = %s"):format(path, text)) end
  end
  lines_of(#rows > 0 and table.concat(rows, "\n") or "memory is empty")
end

-- The source of a step's hook, with the numbers of its lines.
function Shown:source(step)
  local at = step.body and debug.getinfo(step.body, "S")
  local path = at and at.source:match "^@(.*)$"
  local text = path and (fs.read(path) or host.read(path))
  if not text then return self:wrong "this step has no source: it is a line of the journal" end
  local rows, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if number >= at.linedefined and number <= at.lastlinedefined then
      rows[#rows + 1] = ("%5d  %s"):format(number, line)
    end
  end
  answer(self, "source", table.concat(rows, "\n"))
end

return shown
