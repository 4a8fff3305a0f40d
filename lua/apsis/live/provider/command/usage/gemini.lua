-- gemini -o json: one object at the end, of an error on standard error. It reports no dollars.
local gemini = { args = { "-o", "json" }, tokens = true, usd = false, whole = true }

function gemini.read(found, object)
  found.text, found.session = object.response or found.text, object.session_id or found.session
  for name, model in pairs(found.table(found.table(object.stats).models)) do
    local tokens = found.table(found.table(model).tokens)
    found.model = name
    found:add { input = tokens.prompt, cached = tokens.cached,
      output = found.number(tokens.candidates) + found.number(tokens.thoughts), total = tokens.total }
  end
  local failed = found.table(object.error)
  found.error, found.status = failed.message or found.error, failed.code or found.status
end

return gemini
