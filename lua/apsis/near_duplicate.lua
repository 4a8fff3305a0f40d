-- near_duplicate: near-duplicate rejection: a change that makes almost the same program as a known one is not worth
-- measuring. Programs are compared by their sketches (apsis.text) and by their marks: a sketch does not see one changed
-- constant among thousands of words, and it is often the constant that counts. For strategies.
local text = require "apsis.text"
local trajectory = require "apsis.trajectory"

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

local constants = {}
for _, word in ipairs { "True", "False", "None", "true", "false", "nil", "null" } do constants[word] = word end

local patterns = { "^%s+", '^"[^"\n]*"', "^'[^'\n]*'", "^[%a_\128-\255][%w_\128-\255]*", "^%d[%w_.]*", "^." }
local NAME <const> = 4

-- The marks of a program, as 16 hexadecimal digits: two programs with the same ones have the same numbers, texts in
-- quotes and operators, in the same order. Blanks and names are no marks.
function near_duplicate.marks(program)
  local hash, at, before = 0xcbf29ce484222325, 1, nil -- FNV-1a
  while at <= #program do
    local kind, stop = 0
    repeat
      kind = kind + 1
      stop = select(2, program:find(patterns[kind], at))
    until stop
    local token = kind > 1 and program:sub(at, stop) or nil
    if kind == NAME then token = constants[token] or "x" end
    if token and not (token == "x" and before == "x") then -- several names are one: a comment's words are names, too
      for index = 1, #token do hash = (hash ~ token:byte(index)) * 0x100000001b3 end
      hash = hash * 0x100000001b3
      before = token
    end
    at = stop + 1
  end
  return ("%016x"):format(hash)
end

-- Why the edited parent is rejected, and the id of the program that it is most like of those with the same marks.
-- known: { id, sketch, marks }. nil if they are less similar than the limit, if that is 0, or if an edit is no text and
-- cannot be compared.
function near_duplicate.refusal(parent, edits, known, limit)
  if limit == 0 then return nil end
  local sources = parent:sources()
  local before = near_duplicate.program(sources)
  for _, file in ipairs(sources) do
    local new = edits[file.path]
    if type(new) == "string" then file.text = new elseif new == false then file.text = ""
    elseif new ~= nil then return nil end
  end
  local program = near_duplicate.program(sources)
  local sketch, marks, most, id = text.sketch(program), near_duplicate.marks(program), limit, nil
  local function compare(other, its)
    local similarity = text.similarity(sketch, its)
    if similarity > most or similarity == most and not id then most, id = similarity, other end
  end
  if near_duplicate.marks(before) == marks then compare(parent.id, text.sketch(before)) end
  for _, one in ipairs(known) do
    if one.marks == marks then compare(one.id, one.sketch) end
  end
  if id then return ("nearly the same as %s (similarity %.2f)"):format(id, most), id end
end

-- Of the answers to a proposal the one to measure (apsis.trajectory), none of the known programs: its index; or nil,
-- why there is none, and the id of a near duplicate.
function near_duplicate.choose(parent, answers, known, limit)
  local why, twin
  local index = trajectory.choose(answers, function(answer)
    local refused, id = near_duplicate.refusal(parent, answer.edits or {}, known, limit)
    why, twin = refused or why, id or twin
    return refused
  end)
  if index then return index end
  return nil, why or answers[1] and answers[1].error, twin
end

return near_duplicate
