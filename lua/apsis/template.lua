-- template: texts with fields to fill in. `{{name}}` is a field; `{{#name}} ... {{/name}}` is left out if the field is
-- empty. Filled-in text is never parsed again, so no program, log or answer can act as a template.
local suggest = require "apsis.suggest"

local template = {}

local function line_of(text, position)
  local _, count = text:sub(1, position - 1):gsub("\n", "")
  return count + 1
end

-- The parts of a template: texts, { field = name } and { section = name, parts... }.
local function parse(text, where)
  local root = {}
  local stack, position = { root }, 1
  while true do
    local top = stack[#stack]
    local from, to, kind, name = text:find("{{([#/]?)([%w_]+)}}", position)
    if not from then break end
    if from > position then top[#top + 1] = text:sub(position, from - 1) end
    position = to + 1
    if kind == "" then
      top[#top + 1] = { field = name, at = from }
    else
      if text:sub(position, position) == "\n" and (from == 1 or text:sub(from - 1, from - 1) == "\n") then
        position = position + 1
      end
      if kind == "#" then
        local section = { section = name, at = from }
        top[#top + 1], stack[#stack + 1] = section, section
      elseif top.section ~= name then
        return nil, ("%s:%d: {{/%s}} closes nothing that is open"):format(where, line_of(text, from), name)
      else
        stack[#stack] = nil
      end
    end
  end
  local open = stack[#stack]
  if open.section then
    return nil, ("%s:%d: {{#%s}} is never closed"):format(where, line_of(text, open.at), open.section)
  end
  root[#root + 1] = text:sub(position)
  return root
end

local function fill(parts, fields, out)
  for index = 1, #parts do
    local part = parts[index]
    if type(part) == "string" then
      out[#out + 1] = part
    else
      local name = part.field or part.section
      local value = fields[name]
      if value == nil then return part, name end
      if part.field then
        out[#out + 1] = value
      elseif value ~= "" then
        local wrong, missing = fill(part, fields, out)
        if wrong then return wrong, missing end
      end
    end
  end
end

-- Adds the fields that the parts name to found, each with the line of its first occurrence.
local function collect(parts, text, found)
  for index = 1, #parts do
    local part = parts[index]
    if type(part) ~= "string" then
      local name = part.field or part.section
      found[name] = found[name] or line_of(text, part.at)
      if part.section then collect(part, text, found) end
    end
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
  local found, allowed, first = collect(parts, text, {}), {}, nil
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
  local out = {}
  local wrong, name = fill(parts, fields, out)
  if not wrong then return table.concat(out) end
  return nil, unknown(where, line_of(text, wrong.at), name, suggest.names(fields))
end

return template
