-- codex exec --json: an object a line. It reports no dollars.
local codex = { args = { "--json" }, tokens = true, usd = false }

function codex.read(found, object)
  local kind, item = object.type, found.table(object.item)
  if kind == "thread.started" then found.session = object.thread_id
  elseif kind == "item.completed" and item.type == "agent_message" then found.text = item.text
  elseif kind == "turn.completed" then
    local usage = found.table(object.usage)
    found.error = nil
    found:add { input = usage.input_tokens, cached = usage.cached_input_tokens, output = usage.output_tokens }
  elseif kind == "turn.failed" then found.error = found.table(object.error).message
  elseif kind == "error" then found.error = object.message end
end

return codex
