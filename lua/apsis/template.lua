-- template: texts with fields to fill in. `{{name}}` is a field; `{{#name}} ... {{/name}}` is left out if the field is
-- empty. Filled-in text is never parsed again, so no program, log or answer can act as a template.
local suggest = require "apsis.suggest"

local template = {}

local function line_of(text, position)
  local _, count = text:sub(1, position - 1):gsub("\n", "")
  return count + 1
end

-- The parts of a template, in order, one up to each mark: { text =, and a field's or section's name =, at =; last = the
-- index of the section's last part }.
local function parse(text, where)
  local parts, open, position = {}, {}, 1
  while true do
    local from, to, kind, name = text:find("{{([#/]?)([%w_]+)}}", position)
    local part = { text = text:sub(position, (from or 0) - 1) }
    parts[#parts + 1] = part
    if not from then break end
    position = to + 1
    if kind ~= "" and text:sub(position, position) == "\n" and (from == 1 or text:sub(from - 1, from - 1) == "\n") then
      position = position + 1
    end
    if kind ~= "/" then
      part.name, part.at = name, from
      if kind == "#" then open[#open + 1] = part end
    elseif #open == 0 or open[#open].name ~= name then
      return nil, ("%s:%d: {{/%s}} closes nothing that is open"):format(where, line_of(text, from), name)
    else
      table.remove(open).last = #parts
    end
  end
  local section = open[#open]
  if not section then return parts end
  return nil, ("%s:%d: {{#%s}} is never closed"):format(where, line_of(text, section.at), section.name)
end

-- The text; nil and the part whose field is not there.
local function fill(parts, fields)
  local out, index = {}, 1
  while index <= #parts do
    local part = parts[index]
    local name, last = part.name, part.last
    if part.text ~= "" then out[#out + 1] = part.text end
    if name then
      local value = fields[name]
      if not value then return nil, part end
      if not last then out[#out + 1] = value
      elseif value == "" then index = last end
    end
    index = index + 1
  end
  return table.concat(out)
end

-- The fields that the parts name, each with the line of its first occurrence.
local function collect(parts, text)
  local found = {}
  for _, part in ipairs(parts) do
    local name = part.name
    if name then found[name] = found[name] or line_of(text, part.at) end
  end
  return found
end

local function unknown(where, line, name, names)
  return ("%s:%d: no field {{%s}}%s; fields: %s"):format(where, line, name, suggest.sentence(name, names),
    table.concat(names, ", "))
end

-- The fields of a text, { name = line }; nil and "WHERE:LINE: what is wrong" if it is no template or names one that
-- is not among names (a list; nil: any name is allowed).
function template.check(text, names, where)
  where = where or "template"
  local parts, message = parse(text, where)
  if not parts then return nil, message end
  local found, allowed, first = collect(parts, text), {}, nil
  for _, name in ipairs(names or {}) do allowed[name] = true end
  for name, line in pairs(found) do
    if names and not allowed[name] and (not first or line < found[first] or line == found[first] and name < first) then
      first = name
    end
  end
  if not first then return found end
  names = table.move(names, 1, #names, 1, {})
  table.sort(names)
  return nil, unknown(where, found[first], first, names)
end

local parsed = {} -- by text: a run uses the same few

-- The text with its fields (strings, "" for nothing) filled in; nil and "WHERE:LINE: what is wrong".
function template.render(text, fields, where)
  where = where or "template"
  local parts = parsed[text]
  if not parts then
    local made, message = parse(text, where)
    if not made then return nil, message end
    parts, parsed[text] = made, made
  end
  local filled, part = fill(parts, fields)
  if filled then return filled end
  return nil, unknown(where, line_of(text, part.at), part.name, suggest.names(fields))
end

return template
