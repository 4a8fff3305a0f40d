-- xml: a reader of the XML subset used by reports: elements, attributes, text, CDATA, comments. Linear in time; accepts
-- only the five XML entities and numeric ones, and refuses a DOCTYPE that declares entities. A part of apsis.fitness.
local xml = {}

local DEEPEST = 200

local named = { amp = "&", lt = "<", gt = ">", quot = '"', apos = "'" }

-- The text with its entities replaced; nil and which one is refused. A lone & stays, as many writers forget to escape
-- it.
local function unescape(text)
  if not text:find("&", 1, true) then return text end
  local refused
  local plain = text:gsub("&(#?[%w_]+);", function(name)
    if named[name] then return named[name] end
    local code = math.tointeger(tonumber(name:match("^#(%d+)$")) or tonumber(name:match("^#[xX](%x+)$") or "", 16))
    if code and code > 0 and code <= 0x10FFFF and (code < 0xD800 or code > 0xDFFF) then return utf8.char(code) end
    refused = refused or name
  end)
  if refused then return nil, ("the entity &%s; is refused"):format(refused:sub(1, 40)) end
  return plain
end

local Reader = {}
Reader.__index = Reader

function Reader:fail(at, message)
  local _, ends = self.text:sub(1, at - 1):gsub("\n", "")
  return nil, ("line %d: %s"):format(ends + 1, message)
end

function Reader:add_text(text)
  local top = self.stack[#self.stack]
  if top and text ~= "" then top.texts[#top.texts + 1] = text end
end

-- The text between two marks from `at`, and the position after it.
function Reader:skip(at, opening, closing, what)
  local first, last = self.text:find(closing, at + #opening, true)
  if not first then return self:fail(at, "the " .. what .. " has no end") end
  return self.text:sub(at + #opening, first - 1), last + 1
end

-- The attributes of a tag, after its name: a table, the position after it, and whether it closes itself.
function Reader:attributes(at, tag)
  local text, found = self.text, {}
  while true do
    at = text:find("%S", at)
    if not at then return self:fail(#text + 1, "<" .. tag .. " has no end") end
    if text:sub(at, at) == ">" then return found, at + 1, false end
    if text:sub(at, at + 1) == "/>" then return found, at + 2, true end
    local name, value_at = text:match("^([^%s=<>/\"']+)%s*=%s*()", at)
    local quote = name and text:sub(value_at, value_at)
    if not name or quote ~= '"' and quote ~= "'" then
      return self:fail(at, ("<%s has something that is no attribute"):format(tag))
    end
    local close = text:find(quote, value_at + 1, true)
    if not close then return self:fail(at, ("the attribute %s has no closing quote"):format(name:sub(1, 40))) end
    local value, message = unescape(text:sub(value_at + 1, close - 1))
    if not value then return self:fail(at, message) end
    found[name], at = value, close + 1
  end
end

function Reader:open(at)
  local name, after = self.text:match("^<([^%s=<>/\"'!?&]+)()", at)
  if not name then return self:fail(at, "'<' begins no tag") end
  if #self.stack >= DEEPEST then return self:fail(at, ("more than %d levels"):format(DEEPEST)) end
  local found, next_at, closed = self:attributes(after, name:sub(1, 40))
  if not found then return nil, next_at end
  local element = { name = name:match(":(.*)$") or name, tag = name, attributes = found, children = {}, texts = {} }
  local top = self.stack[#self.stack]
  if top then top.children[#top.children + 1] = element else self.roots[#self.roots + 1] = element end
  if not closed then self.stack[#self.stack + 1] = element end
  return next_at
end

function Reader:close(at)
  local name, after = self.text:match("^</([^%s<>]+)%s*>()", at)
  if not name then return self:fail(at, "a closing tag has no end") end
  local top = table.remove(self.stack)
  if not top or top.tag ~= name then
    return self:fail(at, ("</%s> closes %s"):format(name:sub(1, 40), top and "<" .. top.tag:sub(1, 40) .. ">"
      or "nothing"))
  end
  return after
end

-- Reads the markup that begins with < at a position; returns the position after it.
function Reader:markup(at)
  local text = self.text
  if text:sub(at, at + 3) == "<!--" then
    local skipped, after = self:skip(at, "<!--", "-->", "comment")
    return skipped and after, after
  elseif text:sub(at, at + 8) == "<![CDATA[" then
    local inside, after = self:skip(at, "<![CDATA[", "]]>", "CDATA section")
    if inside then self:add_text(inside) end
    return inside and after, after
  elseif text:sub(at, at + 1) == "<?" then
    local skipped, after = self:skip(at, "<?", "?>", "processing instruction")
    return skipped and after, after
  elseif text:sub(at, at + 1) == "<!" then
    local inside, after = self:skip(at, "<!", ">", "declaration")
    if inside and inside:find("[", 1, true) then return self:fail(at, "a DOCTYPE that declares entities is refused") end
    return inside and after, after
  elseif text:sub(at, at + 1) == "</" then
    return self:close(at)
  end
  return self:open(at)
end

-- The next position of a document, from `at`; skips other programs' output in between. Remembers the position of each
-- possible beginning, so that no text is searched twice.
function Reader:begin(at)
  local least
  for index, start in ipairs(self.starts) do
    local found = self.found[index]
    if found and found < at then
      found = self.text:find("<" .. start, at) or false
      self.found[index] = found
    end
    if found and (not least or found < least) then least = found end
  end
  return least
end

-- Reads the text up to the next tag; returns its position.
function Reader:text_from(at)
  local next_at = self.text:find("<", at, true)
  if not next_at then
    return self:fail(#self.text, ("the text ends within <%s>"):format(self.stack[#self.stack].tag:sub(1, 40)))
  end
  local plain, message = unescape(self.text:sub(at, next_at - 1))
  if not plain then return self:fail(at, message) end
  self:add_text(plain)
  return next_at
end

-- The documents of a text: a list of their root elements, { name, attributes, children, texts }. roots: patterns of
-- how one begins. nil and why, if one is cut off or is not XML.
function xml.read(text, roots)
  local self = setmetatable({ text = text, stack = {}, roots = {}, starts = roots, found = {} }, Reader)
  for index = 1, #roots do self.found[index] = 0 end
  local at = self:begin(1)
  while at do
    local next_at, message = self:markup(at)
    if next_at and #self.stack > 0 then next_at, message = self:text_from(next_at)
    elseif next_at then next_at, message = self:begin(next_at), nil end
    if not next_at and message then return nil, message end
    at = next_at
  end
  return self.roots
end

return xml
