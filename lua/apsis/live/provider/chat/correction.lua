-- correction: the message that asks a chat model to correct an unusable answer; and the problem, read back from such a
-- message. Called by chat/model and show.
local correction = {}

local UNUSABLE, AGAIN = "Your answer could not be used: ",
  "\n\nNothing of it was applied; the files are as they were shown. "
  .. "Answer again, whole, in the format asked for."

function correction.ask(problem) return UNUSABLE .. problem .. AGAIN end

-- The problems of the answers that were sent back, from the messages of a runs/NNNN/prompt*.json.
function correction.problems(list)
  local problems = {}
  for _, message in ipairs(type(list) == "table" and list or {}) do
    local text = type(message) == "table" and message.role == "user" and type(message.content) == "string"
      and message.content or ""
    if text:sub(1, #UNUSABLE) == UNUSABLE and text:sub(-#AGAIN) == AGAIN then
      problems[#problems + 1] = text:sub(#UNUSABLE + 1, -#AGAIN - 1)
    end
  end
  return problems
end

return correction
