-- near_duplicate: near-duplicate rejection: a change that makes almost the same program as a known one is not worth
-- measuring. Programs are compared by their sketches (apsis.text). For strategies.
local features = require "apsis.features"
local text = require "apsis.text"

local near_duplicate = {}

-- Why the edited parent is rejected, and the id of the known program { id, sketch } that it is most like; the parent is
-- one of them. nil if they are less similar than the limit, or if that is 0.
function near_duplicate.refusal(parent, edits, known, limit)
  if limit == 0 then return nil end
  local sources = parent:sources()
  local before = text.sketch(features.program(sources))
  for _, file in ipairs(sources) do
    local new = edits[file.path]
    if type(new) == "string" then file.text = new elseif new == false then file.text = "" end
  end
  local sketch = text.sketch(features.program(sources))
  local most, id = text.similarity(sketch, before), parent.id
  for _, one in ipairs(known) do
    local similarity = text.similarity(sketch, one.sketch)
    if similarity > most then most, id = similarity, one.id end
  end
  if most >= limit then return ("nearly the same as %s (similarity %.2f)"):format(id, most), id end
end

return near_duplicate
