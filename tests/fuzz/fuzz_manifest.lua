-- fuzz_manifest: the bytes as a project's manifest.yaml. Whatever they are: a manifest complete with defaults, whose every part can be
-- used and written as JSON, or errors that each begin with FILE:LINE:, a line that is there, and are one line of text.
local config = require "apsis.project.config"
local fs = require "apsis.fs"
local json = require "apsis.json"
local manifest = require "apsis.project.manifest"
local schema = require "apsis.project.schema"
local scope = require "apsis.live.scope"
local scratch = require "scratch"

local dir = scratch()
local path = dir .. "/manifest.yaml"
assert(fs.write(dir .. "/program.md", "# Goal\n\nMake it better.\n"))
assert(fs.write(dir .. "/strategy.lua", "return {}\n"))
local label = manifest.display(path)

local function check_error(text, last, of_key)
  assert(utf8.len(text) and not text:find "%c", "an error that is no line of text")
  assert(text:sub(1, #label) == label, "an error that does not begin with its file: " .. text)
  local line, rest = text:match("^:(%d+):?%d*: (.+)$", #label + 1)
  line = math.tointeger(tonumber(line))
  assert(line and line >= 1 and line <= last, "an error of no line: " .. text)
  assert(not of_key or rest:find "^.-: .", "an error without its key: " .. text)
end

local sections = {}
for _, field in ipairs(schema.manifest.fields) do sections[field[1]] = true end

local function check_made(made, last)
  assert(made.path == path and made.dir == dir and made.home == dir)
  assert(made.branch:find "^apsis/." and made.project.ref ~= "")
  for key, line in pairs(made.lines) do
    assert(line >= 1 and line <= last, "a key of no line")
    assert(made.where(key) == ("%s:%d"):format(label, line))
  end
  for key in pairs(config.plain(made)) do assert(sections[key]) end
  json.encode(config.plain(made))
  local own = scope.new(made.files)
  assert(own:mode "manifest.yaml" and own:mode "a/b")
end

local function check_layer(last)
  local layer = manifest.read(path, schema.user) -- the same bytes as a user's own file
  for _, one in ipairs(layer.errors) do check_error(one.text, last) end
end

return function(bytes)
  assert(fs.write(path, bytes))
  local last = select(2, bytes:gsub("\r\n?", "\n"):gsub("\xC2\x85", "\n"):gsub("\xE2\x80[\xA8\xA9]", "\n"):gsub("\n", "\n")) + 1
  local made, errors = manifest.load(path)
  if made then
    check_made(made, last)
  else
    assert(#errors > 0)
    local readable = manifest.decode(bytes, label)
    for _, text in ipairs(errors) do check_error(text, last, readable ~= nil) end
  end
  check_layer(last)
end
