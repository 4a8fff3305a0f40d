-- pi --mode json: an object a line, one `message_end` a request. It ends with exit 0 also where its model refused. A
-- model without a price costs 0 there.
local pi = { args = { "--mode", "json" }, tokens = true, usd = true, free_is_unknown = true }

local function text_of(content)
  local parts = {}
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and part.type == "text" then parts[#parts + 1] = tostring(part.text) end
  end
  return #parts > 0 and table.concat(parts, "\n") or nil
end

function pi.read(found, object)
  if object.type == "session" then found.session = object.id end
  local message = found.table(object.message)
  if object.type ~= "message_end" or message.role ~= "assistant" then return end
  local usage = found.table(message.usage)
  local read = found.number(usage.cacheRead)
  found:add { input = found.number(usage.input) + read + found.number(usage.cacheWrite), cached = read,
    output = usage.output, usd = found.table(usage.cost).total }
  found.text, found.model = text_of(message.content) or found.text, message.model
  found.error = message.stopReason == "error" and (message.errorMessage or "its model failed") or nil
end

return pi
