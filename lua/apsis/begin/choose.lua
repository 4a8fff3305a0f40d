-- choose: what a first manifest says: from the options; else, in a terminal, from questions with what was found as the
-- default. Without either it names what is missing and what was found. Called by the command init.
local look = require "apsis.begin.look"
local plain = require "apsis.project.plain"

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
      if ("_" .. name:lower() .. "_"):find("[_.]" .. word .. "[_.]") then return direction end
    end
  end
end

-- Asks on the terminal; Enter takes the default. nil at the end of the input.
local function ask(question, default)
  io.stderr:write(question, default and (" [%s]"):format(plain.text(default)) or "", ": ")
  local answer = io.read "l"
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

-- The questions, in order: { field, option, asked(found, choice) -> answer or nil at the end of input, found(found) ->
-- what a message shows }.
local questions = {
  { "measure", "--measure COMMAND", function(found)
    io.stderr:write("A command that measures the project and prints a line METRIC NAME=NUMBER.\n")
    return insist("Measure with", found.measures[1])
  end, function(found) return found.measures[1] end },
  { "metric", "--metric NAME", function()
    return ask "The metric's name (Enter: the one that the command prints)"
  end, optional = true },
  { "direction", "--lower or --higher", function(_, choice)
    while true do
      local answer = insist("Is lower or higher better", likely_direction(choice.metric or choice.measure))
      if not answer then return nil end
      for _, direction in ipairs { "lower", "higher" } do
        if direction:sub(1, #answer) == answer:lower() then return direction end
      end
    end
  end },
  { "writable", "--writable GLOB", function(found)
    local answer = insist("Which files may change", #found.writable > 0 and table.concat(found.writable, ", ") or nil)
    return answer and split(answer)
  end, function(found) return #found.writable > 0 and table.concat(found.writable, " ") or nil end },
  { "check", "--check COMMAND", function(found)
    local answer = ask("A check that must pass before anything is measured (- for none)", found.check or "-")
    return answer and (answer == "-" and {} or { answer })
  end, optional = true },
  { "provider", "--provider NAME", function(found)
    io.stderr:write(("Who proposes the changes: a coding agent (%s) or a command.\n"):format(table.concat(found.known,
      ", ")))
    return insist("Provider", found.agents[1])
  end, function(found) return found.agents[1] end },
}

-- given: { measure, metric, direction, writable, check, provider } as far as the options say; asks: whether there is a
-- terminal. { the same, whole } and what was found; nil, message, exit code.
function choose.all(dir, given, asks, is_ignored)
  local found, choice, missing = look.at(dir, is_ignored), {}, {}
  for _, question in ipairs(questions) do
    local field, option, asked, seen = table.unpack(question)
    local answer = given[field]
    if answer == nil and asks then
      answer = asked(found, choice)
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
