-- faults: what is wrong with a strategy's file, each with its place, and how to fix it: from messages of the loader and
-- of hooks, from what the watch has seen, and from the file's text. Knows no trial.
local contract = require "apsis.core.strategy"
local state = require "apsis.lab.check.state"

local faults = {}

-- What helps against a message: the first pattern that it matches.
local remedies = {
  { "only init and learn may write run.memory", "learn it from the line in learn; what learn needs goes into notes" },
  { "over its limit of [%d.]+ s", "a loop there does not end, or takes too long: a hook has a second here" },
  { "over its limit of %d+ MB", "it holds too much: keep ids and numbers, and ask run.get for candidates" },
  { "called with a dot", "a metric's functions take the metric first: a colon gives it" },
  { "random.*expected, got", "a stream's functions take the stream first: run.rng:random(), with a colon" },
  { "unknown option", "name one of the options that the file declares, or declare it" },
  { "option %S+ must be", "give a value of the kind that its default has" },
  { "unknown hook", "rename it; make your own helpers local" },
  { "unknown key %S+ in a proposal", "rename it; your own keys go into notes" },
  { "returned a group of", "a group has at most run.free proposals" },
  { "is no candidate", "parents are candidates or their ids: run.best, run.get(id)" },
  { "has no commit", "only candidates with a commit are parents: look at candidate.commit" },
  { "impossible to repeat", "only run.rng and run.now are the same when the run is replayed" },
  { "hook accept returned", "return true or false, and perhaps a reason" },
  { "hook halt returned", "return nothing to go on, or the reason to stop" },
  { "hook select returned", "return the index of an answer, or nil and why none is taken" },
  { "a run has no field", "see the fields in `apsis help strategy`" },
  { "is read%-only", "remember in run.memory, in init and learn" },
  { "declares no option", "declare it with its default: options = { NAME = VALUE }" },
  { "returns a table of hooks", "end the file with return and the table" },
  { "attempt to call a nil value %(method", "that object has no such function: see `apsis help strategy`" },
  { "attempt to .* a nil value %(local 'run'", "a hook's first parameter is run: function mine.plan(run)" },
  { "attempt to .* a nil value", "it may be absent: test for nil first; a candidate that failed has no value" },
}

local function remedy_for(text, hook)
  for _, entry in ipairs(remedies) do
    if text:find(entry[1]) then return entry[2] end
  end
  return hook and "fix the error there; --trace shows the experiments until then"
    or "fix the file there: it cannot be loaded"
end

local function plain(text)
  return (text:gsub("([^%w%s])", "%%%1"))
end

-- The first line of a file's text that a pattern matches; nil if none does.
function faults.line_of(source, pattern)
  local number = 0
  for line in (source .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if line:find(pattern) then return number end
  end
end

-- The first line that names something as a whole word.
function faults.line_naming(source, name)
  return faults.line_of(source, "%f[%w_]" .. plain(name) .. "%f[^%w_]")
end

-- A hook's first line; nil if the file does not have it as a function.
function faults.line_of_hook(strategy, hook)
  local body = strategy and strategy.own[hook]
  return type(body) == "function" and state.is_own(body) and debug.getinfo(body, "S").linedefined or nil
end

-- A fault of a message that the loader or a hook raised. file: the strategy's name without folders.
function faults.of_message(message, file, source)
  local hook = message:match "hook (%l+): " or message:match "(%l+) returned "
  local line = tonumber(message:match(plain(file) .. ":(%d+):"))
  local text = message:match "^[^\n]*"
  text = text:gsub("[^%s:]*" .. plain(file) .. ":%d*:? ?", ""):gsub("^hook (%l+): ", "%1: ")
  text = text:gsub("lua/apsis/[%w_/]+%.lua:%d+: ", "") -- where a tail call left no line of the strategy's
  local dotted = text:match "(%l+) was called with a dot"
  if not line and dotted then line = faults.line_of(source, "metric%." .. dotted .. "%f[^%w_]") end
  local named = text:match 'unknown hook "([^"]+)"' or text:match 'unknown key "([^"]+)"'
  if not line and named then line = faults.line_naming(source, named) end
  return { check = hook and "hooks" or "loads", hook = hook, line = line, text = text, remedy = remedy_for(text, hook) }
end

-- Faults that a file shows without being run: hooks that are written as methods, or are not in its table.
function faults.of_shape(strategy, source)
  local list = {}
  for _, hook in ipairs(contract.hooks) do
    local body = strategy.own[hook]
    if body and debug.getlocal(body, 1) == "self" then
      list[#list + 1] = { check = "hooks", hook = hook, line = debug.getinfo(body, "S").linedefined,
        text = hook .. " is written with a colon, so that run arrives as self and its own parameters are shifted",
        remedy = ("write a dot: function NAME.%s(run, ...)"):format(hook) }
    end
    local line = not body and faults.line_of(source, "^%s*local function " .. hook .. "%f[^%w_]")
    if line then
      list[#list + 1] = { check = "hooks", hook = hook, line = line,
        text = ("the local function %s is not in the table that the file returns, so it is never called"):format(hook),
        remedy = ("write function NAME.%s(...), NAME being that table; or rename the function"):format(hook) }
    end
  end
  return list
end

local of_kind = {}

function of_kind.writes(noted)
  local is_hook = false
  for _, hook in ipairs(contract.hooks) do is_hook = is_hook or hook == noted.name end
  return "globals", ("it writes the global %s, which survives from hook to hook and is lost at a restart"):format(
    noted.name), is_hook and ("a hook belongs into the table: function NAME.%s(...)"):format(noted.name)
    or "make it local; what must last is run.memory's, in init and learn"
end

function of_kind.reads(noted)
  return "globals", ("it reads the global %s, which nothing sets: it is nil"):format(noted.name),
    "name what was meant: run." .. noted.name .. ", a local, or a parameter"
end

function of_kind.changes(noted)
  local what = noted.name
  if what:find "^run%.memory" then
    return "memory", ("%s changes %s, which only init and learn may: after a restart it is not there"):format(
      noted.hook, what), "change it in learn, using the line; or carry it in the proposal's notes"
  end
  return "memory", ("%s changes %s, which is not the strategy's to change%s"):format(noted.hook, what,
    noted.hook == "learn" and "" or ", and is forgotten at a restart"),
    "copy what you change; remember in run.memory, in init and learn"
end

-- A fault of what the watch noted.
function faults.of_noted(noted, strategy)
  local check, text, remedy = of_kind[noted.kind](noted)
  return { check = check, hook = noted.hook or nil, text = text, remedy = remedy,
    line = noted.line or faults.line_of_hook(strategy, noted.hook) }
end

return faults
