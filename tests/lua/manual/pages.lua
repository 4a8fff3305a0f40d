-- The manual's pages: each public thing stands on exactly one of them, and the reader of stubs reads what they write.
package.path = "../?.lua;./?.lua;" .. package.path
local tap = require "tap"
local contract = require "apsis.core.strategy"
local line = require "apsis.core.line"
local pages = require "apsis.manual.pages"
local schema = require "apsis.project.schema"
local shipped = require "apsis.core.shipped"
local stubs = require "apsis.manual.stubs"

-- The pages by name, and for each how often it has a term.
local function counted()
  local by_name = {}
  for _, page in ipairs(pages.all()) do
    local terms = {}
    for _, block in ipairs(page.blocks) do
      for _, term in ipairs(block.kind == "terms" and block.value or {}) do
        terms[term[1]] = (terms[term[1]] or 0) + 1
      end
    end
    tap.equal(by_name[page.name], nil, page.name)
    by_name[page.name] = terms
  end
  return by_name
end

local found = counted()

tap.test("each field and each outcome of the journal stands once on its page", function()
  for _, field in ipairs(line.all()) do tap.equal(found["apsis-journal"][field.name], 1, field.name) end
  for name in pairs(line.status_of) do tap.equal(found["apsis-journal"][name], 1, name) end
end)

local function check_keys(fields, prefix)
  for _, field in ipairs(fields) do
    local name, node = prefix .. field[1], field[2]
    tap.equal(found["apsis-manifest"][name], 1, name)
    local below = node.fields and node or node.item
    if below and below.fields then check_keys(below.fields, name .. (below ~= node and "[]." or ".")) end
  end
end

tap.test("each key of the manifest stands once on its page", function()
  check_keys(schema.manifest.fields, "")
end)

tap.test("each option of a shipped strategy stands once on the strategies' page", function()
  for _, name in ipairs(contract.shipped()) do
    for option in pairs(assert(contract.load { use = name, options = {}, dir = "." }).own.options) do
      tap.equal(found["apsis-shipped-strategies"][name .. "." .. option], 1, name .. "." .. option)
    end
  end
end)

tap.test("each function of a public module stands once on the module's page", function()
  for _, path in ipairs(shipped.list "lua/meta/") do
    local name = path:match "([%w_]+)%.lua$"
    -- run is what hooks are given; a room that is removed takes its module with it
    local there, module = pcall(require, "apsis." .. name)
    if not there and name ~= "run" then tap.matches(module, "module 'apsis." .. name .. "' not found") end
    for key, value in pairs(type(module) == "table" and module or {}) do
      local times = 0
      for term, count in pairs(found["apsis." .. name]) do
        if term:find(name .. "." .. key .. "(", 1, true) == 1 then times = times + count end
      end
      if type(value) == "function" then tap.equal(times, 1, name .. "." .. key) end
    end
  end
end)

tap.test("a stub's types may hold blanks, and comments above count", function()
  local read = stubs.read [[
---@meta apsis.a
-- What it is.
-- Further.

local a = {}

---@class apsis.A what an A is
---Above.
---@field f? fun(x: string, y: integer): string|nil, any beside
---@field t table<string, {n: number}> its map
local made = {}

--- Makes it.
---@param n integer how many
---@return apsis.A? made
function a.new(n) end

---@return string
function made:name() end
]]
  tap.equal(read.about, "What it is. Further.")
  tap.equal(read.entries[1].fields, {
    { name = "f?", type = "fun(x: string, y: integer): string|nil, any", about = "Above. beside" },
    { name = "t", type = "table<string, {n: number}>", about = "its map" } })
  tap.equal(read.entries[2].text .. " " .. read.entries[2].about, "a.new(n) Makes it.")
  tap.equal(read.entries[2].params, { { name = "n", type = "integer", about = "how many" } })
  tap.equal(read.entries[3].text, "A:name()")
end)

tap.done()
