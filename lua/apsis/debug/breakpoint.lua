-- breakpoint: where `c` stops: a hook, an experiment, an outcome, a Lua expression, or several of them together.
local expression = require "apsis.debug.expression"
local suggest = require "apsis.suggest"

local breakpoint = {}

local Breakpoint = {}
Breakpoint.__index = Breakpoint

-- new(text, hooks, outcomes): "accept 40 kept if candidate.value > 3", each part optional. A breakpoint | nil, message.
function breakpoint.new(text, hooks, outcomes)
  local self = setmetatable({ text = text:match "^%s*(.-)%s*$" }, Breakpoint)
  local words, condition = self.text:match "^(.-)%f[%w_]if%f[^%w_]%s*(.*)$"
  if condition == "" then return nil, "an expression follows `if`" end
  if condition then
    local wrong
    self.holds, wrong = expression.new(condition)
    if not self.holds then return nil, ("no Lua expression: %s: %s"):format(condition, wrong) end
  end
  for word in (words or self.text):gmatch "%S+" do
    if math.tointeger(tonumber(word)) then self.experiment = math.tointeger(tonumber(word))
    elseif hooks[word] then self.hook = word
    elseif outcomes[word] then self.outcome = word
    else
      local known = suggest.names(hooks)
      table.move(suggest.names(outcomes), 1, #suggest.names(outcomes), #known + 1, known)
      return nil, ("%q is no hook, experiment or outcome%s; hooks: %s; an expression follows `if`"):format(word,
        suggest.sentence(word, known), table.concat(suggest.names(hooks), " "))
    end
  end
  if self.outcome and self.hook and self.hook ~= "learn" and self.hook ~= "line" then
    return nil, ("an outcome is known once the line is there: b learn %s, or b %s"):format(self.outcome, self.outcome)
  end
  return self
end

-- Whether it may stop at a step that begins, as far as is known then.
function Breakpoint:may_match(step)
  return (not self.hook or self.hook == step.hook) and (not self.experiment or self.experiment == step.experiment)
    and (not self.outcome or step.hook == (self.hook or "line") and step.passed[1].outcome == self.outcome)
    and not self.holds
end

-- Whether it stops at a step that has ended. An experiment alone stops where the walk enters it; last: the step before.
function Breakpoint:matches(step, last)
  if self.hook and self.hook ~= step.hook then return false end
  if self.experiment and self.experiment ~= step.experiment then return false end
  if self.outcome and not (step.hook == (self.hook or "line") and step.passed[1]
    and step.passed[1].outcome == self.outcome) then return false end
  if self.experiment and not (self.hook or self.outcome or self.holds) then return last ~= step.experiment end
  if not self.holds then return true end
  local ok, value = self.holds(step)
  if not ok then self.problem = value end
  return ok and value and true or false
end

return breakpoint
