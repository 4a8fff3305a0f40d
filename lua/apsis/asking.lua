-- asking: asks a model for advice after every N programs: counts them, makes the question, reads the answer.
-- A fold over lines. For strategies.
local prompt = require "apsis.prompt"

local asking = {}

local none = {}

-- new(intervals): after how many programs each kind of question is due; 0: never.
function asking.new(intervals)
  local self = { every = intervals, since = {}, ideas = {} }
  for kind in pairs(intervals) do self.since[kind] = 0 end
  return self
end

-- A program was measured, or crashed.
function asking.count(self)
  for kind, count in pairs(self.since) do self.since[kind] = count + 1 end
end

-- A question's line: its kind, and the answer; nil for other lines. The ideas of a list are kept until the next one.
function asking.heard(self, line)
  local kind = (line.notes or none).ask
  if not kind then return nil end
  self.since[kind] = 0
  if kind ~= "ideas" or not line.answer then return kind, line.answer end
  self.ideas = {}
  for text in line.answer:gmatch "[^\n]+" do
    self.ideas[#self.ideas + 1] = text:match "^%s*[-*%d][%d.)]*%s+(.+)$"
  end
  return kind, line.answer
end

-- The proposal that asks what is due, nil if nothing is, if a question is in flight, or if there is no model to ask.
-- words: what to ask, by kind.
function asking.due(self, run, words)
  if #run.models == 0 then return nil end
  for _, proposal in ipairs(run.pending) do if (proposal.notes or none).ask then return nil end end
  for _, kind in ipairs { "ideas", "instructions" } do
    local every, shown = self.every[kind] or 0, {}
    if every > 0 and self.since[kind] >= every then
      for _, record in ipairs(run.recent(10)) do
        if record.outcome ~= "asked" then shown[#shown + 1] = "- " .. prompt.facts(run, record) end
      end
      local content = ("# %s\n\n%s\n\n%s\n\nThe newest attempts:\n\n%s\n\n%s"):format(run.project.name,
        run.project.program or "", prompt.metric(run), table.concat(shown, "\n"), words[kind])
      return { ask = { { role = "user", content = content } }, notes = { ask = kind } }
    end
  end
end

return asking
