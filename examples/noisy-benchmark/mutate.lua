-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parent's files. A
-- coin decides: it either replaces a section of routine.c by the next one of parts.c, a real improvement, or rewrites
-- a section without effect (a no-op: the compiler emits the same code). The hypothesis shows which, for readers of
-- the report; evaluator and strategy see only the time. evaluate.sh measures the edit and checks that the routine
-- still finds the same.

local HEAD = "/%* %[(%l+) ?(%d*)%] ?(.-) %*/\n"
local SECTION = "()/%* %[%l+ ?%d*%] ?.- %*/\n()"

-- The text of the file before its first section, and the sections: { kind =, version =, about =, head =, body = }.
local function read_sections(text)
  local starts = {}
  for from, to in text:gmatch(SECTION) do starts[#starts + 1] = { from, to } end
  local sections = {}
  for index, at in ipairs(starts) do
    local last = (starts[index + 1] or { #text + 1 })[1] - 1
    local head = text:sub(at[1], at[2] - 1)
    local kind, version, about = head:match(HEAD)
    sections[index] = { kind = kind, version = tonumber(version) or 0, about = about, head = head,
      body = text:sub(at[2], last) }
  end
  return text:sub(1, #starts > 0 and starts[1][1] - 1 or #text), sections
end

local function write_sections(head, sections, experiment)
  -- so that no two trees are the same
  local list = { (head:gsub("Experiment %d+%.", "Experiment " .. experiment .. ".")) }
  for _, section in ipairs(sections) do list[#list + 1] = section.head .. section.body end
  return table.concat(list)
end

-- Replaces a section by its next version in parts.c; nil if all have been used.
local function improve(rng, sections, parts)
  local choices = {}
  for index, section in ipairs(sections) do
    for _, part in ipairs(parts) do
      if part.kind == section.kind and part.version == section.version + 1 then
        choices[#choices + 1] = { index, part }
      end
    end
  end
  if #choices == 0 then return nil end
  local index, part = table.unpack(rng:choice(choices))
  sections[index] = { head = part.head, body = part.body:gsub("\n*$", "\n\n") }
  return ("real: %s: %s"):format(part.kind, part.about)
end

local NAMES = { "amount", "answer", "batch", "cell", "collected", "current", "done", "entry", "figure", "given", "here",
  "input",
  "item", "mark", "measured", "number_of", "outcome", "piece", "place_of", "point", "quantity", "running", "sample",
  "seen", "series",
  "slot", "so_far", "spot", "stage", "taken", "there", "token", "unit", "values", "which", "working" }

local REMARKS = { "unsigned numbers wrap around, as is wanted", "readings are in the order in which they came",
  "an empty list is allowed", "nothing is kept from one call to the next", "see routine.h for what is asked of it",
  "called once for every list", "works for readings of any size", "the order of the readings matters",
  "compared with the findings of before", "no memory is allocated", "there is no upper limit to the count" }

local function has_word(text, word)
  return text:find("%f[%w_]" .. word .. "%f[^%w_]") ~= nil
end

-- Another name for something local to the section.
local function rename(rng, section)
  local names, free = {}, {}
  for _, pattern in ipairs { "%f[%w_]uint32_t %*?([%l_]+)", "%f[%w_]int ([%l_]+)", "%f[%w_]char ([%l_]+)",
    "findings %*([%l_]+)" } do
    for name in section.body:gmatch(pattern) do
      if name ~= section.kind then names[#names + 1] = name end
    end
  end
  for _, name in ipairs(NAMES) do
    if not has_word(section.body, name) then free[#free + 1] = name end
  end
  local old, new = rng:choice(names), rng:choice(free)
  return (section.body:gsub("%f[%w_]" .. old .. "%f[^%w_]", new)), ("renames %s to %s"):format(old, new)
end

-- Another remark at the section's beginning.
local function remark(rng, section)
  local free = {}
  for _, text in ipairs(REMARKS) do
    if not section.body:find(text, 1, true) then free[#free + 1] = text end
  end
  local bare = section.body:gsub("\n    /%* [^\n]- %*/\n", "\n", 1)
  local text = rng:choice(free)
  return (bare:gsub("\n{\n", "\n{\n    /* " .. text .. " */\n", 1)), ("remarks: %s"):format(text)
end

local function other_way(relation)
  return relation == "<" and ">" or "<"
end

-- Pairs of equivalent forms: a pattern, and its replacement; nil: not here.
local FORMS = {
  { "; ([%l_]+)([%+%-])[%+%-]%)", function(name, sign) return ("; %s %s= 1)"):format(name, sign) end },
  { "; ([%l_]+) ([%+%-])= 1%)", function(name, sign) return ("; %s%s%s)"):format(name, sign, sign) end },
  { "; ([%w_]+) ([<>]) ([%w_]+);", function(a, relation, b) return ("; %s %s %s;"):format(b, other_way(relation),
    a) end },
  { "\n( +)([%l_]+) ([%+%-%*%^<>]+)= ([^;\n]+);", function(space, name, sign, term)
    return ("\n%s%s = %s %s (%s);"):format(space, name, name, sign, term)
  end },
  { "\n( +)([%l_]+) = ([%l_]+) ([%+%-%*%^<>]+) (%b());", function(space, name, again, sign, term)
    return name == again and ("\n%s%s %s= %s;"):format(space, name, sign, term:sub(2, -2)) or nil
  end },
  { "return ([^;\n(]+);", function(term) return ("return (%s);"):format(term) end },
  { "return (%b());", function(term) return ("return %s;"):format(term:sub(2, -2)) end },
  { "%f[%w_](%d%d+)%f[^%w_]", function(number) return ("0x%x"):format(tonumber(number)) end },
  { "%f[%w_](0x%x+)%f[^%w_]", function(number) -- a decimal number from 2^31 on would have another type
    return tonumber(number) < 2 ^ 31 and ("%d"):format(tonumber(number)) or nil
  end },
  { "%f[%w_]([%l_]+)%[([%l_]+)%]", function(list, index) return ("*(%s + %s)"):format(list, index) end },
  { "%*%(([%l_]+) %+ ([%l_]+)%)", function(list, index) return ("%s[%s]"):format(list, index) end },
  { "\n( +)(%l[%w_ ]+%[%d+%];)(\n +)(%l[%w_]+ [%l_]+ = [^;\n]+;)", function(space, list, same, other)
    return same == "\n" .. space and same .. other .. same .. list or nil
  end },
  { "\n( +)(%l[%w_]+ [%l_]+ = [^;\n]+;)(\n +)(%l[%w_ ]+%[%d+%];)", function(space, other, same, list)
    return same == "\n" .. space and same .. list .. same .. other or nil
  end },
}

-- All places that match a form with an equivalent: { from, to, new }.
local function places(body)
  local found = {}
  for _, form in ipairs(FORMS) do
    local from = 1
    repeat
      local place = { body:find(form[1], from) }
      local new = place[1] and form[2](table.unpack(place, 3))
      if new then found[#found + 1] = { place[1], place[2], new } end
      from = (place[1] or 0) + 1
    until not place[1]
  end
  return found
end

local function one_line(text)
  return (text:gsub("%s+", " "):gsub("^ ", ""))
end

-- One of them written the other way.
local function reword(rng, section)
  local found, body = places(section.body), section.body
  if #found == 0 then return rename(rng, section) end
  local from, to, new = table.unpack(rng:choice(found))
  return body:sub(1, from - 1) .. new .. body:sub(to + 1),
    ("writes `%s` as `%s`"):format(one_line(body:sub(from, to)), one_line(new))
end

-- A section in other words.
local function disguise(rng, sections)
  local section = rng:choice(sections)
  local way = rng:choice { rename, remark, reword, reword }
  local body, what = way(rng, section)
  section.body = body
  return ("no-op: %s: %s"):format(section.kind, what)
end

return function(proposal, workspace)
  local rng, before = workspace.rng, workspace:read "routine.c"
  local head, sections = read_sections(before)
  if #sections == 0 then return nil, "routine.c has no sections: no line that begins with /* [NAME NUMBER]" end
  local _, parts = read_sections(workspace:read "parts.c")
  local what = rng:random() < 0.5 and improve(rng, sections, parts) or disguise(rng, sections)
  return { ["routine.c"] = write_sections(head, sections, proposal.experiment) },
    { hypothesis = what, description = what }
end
