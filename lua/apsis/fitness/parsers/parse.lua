-- parse: chooses the parser of a test runner's output, by name or by content. A part of apsis.fitness.
local documents = require "apsis.fitness.parsers.documents"
local runners = require "apsis.fitness.parsers.runners"
local suggest = require "apsis.suggest"
local tally = require "apsis.fitness.parsers.tally"

local parsers = {
  tap = require "apsis.fitness.parsers.tap", junit = require "apsis.fitness.parsers.junit",
  pytest = require "apsis.fitness.parsers.pytest",
  go = require "apsis.fitness.parsers.go", cargo = require "apsis.fitness.parsers.cargo",
  node = require "apsis.fitness.parsers.node",
  maven = require "apsis.fitness.parsers.maven",
}

local parse = { formats = { "auto", "tap", "junit", "pytest", "go", "cargo", "node", "maven",
  table.unpack(runners.names) } }

local function line_with(text, pattern)
  return text:find("^" .. pattern) ~= nil or text:find("\n" .. pattern) ~= nil
end

local signs = {}

function signs.node(text)
  return line_with(text, "# tests %d+\r?\n") and line_with(text, "# pass %d+") or line_with(text, "ℹ tests %d+")
end

function signs.tap(text)
  return line_with(text, "1%.%.%d") and not signs.node(text)
end

function signs.cargo(text)
  return line_with(text, "test result: %u") or line_with(text, "running %d+ tests?\r?\n")
end

function signs.pytest(text)
  return line_with(text, "=+ test session starts =") or line_with(text, "=*[ ]?%d+ %l+[^\n]* in [%d%.]+s")
end

function signs.maven(text)
  return line_with(text, "[%u%[%] ]*Tests run: %d+, Failures: ")
end

function signs.go(text)
  return line_with(text, "=== RUN ") or line_with(text, "%-%-%- %u+: ") or line_with(text, "ok  \t")
    or line_with(text, "FAIL\t")
end

for _, name in ipairs(runners.names) do
  signs[name] = function(text) return documents.shows(name, text) or runners.shows(name, text) end
  parsers[name] = { parse = function(text)
    return (documents.shows(name, text) and documents or runners).parse(name, text)
  end }
end

-- The formats that a text may have. If the whole text is of one kind, ignore signs of others within.
local function found_in(text)
  if text:find("^%s*<") and text:find("<testsuite", 1, true) then return { "junit" } end
  local found = {}
  for _, name in ipairs(documents.names) do
    if documents.shows(name, text) then found[#found + 1] = name end
  end
  if #found > 0 then return found end
  if parsers.go.is_json(text) then return { "go" } end
  for _, name in ipairs(parse.formats) do
    if signs[name] and signs[name](text) then found[#found + 1] = name end
  end
  if #found == 0 and text:find("<testsuites?[%s/>]") then return { "junit" } end
  return found
end

local function detect(text)
  local found = found_in(text)
  if #found == 1 then return found[1] end
  local known = table.concat(parse.formats, ", ", 2)
  if #found == 0 then
    return nil, ("the output is of no known format (%s); it begins: %q"):format(known, text:sub(1, 80)), true
  end
  return nil, ("the output could be of %s: set its format"):format(table.concat(found, " or "))
end

function parse.text(format, text)
  if type(text) ~= "string" then error("the output of the tests is a text, not a " .. type(text), 2) end
  text = tally.plain(text)
  if not text:find("%S") then return nil, "there is no output", true end
  local message, absent
  if format == "auto" then
    format, message, absent = detect(text)
    if not format then return nil, message, absent end
  elseif not parsers[format] then
    error(("format %q is not one of %s%s"):format(tostring(format), table.concat(parse.formats, ", "),
      suggest.sentence(tostring(format), parse.formats)), 2)
  end
  local result
  result, message = parsers[format].parse(text)
  if not result then
    return nil, ("%s: %s"):format(format, message), signs[format] ~= nil and not signs[format](text)
  end
  return result
end

return parse
