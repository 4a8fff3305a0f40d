-- messages: a question by the shipped templates (strategies/prompts), for strategies that have little to add to them.
-- For strategies.
local prompt = require "apsis.prompt"

local messages = {}

-- The fields of the shipped templates in addition to prompt.field_names.
messages.fields = { "explore", "exploit", "scratch", "stuck", "again", "place", "families", "lessons", "foreclosed",
  "untried", "guidance" }

-- The messages of a proposal: the template crossover for two parents, else mutation. extra: texts for some of
-- messages.fields; the others are left out.
function messages.write(run, proposal, extra)
  local fields = prompt.fields(run, proposal)
  for _, name in ipairs(messages.fields) do fields[name] = extra[name] or "" end
  local template = #proposal.parents > 1 and "crossover" or "mutation"
  return prompt.fitted(run, proposal, fields, function()
    return { { role = "system", content = prompt.render(run, "system", fields) },
      { role = "user", content = prompt.render(run, template, fields) } }
  end)
end

return messages
