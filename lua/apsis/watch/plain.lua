-- plain: the same as lines of text, for a screen reader, a log or a pipe: the facts, and then each experiment as it
-- ends and what rooms tell of as it changes, until the run does.
local journal = require "apsis.watch.journal"
local now = require "apsis.watch.now"
local safe = require "apsis.project.plain"
local wait = require "apsis.wait"

local plain = {}

-- Prints a line in which nothing controls a terminal, wherever it goes; nil if nobody reads any more.
local function say(line) return print(safe.text((line:gsub("[\t\r\n]+", " ")))) end

local FOLLOW_S <const> = 1

-- nil if nobody reads any more.
local function print_facts(view)
  local lines = { now.title(view) }
  local function add(form, ...) lines[#lines + 1] = form:format(...) end
  for _, fact in ipairs(now.facts(view)) do add("%s: %s", fact[1], fact[2]) end
  for _, slot in ipairs(view.facts.in_flight) do add("in flight: %s", (now.worker(slot):gsub("^ +", ""))) end
  for _, fact in ipairs(view:trust()) do add("trust, %s%s: %s", fact[1], fact[3] and ", doubtful" or "", fact[2]) end
  for _, line in ipairs(lines) do
    if not say(line) then return nil end
  end
  return true
end

-- Prints what rooms tell of, such as what waits for approval, where it is not what was said; nil if nobody reads any
-- more.
local function print_changed(view, said)
  local facts, first = now.facts(view)
  for place = first, #facts do
    local label, text = facts[place][1], facts[place][2]
    if said[label] ~= text and not say(("%s: %s"):format(label, text)) then return nil end
    said[label] = text
  end
  return true
end

-- Prints the experiments that ended since, and the facts when the run has; nil if nobody reads any more.
local function print_new(view, at, said)
  for index = at + 1, view.history.count do
    local line = journal.line(view.history:at(index), view.home):gsub("^ +", ""):gsub("  +", "  ")
    if not say(line) then return nil end
  end
  if not view.facts.running then return print_facts(view) end
  return print_changed(view, said)
end

-- true | nil, message, code.
function plain.follow(view)
  local ok, message, code = wait.trap()
  if not ok then return nil, message, code end
  while view:read(1) do end
  local read, said = print_facts(view), {}
  for _, fact in ipairs(now.facts(view)) do said[fact[1]] = fact[2] end
  while read and view.facts.running do
    local at = view.history.count
    if not wait.sleep(FOLLOW_S) then return nil, nil, 130 end
    ok, message, code = view:follow()
    if ok == nil then return nil, message, code end
    read = print_new(view, at, said)
  end
  return true
end

return plain
