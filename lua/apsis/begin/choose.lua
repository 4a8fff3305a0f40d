-- choose: what a first manifest says: from the options; else, in a terminal, from questions with what was found as the
-- default. Without either it names what is missing and what was found. Called by the command init.
local look = require "apsis.begin.look"
local plain = require "apsis.project.plain"
local paths = require "apsis.project.path"
local show = require "apsis.cli.table"
local host = require "apsis.host"
local wait = require "apsis.wait"

local choose = {}

-- Words in a metric's name that say which way is better.
local directions = {
  lower = { "time", "ms", "us", "ns", "sec", "seconds", "latency", "loss", "error", "err", "rmse", "mse", "size",
    "bytes", "kb", "mb", "mem", "memory", "cost", "misses", "cycles", "instructions", "duration" },
  higher = { "score", "accuracy", "acc", "rate", "ops", "qps", "throughput", "speed", "fps", "f1", "auc", "reward",
    "passed", "coverage", "gain" },
}

local function likely_direction(name)
  for direction, words in pairs(directions) do
    for _, word in ipairs(words) do
      if ("_" .. name:lower() .. "_"):find("%f[%a]" .. word .. "%f[%A]") then return direction end
    end
  end
end

local function tell(text)
  io.stderr:write(show.wrap(text, host.columns(2), ""), "\n")
end

-- Asks on the terminal; Enter takes the default. nil at the end of the input.
local function ask(question, default)
  local text = question .. (default and (" [%s]"):format(plain.text(default)) or "") .. ": "
  io.stderr:write(show.wrap(text, host.columns(2), ""))
  io.stdin:setvbuf "no" -- so that waiting sees what is still to be read
  local answer = wait.input() and io.read "l"
  if not answer then
    io.stderr:write "\n"
    return nil
  end
  answer = answer:match "^%s*(.-)%s*$"
  return answer ~= "" and answer or default or ""
end

-- Asks until there is an answer.
local function insist(question, default)
  local answer
  repeat answer = ask(question, default) until answer ~= ""
  return answer
end

local function split(text)
  local list = {}
  for part in text:gmatch "[^,%s]+" do list[#list + 1] = part end
  return list
end

local function ask_measure(found)
  tell(("A command that measures the project and prints a line METRIC NAME=NUMBER%s."):format(found.measures[1] and ""
    or ", such as ./bench.sh or: make -s && stat -c 'METRIC bytes=%s' program"))
  return insist("Measure with", found.measures[1])
end

local function ask_metric(_, choice, dir)
  local seen = look.metric(dir, choice.measure)
  return ask(seen and "The metric's name" or "The metric's name (Enter: the one that the command prints)", seen)
end

local function ask_direction(_, choice, dir)
  local seen = likely_direction(choice.metric or look.metric(dir, choice.measure) or choice.measure)
  while true do
    local answer = ask("Which is better, lower or higher", seen)
    if not answer then return nil end
    for _, direction in ipairs { "lower", "higher" } do
      if answer ~= "" and direction:sub(1, #answer) == answer:lower() then return direction end
    end
    tell "Please answer lower or higher."
  end
end

local function ask_writable(found)
  local answer = insist("Which files may change (paths or globs)", #found.writable > 0
    and table.concat(found.writable, ", ") or nil)
  return answer and split(answer)
end

local function ask_check(found)
  local answer = ask("A command that must succeed before anything is measured (- for none)", found.check or "-")
  return answer and (answer == "-" and {} or { answer })
end

local function ask_provider(found)
  tell(("Who proposes the changes: a coding agent (%s), a command that edits files, a Lua file (NAME.lua), or none "
    .. "(whoever calls `apsis submit`)."):format(table.concat(found.known, ", ")))
  return insist("Provider", found.agents[1])
end

-- Asks for a pattern that finds the number in a command's output. nil if the user has none.
function choose.pattern(output)
  tell("The command printed no line METRIC NAME=NUMBER. The end of its output:\n" .. show.escape(output))
  local answer = ask "A pattern with the number in ( ), such as: took ([0-9.]+) us (Enter: stop here)"
  return answer and answer ~= "" and answer or nil
end

local function quoted(text) return text and paths.quoted(text) end

-- The questions, in order: { field, option, asked(found, choice, dir) -> answer or nil at the end of input, seen(found)
-- -> what a message shows as found }.
local questions = {
  { "measure", "--measure COMMAND", ask_measure, function(found) return quoted(found.measures[1]) end },
  { "metric", "--metric NAME", ask_metric, optional = true },
  { "direction", "--lower or --higher", ask_direction },
  { "writable", "--writable GLOB", ask_writable, function(found)
    local words = {}
    for index, glob in ipairs(found.writable) do words[index] = quoted(glob) end
    return #words > 0 and (#words > 1 and "--writable " or "") .. table.concat(words, " --writable ") or nil
  end },
  { "check", "--check COMMAND", ask_check, optional = true },
  { "provider", "--provider NAME", ask_provider, function(found) return found.agents[1] end },
}

-- Whether the options answer every question that needs an answer: then nothing is asked.
function choose.complete(given)
  for _, question in ipairs(questions) do
    if not question.optional and given[question[1]] == nil then return false end
  end
  return true
end

-- given: { measure, metric, direction, writable, check, provider } as far as the options say; asks: whether there is a
-- terminal. { the same, whole } and what was found; nil, message, exit code.
function choose.all(dir, given, asks, is_ignored)
  local found, choice, missing = look.at(dir, is_ignored), {}, {}
  for _, question in ipairs(questions) do
    local field, option, asked, seen = table.unpack(question)
    local answer = given[field] ~= "" and given[field] or nil
    if answer == nil and asks then
      answer = asked(found, choice, dir)
      if answer == nil then return nil, "the questions were not answered; nothing was written", 2 end
    end
    if answer == nil and not question.optional then
      local likely = seen and seen(found)
      missing[#missing + 1] = option .. (likely and (" (found: %s)"):format(likely) or "")
    end
    choice[field] = answer ~= "" and answer or nil
  end
  if #missing == 0 then return choice, found end
  return nil, ("this needs %s, or a terminal to ask in; nothing was written. `apsis init --example` writes a small "
    .. "project to try"):format(table.concat(missing, ", ")), 2
end

return choose
