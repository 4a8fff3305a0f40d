-- near_duplicate: near-duplicate rejection: a change that makes almost the same program as a known one is not worth
-- measuring. Programs are compared by their sketches (apsis.text). For strategies.
local text = require "apsis.text"

local near_duplicate = {}

-- The text of a program of several files.
function near_duplicate.program(sources)
  if #sources == 1 then return sources[1].text end
  local parts = {}
  for index, file in ipairs(sources) do parts[index] = file.text end
  return table.concat(parts, "\n")
end

-- The id of the known program { id, sketch } that an edited one is most like, and the similarity. sources: of the
-- parent, which is one of them, by its id.
function near_duplicate.most_like(sources, parent, edits, known)
  local before = text.sketch(near_duplicate.program(sources))
  for _, file in ipairs(sources) do
    local new = edits[file.path]
    if type(new) == "string" then file.text = new elseif new == false then file.text = "" end
  end
  local sketch = text.sketch(near_duplicate.program(sources))
  local most, id = text.similarity(sketch, before), parent
  for _, one in ipairs(known) do
    local similarity = text.similarity(sketch, one.sketch)
    if similarity > most then most, id = similarity, one.id end
  end
  return id, most
end

-- Why the edited parent is rejected, and the id of the program that it is most like. nil if they are less similar than
-- the limit, or if that is 0.
function near_duplicate.refusal(parent, edits, known, limit)
  if limit == 0 then return nil end
  local id, most = near_duplicate.most_like(parent:sources(), parent.id, edits, known)
  if most >= limit then return ("nearly the same as %s (similarity %.2f)"):format(id, most), id end
end

return near_duplicate
