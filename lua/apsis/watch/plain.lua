-- plain: the same as lines of text, for a screen reader, a log or a pipe: the facts, and then each experiment as it
-- ends, until the run does.
local journal = require "apsis.watch.journal"
local now = require "apsis.watch.now"
local safe = require "apsis.project.plain"
local wait = require "apsis.wait"

local plain = {}

-- A line in which nothing controls a terminal, wherever it goes.
local function say(line) print(safe.text(line)) end

local FOLLOW_S <const> = 1

local function print_facts(view)
  say(now.title(view))
  for _, fact in ipairs(now.facts(view)) do say(("%s: %s"):format(fact[1], fact[2])) end
  for _, slot in ipairs(view.facts.in_flight) do say("in flight: " .. now.worker(slot):gsub("^ +", "")) end
  for _, fact in ipairs(now.trust(view)) do
    say(("trust, %s%s: %s"):format(fact[1], fact[3] and ", doubtful" or "", fact[2]))
  end
  io.stdout:flush()
end

-- 0 | nil, message, code.
function plain.follow(view)
  local ok, message, code = wait.trap()
  if not ok then return nil, message, code end
  while view:read(1) do end
  print_facts(view)
  while view.facts.running do
    local at = view.history.count
    if not wait.sleep(FOLLOW_S) then return nil, nil, 130 end
    ok, message, code = view:follow()
    if ok == nil then return nil, message, code end
    for index = at + 1, view.history.count do
      say((journal.line(view.history:at(index), view.home):gsub("^ +", ""):gsub("  +", "  ")))
    end
    io.stdout:flush()
    if not view.facts.running then print_facts(view) end
  end
  return 0
end

return plain
