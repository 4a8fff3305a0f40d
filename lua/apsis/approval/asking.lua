-- asking: the engine's `hold` (core/DETAILS.md): which candidates a person is asked about, what the answers are, and
-- what happens when nobody answers. An answer is a text: keep or reject, and after that the reason.
local held = require "apsis.live.held"
local line = require "apsis.core.line"
local schema = require "apsis.approval.schema"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local asking = {}

local Asking = {}
Asking.__index = Asking

local PAUSE_S <const> = 0.3

local outcomes <const> = { keep = "kept", reject = "reverted_not_approved" }

-- at: the project's directory for a command, as an option.
function asking.new(session, at)
  local spec = session.manifest.approval or { when = "never" }
  return setmetatable({ session = session, home = session.home, at = at, spec = spec, told = {},
    above = spec.ask_above and schema.gain(spec.ask_above), after_s = spec.timeout and schema.seconds(spec.timeout) },
    Asking)
end

-- Whether a candidate's gain over the best is more than what is kept without asking. What cannot be compared is asked
-- about.
local function is_above(self, slot)
  local above, engine = self.above, self.session.engine
  local bar = engine.history.bar
  local gain = engine.metric:gain(slot.value, bar)
  if not above or not gain then return true end
  return gain > (above.amount or above.share * math.abs(bar))
end

-- What a slot waits for, in words; nil: nobody is asked.
function Asking:asks(slot)
  if self.spec.when == "never" or not is_above(self, slot) then return nil end
  return "waits for approval: apsis approve " .. line.id(slot.number)
end

-- keep or reject, and the reason or nil, of an answer's text; nil if it is neither.
function asking.parse(text)
  local word, reason = text:match "^%s*(%a+)[%s:]*(.-)%s*$"
  if not outcomes[word] then return nil end
  return word, reason ~= "" and show.line(reason, 1000) or nil
end

local said <const> = { keep = "a person approved it", reject = "a person rejected it" }

-- An answer as the engine has it. by: person or timeout.
local function answer_of(slot, word, by, reason, now)
  local text = by == "timeout" and reason or reason and ("%s: %s"):format(said[word], reason) or said[word]
  return { outcome = outcomes[word], reason = word == "reject" and text or nil, text = text,
    noted = { answer = word, by = by, reason = reason, asked = slot.held.since, answered = now } }
end

local function given(self, slot, now)
  local text = held.answer(self.home, slot.number)
  local word, reason = asking.parse(text or "")
  if word then return answer_of(slot, word, "person", reason, now) end
  if text and self.told[slot.number] ~= text then
    self.told[slot.number] = text
    self.session:log("warn", ("%s/.apsis/held/%s.answer ignored: its first word is neither keep nor reject"):format(
      self.home, line.id(slot.number)))
  end
end

local function timed_out(self, slot, now)
  if not self.after_s or now - slot.held.since < self.after_s then return nil end
  local word, text = self.spec["then"], ("nobody answered within %s"):format(self.spec.timeout)
  if word == "stop" then
    return { stop = ("%s %s; %s (approval.then: stop)"):format(line.id(slot.number), slot.held.text, text) }
  end
  return { slot = slot, answer = answer_of(slot, word, "timeout",
    ("%s (approval.then: %s)"):format(text, word), now) }
end

-- Those that wait and have no answer yet, in order.
local function waiting(engine)
  local list = {}
  for _, number in ipairs(engine:in_flight()) do
    local slot = engine.slots[number]
    if slot.held and not slot.held.answer then list[#list + 1] = slot end
  end
  return list
end

-- { slot, answer } of one that has its answer; { stop } if one has waited for too long; nil.
function Asking:next(engine)
  if not next(engine.slots) then return nil end
  local list, now = waiting(engine), engine.world:now()
  for _, slot in ipairs(list) do
    local answer = given(self, slot, now)
    if answer then return { slot = slot, answer = answer } end
  end
  for _, slot in ipairs(list) do
    local late = timed_out(self, slot, now)
    if late then return late end
  end
end

-- There is nothing else to do.
function Asking:pause(engine)
  if not self.said then
    local ids = {}
    for index, slot in ipairs(waiting(engine)) do ids[index] = line.id(slot.number) end
    self.session:log("warn", ("nothing else to do: %s wait%s for approval: apsis approve%s"):format(
      table.concat(ids, ", "), #ids == 1 and "s" or "", self.at))
    self.said = true
  end
  wait.sleep(PAUSE_S)
end

return asking
