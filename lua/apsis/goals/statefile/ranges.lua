-- ranges: the line that replaces many entries, `### Iters 50-100: kept 7, metrics 20 -> 55: summary`: parsed (also in
-- autoloop's form), written and joined. Never compares numbers. Called by entries.lua and compact.lua.
local texts = require "apsis.goals.statefile.texts"

local ranges = {}

local LONGEST_TITLE, LONGEST_SUMMARY, LONGEST_READ = 60, 240, 2000
local NUMBER = "([-+]?[%d.][-+%d.eE]*)"

local words = { iter = true, iters = true, iterations = true }

-- Skips separators between the parts of a heading.
local function skip(text)
  local before
  repeat
    before = text
    text = text:gsub("^[%s,:;()-]+", ""):gsub("^—", ""):gsub("^–", ""):gsub("^✅", "")
  until text == before
  return text
end

-- { first, last, kept, open (kept or more), from, to, summary } of a heading; nil if it is not a range.
function ranges.parse(title)
  local word, first, rest = title:match("^(%a+)%s+(%d+)%s*(.*)$")
  if not words[(word or ""):lower()] then return nil end
  local bare = rest and rest:gsub("^–", "-"):gsub("^—", "-")
  local last, after = bare:match("^%-%s*(%d+)(.*)$")
  if not last or after:find "^%d*%-%d" then return nil end -- a date is none
  local range = { first = tonumber(first), last = tonumber(last) }
  if not after:find "^%s*:" then range.foreign = true end
  after = skip(after)
  local kept, left = after:match("^kept (%d+)(.*)$")
  if kept then
    local beyond = left:match "^ or more(.*)$"
    range.kept, range.open, after = tonumber(kept), beyond ~= nil, skip(beyond or left)
  end
  local from, to, tail = after:gsub("→", "->"):gsub("−", "-"):match("^metrics?:?%s+" .. NUMBER .. "%s*%->%s*" .. NUMBER
    .. "(.*)$")
  if from then range.from, range.to, after = texts.to_number(from), texts.to_number(to), skip(tail) end
  range.summary = texts.trim(after)
  return range
end

-- The heading's text.
function ranges.text(range)
  local parts = {}
  if range.kept then parts[1] = ("kept %d%s"):format(range.kept, range.open and " or more" or "") end
  if range.from and range.to then
    parts[#parts + 1] = ("metrics %s -> %s"):format(texts.brief(range.from), texts.brief(range.to))
  end
  local text = ("Iters %d-%d"):format(range.first, range.last)
  if #parts > 0 then text = text .. ": " .. table.concat(parts, ", ") end
  return range.summary ~= "" and text .. ": " .. range.summary or text
end

-- An entry as a range; number: its iteration, or for a baseline its older neighbour's. title: its change.
function ranges.of(entry, number, title)
  return {
    first = number, last = number, kept = entry.kept and 1 or 0, from = entry.previous or entry.value,
    to = (entry.kept or entry.baseline) and entry.value or entry.previous or entry.value,
    summary = entry.kept and title and texts.short(texts.line(title), LONGEST_TITLE) or "",
  }
end

-- The newest parts of a summary, at most width characters.
function ranges.shorten(summary, width)
  if texts.width(summary) <= width then return summary end
  local from = utf8.offset(summary, -LONGEST_READ)
  local rest = from and summary:sub(from) or summary
  while texts.width(rest) > width - 5 and rest:find("; ", 1, true) do rest = rest:match("^.-; (.*)$") end
  return texts.short(rest == summary and rest or "...; " .. rest, width)
end

local function joined(older, newer)
  if older == "" or newer == "" then return older .. newer end
  return (older .. "; " .. newer:gsub("^%.%.%.; ", "")):gsub("^(%.%.%.; )%.%.%.; ", "%1")
end

local function sum(older, newer)
  if not older.kept and not newer.kept then return nil end
  return (older.kept or 0) + (newer.kept or 0), older.open or newer.open or not older.kept or not newer.kept
end

-- Joins two adjoining ranges.
function ranges.join(older, newer)
  local kept, open = sum(older, newer)
  return {
    first = math.min(older.first, newer.first), last = math.max(older.last, newer.last), kept = kept, open = open,
    from = older.from or newer.from, to = newer.to or older.to,
    summary = ranges.shorten(joined(older.summary, newer.summary), LONGEST_SUMMARY),
  }
end

return ranges
