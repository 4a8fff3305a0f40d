-- claude -p --output-format json: one object at the end.
local claude = { args = { "--output-format", "json" }, tokens = true, usd = true }

-- At these limits of the manifest's an answer ends; what it changed until then counts.
local limits = { error_max_turns = true, error_max_budget_usd = true }

local function denied(list)
  local names = {}
  for index, one in ipairs(type(list) == "table" and list or {}) do
    names[index] = tostring(type(one) == "table" and one.tool_name or one)
  end
  return names
end

function claude.read(found, object)
  if object.type ~= "result" then return end
  local usage = found.table(object.usage)
  local cached = found.number(usage.cache_read_input_tokens)
  found:add { input = found.number(usage.input_tokens) + found.number(usage.cache_creation_input_tokens) + cached,
    cached = cached, output = found.number(usage.output_tokens), usd = object.total_cost_usd }
  found.text, found.session, found.turns = object.result, object.session_id, object.num_turns
  found.model, found.denied = next(found.table(object.modelUsage)), denied(object.permission_denials)
  found.ended = limits[object.subtype]
  if not object.is_error or found.ended then return end
  found.status, found.error = object.api_error_status, object.result or object.subtype
end

return claude
