-- usage: what an agent's own output reports of an answer: its text, tokens, dollars, session, model, refused
-- permissions, and its error. usage/NAME.lua reads each agent's JSON; the user's own command names such a format, or
-- patterns or JSON pointers. The output is the agent's: nothing in it is believed to have a type.
local amount = require "apsis.live.provider.shared.amount"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local json = require "apsis.json"
local printed = require "apsis.live.printed"
local regex = require "apsis.regex"

local usage = {}

usage.names = { "claude", "codex", "gemini", "opencode", "pi" }

-- The format of a provider: usage/NAME's module; nil if its output is text.
function usage.format(spec)
  local name = spec.usage and spec.usage.format or spec.preset
  return name and require("apsis.live.provider.command.usage." .. name) or nil
end

-- What a provider's answers report: { tokens, usd }, each true or false.
function usage.reports(spec)
  local format, own = usage.format(spec) or {}, spec.usage or {}
  local tokens = format.tokens or own.tokens ~= nil
  return { tokens = tokens, usd = format.usd or own.usd ~= nil or spec.price ~= nil and tokens }
end

local Found = {}
Found.__index = Found

function Found.number(value)
  return amount.tokens(value) or amount.usd(value) or 0
end

function Found.table(value) return type(value) == "table" and value or {} end

-- Adds what one request took: { input, cached (a part of input), output, total, usd }.
function Found:add(one)
  for _, key in ipairs { "input", "cached", "output" } do self[key] = (self[key] or 0) + self.number(one[key]) end
  local total = one.total or self.number(one.input) + self.number(one.output)
  self.tokens = (self.tokens or 0) + self.number(total)
  if type(one.usd) == "number" then self.usd = (self.usd or 0) + self.number(one.usd) end
end

-- Each object of an output, { path, from (an offset) }: of a line, or the whole text from the first { at a line's
-- beginning.
local function each_object(output, whole, visit)
  local file = io.open(output.path)
  if not file then return end
  file:seek("set", output.from)
  if whole then
    local text = ("\n" .. (file:read "a" or "")):match "\n({.*)"
    local object = text and json.decode(editline.trim(text), true)
    if type(object) == "table" then visit(object) end
  else
    for line in file:lines() do
      local object = line:sub(1, 1) == "{" and line:sub(1, 24) ~= '{"type":"message_update"' and json.decode(line, true)
      if type(object) == "table" then visit(object) end
    end
  end
  file:close()
end

-- Texts and counts may be anything; what is not of its type is left out.
local function checked(found)
  for _, key in ipairs { "text", "session", "model", "error" } do
    if type(found[key]) ~= "string" then found[key] = nil end
  end
  found.tokens, found.usd = amount.tokens(found.tokens), amount.usd(found.usd)
  found.status = math.tointeger(tonumber(found.status))
  return found
end

-- A number in the user's own format: by a JSON pointer in the last object that has a line of its own (else in the whole
-- output), or by a pattern's last match in standard output, then standard error.
local function own_number(source, out, err)
  local number
  if source:sub(1, 1) == "/" then
    local function visit(object) number = tonumber(printed.pointer(object, source)) or number end
    each_object(out, false, visit)
    if not number then each_object(out, true, visit) end
    return number
  end
  local compiled = assert(regex.compile(source, "m"))
  for _, output in ipairs { out, err } do
    local text = (fs.read(output.path) or ""):sub(output.from + 1)
    pcall(function() -- what is behind a limit of the matcher is not searched
      for capture in compiled:gmatch(text) do number = tonumber((capture:gsub(",", ""))) or number end
    end)
  end
  return number
end

local function price_of(price, found)
  local cached = price.cached and found.cached or 0
  return ((found.input - cached) * price.input + cached * (price.cached or 0) + found.output * price.output) / 1e6
end

-- What an answer's output reports; nil if it is plain text of which nothing is asked. out, err: { path, from }.
function usage.read(spec, out, err)
  local format, own = usage.format(spec), spec.usage or {}
  if not format and not own.tokens and not own.usd then return nil end
  local found = setmetatable({}, Found)
  if format then
    local function visit(object) format.read(found, object) end
    each_object(out, format.whole, visit)
    if format.whole then each_object(err, true, visit) end
  end
  if own.tokens or own.usd then
    found.tokens = own.tokens and own_number(own.tokens, out, err) or found.tokens
    found.usd = own.usd and own_number(own.usd, out, err) or found.usd
  end
  if spec.price and found.input then found.usd = price_of(spec.price, found)
  elseif spec.price and found.tokens then found.usd = found.tokens * spec.price.input / 1e6
  elseif format and format.free_is_unknown and found.usd == 0 and (found.tokens or 0) > 0 then found.usd = nil end
  return checked(found)
end

return usage
