-- page: a page of the manual: blocks in order, which man.lua, markdown.lua and plain.lua each write in their form.
-- Texts are plain; `words in backquotes` are code.
local page = {}

local Page = {}
Page.__index = Page

-- name: "apsis-log"; section: of the Unix manual, 1, 5 or 7; summary: what it is about, in a line; group: its folder in
-- docs/reference.
function page.new(name, section, summary, group)
  return setmetatable({ name = name, section = section, summary = summary, group = group, blocks = {} }, Page)
end

local function add(self, kind, value, more)
  self.blocks[#self.blocks + 1] = { kind = kind, value = value, more = more }
  return self
end

-- level: 1 (default) or 2.
function Page:heading(text, level) return add(self, "heading", text, level or 1) end

function Page:text(text) return add(self, "text", text) end

-- Lines as they are.
function Page:code(text) return add(self, "code", text) end

-- list: { { term, what it means }, ... }.
function Page:terms(list)
  return #list > 0 and add(self, "terms", list) or self
end

return page
