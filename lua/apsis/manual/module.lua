-- module: the page of a module that strategies and scripts may require, from its file in lua/meta.
local host = require "apsis.host"
local page = require "apsis.manual.page"
local stubs = require "apsis.manual.stubs"

local function sentence(text)
  return text == "" and "" or text:find "[.:]$" and text or text .. "."
end

local function described(what)
  return sentence(("%s%s"):format(what.type, what.about ~= "" and ": " .. what.about or ""))
end

-- The meaning of a function: its text, then its parameters and what it returns.
local function about_function(entry)
  local parts = { sentence(entry.about) }
  for _, param in ipairs(entry.params) do parts[#parts + 1] = ("`%s` is %s"):format(param.name, described(param)) end
  for index, value in ipairs(entry.returns) do
    parts[#parts + 1] = (index == 1 and "Returns " or "Then ") .. described(value)
  end
  return table.concat(parts, " "):match "^%s*(.*)$"
end

-- A class with its fields.
local function add_class(self, entry)
  self:heading(entry.name, 2)
  if entry.about ~= "" then self:text(sentence(entry.about)) end
  local fields = {}
  for index, field in ipairs(entry.fields) do
    fields[index] = { ("%s: %s"):format(field.name, field.type), sentence(field.about) }
  end
  self:terms(fields)
end

local function term_of(entry)
  if entry.kind == "function" then return { entry.text, about_function(entry) } end
  return { ("%s: %s"):format(entry.text, entry.type or "table"), sentence(entry.about) }
end

-- name: of the file in lua/meta; title, section and group: of the page.
return function(name, title, section, group)
  local stub = stubs.read(assert(host.read("lua/meta/" .. name .. ".lua")))
  local first, rest = stub.about:match "^(.-[^%s])%.%s+(.*)$"
  local self = page.new(title, section, (first or stub.about):gsub("%.$", ""), group)
  if rest and rest ~= "" then self:text(rest) end
  local classes, callable = {}, {}
  for _, entry in ipairs(stub.entries) do
    if entry.kind ~= "class" then callable[#callable + 1] = term_of(entry)
    elseif #entry.fields > 0 or entry.about ~= "" then classes[#classes + 1] = entry end
  end
  if #callable > 0 then self:heading "Functions":terms(callable) end
  if #classes > 0 then self:heading "Types" end
  for _, entry in ipairs(classes) do add_class(self, entry) end
  return self
end
