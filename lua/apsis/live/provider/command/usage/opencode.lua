-- opencode run --format json: an object a line, one `step_finish` a request. A model without a price costs 0 there.
local opencode = { args = { "--format", "json" }, tokens = true, usd = true, free_is_unknown = true }

function opencode.read(found, object)
  local part = found.table(object.part)
  found.session = object.sessionID or found.session
  if object.type == "text" then found.text = part.text
  elseif object.type == "step_finish" then
    local tokens = found.table(part.tokens)
    local cache = found.table(tokens.cache)
    local read = found.number(cache.read)
    found:add { input = found.number(tokens.input) + read + found.number(cache.write), cached = read,
      output = found.number(tokens.output) + found.number(tokens.reasoning), usd = part.cost }
  elseif object.type == "error" then
    local failed = found.table(object.error)
    local data = found.table(failed.data)
    found.error, found.status = data.message or failed.name, data.statusCode
  end
end

return opencode
