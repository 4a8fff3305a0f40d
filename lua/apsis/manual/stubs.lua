-- stubs: reads a file of lua/meta: annotations of the Lua language server (https://luals.github.io/wiki/annotations).
local stubs = {}

-- The type that a text begins with, and the words after it. Types hold blanks inside brackets and after ':', ',', '|'.
local function split_type(text)
  local depth = 0
  for at = 1, #text do
    local char = text:sub(at, at)
    if char:find "[%(%[{<]" then depth = depth + 1 elseif char:find "[%)%]}>]" then depth = depth - 1 end
    if char == " " and depth == 0 and not text:sub(1, at - 1):find "[:|,]$" and not text:find("^|", at + 1) then
      return text:sub(1, at - 1), text:sub(at + 1)
    end
  end
  return text, ""
end

local function joined(...)
  local parts = {}
  for _, part in ipairs { ... } do
    if part ~= "" then parts[#parts + 1] = part end
  end
  return table.concat(parts, " ")
end

local Reader = {}
Reader.__index = Reader

-- The comment lines above, once.
function Reader:doc()
  local text = table.concat(self.above, " ")
  self.above = {}
  return text
end

local tags = {}

function tags.class(self, rest)
  local name, about = rest:match "^([%w_.]+)%s*:?%s*(.*)$"
  self.class = { kind = "class", name = name, about = joined(self:doc(), about), fields = {} }
  self.entries[#self.entries + 1] = self.class
end

function tags.field(self, rest)
  local name, mark, after = rest:match "^([%w_]+)(%??)%s+(.*)$"
  local kind, about = split_type(after)
  table.insert(self.class.fields, { name = name .. mark, type = kind, about = joined(self:doc(), about) })
end

function tags.param(self, rest)
  local name, mark, after = rest:match "^([%w_.]+)(%??)%s+(.*)$"
  local kind, about = split_type(after)
  table.insert(self.params, { name = name, type = kind .. mark, about = about })
end

tags["return"] = function(self, rest)
  local kind, about = split_type(rest)
  table.insert(self.returns, { type = kind, about = about })
end

function tags.type(self, rest) self.value_type = rest end

-- function a.b(c) end; a method's owner is shown as its class.
local function read_function(self, owner, mark, name, arguments)
  local shown = mark == ":" and self.classes[owner] or owner
  self.entries[#self.entries + 1] = { kind = "function", name = name, owner = owner, method = mark == ":",
    text = ("%s%s%s(%s)"):format(shown, mark, name, arguments), about = self:doc(), params = self.params,
    returns = self.returns }
  self.params, self.returns = {}, {}
end

local function read_code(self, line)
  local owner, mark, name, arguments = line:match "^function ([%w_]+)([.:])([%w_]+)%((.*)%) end"
  if owner then return read_function(self, owner, mark, name, arguments) end
  local class = line:match "^local ([%w_]+) = {}"
  if class and self.class then self.classes[class] = self.class.name:match "[^.]*$" end
  local value = line:match "^([%w_]+%.[%w_]+) = "
  if value then
    self.entries[#self.entries + 1] = { kind = "value", text = value, type = self.value_type, about = self:doc() }
  end
end

-- { about = text, entries = { class, function and value in the file's order } }.
function stubs.read(text)
  local self = setmetatable({ above = {}, entries = {}, params = {}, returns = {}, classes = {}, head = {} }, Reader)
  for line in text:gmatch "([^\n]*)\n?" do
    local tag, rest = line:match "^%-%-%-@([%a]+)%s*(.*)$"
    local comment = line:match "^%-%-%- ?(.*)$"
    if tag then
      if tags[tag] then tags[tag](self, rest) end
    elseif comment then
      table.insert(self.above, comment)
    elseif line:find "^%-%- " then
      if #self.entries == 0 then table.insert(self.head, line:sub(4)) end
    else
      read_code(self, line)
      self.above = {}
    end
  end
  return { about = table.concat(self.head, " "), entries = self.entries }
end

return stubs
