-- strategy: how a strategy file is found, loaded, checked and completed; each refusal in its exact words, from their first one on.
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local dir = assert(fs.tempdir "apsis-test-strategy-")

-- Loads source as s.lua in dir.
local function load_source(source, options, use)
  assert(fs.write(dir .. "/s.lua", source))
  return contract.load { use = use or "s.lua", dir = dir, options = options }
end

local function refused(source, expected, options, use)
  local strategy, message = load_source(source, options, use)
  equal(strategy, nil, expected)
  equal(message, expected)
end

local here = dir .. "/s.lua: "
local hooks = "init, plan, prompt, select, stage, stopped, accept, learn, halt"

test("each wrong part of a module is named, with its file and what it must be", function()
  for _, hook in ipairs(contract.hooks) do
    refused(("return { %s = 3 }"):format(hook), here .. ('hook "%s" must be a function, not number'):format(hook))
    assert(load_source(("return { %s = function() end }"):format(hook)))
  end
  refused("return 3", here .. "a strategy file returns a table of hooks, not number")
  refused("return", here .. "a strategy file returns a table of hooks, not nil")
  refused("return { acept = 1 }", here .. 'unknown hook "acept"; did you mean "accept"?; hooks: ' .. hooks)
  refused("return { option = {} }", here .. 'unknown hook "option"; did you mean "options"?; hooks: ' .. hooks)
  refused("return { [1] = {} }", here .. 'unknown hook "1"; hooks: ' .. hooks)
  refused("return { check = 1 }", here .. "check must be a function, not number")
  refused("return { fields = 1 }", here .. "fields must be a list of names, not number")
  refused("return { climbs = 1 }", here .. "climbs must be true or false, not number")
  refused("return { breaks_ties = 1 }", here .. "breaks_ties must be true or false, not number")
  refused("return { options = 1 }", here .. "options must be a table of defaults, not number")
  assert(load_source "return { check = function() end, fields = {}, climbs = false, options = {}, name = 1, description = 2 }")
end)

test("a file that cannot be loaded is named once", function()
  refused("return {", dir .. "/s.lua:1: unexpected symbol near <eof>")
  refused("\nerror 'boom'", dir .. "/s.lua:2: boom")
  refused("error('boom', 0)", here .. "boom")
  refused("", "cannot read the strategy file: " .. dir .. "/none.lua: No such file or directory", nil, "none.lua")
  assert(fs.mkdir(dir .. "/d.lua"))
  refused("", "cannot read the strategy file: Is a directory", nil, "d.lua")
end)

test("a name is that of a shipped strategy; a path begins at the folder or the root", function()
  local shipped = contract.shipped()
  equal({ shipped[1], #shipped > 3 }, { "adaevolve", true })
  refused("", ('no strategy "hilclimb"; shipped: %s; or give a path that ends in .lua; did you mean "hillclimb"?'):format(
    table.concat(shipped, ", ")), nil, "hilclimb")
  local by_name = assert(load_source("", nil, "hillclimb"))
  equal({ by_name.name, by_name.where, by_name.climbs }, { "hillclimb", "strategies/hillclimb.lua", true })
  equal(assert(load_source("return {}", nil, dir .. "/s.lua")).where, dir .. "/s.lua")
  local home = fs.cwd()
  assert(fs.chdir(dir))
  equal(assert(contract.load { use = "s.lua" }).where, "s.lua")
  assert(fs.chdir(home))
end)

test("options are those that are declared, of their types; others are refused when they are set or read", function()
  local declared = "return { options = { size = 3, list = { 1 }, on = true, text = 't', none = {} } }"
  local strategy = assert(load_source(declared, { size = 4, list = { 5 }, on = false }))
  local options = strategy.options
  equal({ options.size, options.list, options.on, options.text, options.patience ~= nil }, { 4, { 5 }, false, "t", true })
  equal(strategy.declared.size, 3)
  local names = "list, none, on, patience, size, text"
  refused(declared, here .. 'unknown option "sise"; did you mean "size"?; options: ' .. names, { sise = 1 })
  refused(declared, here .. "option size must be a number (default 3), not x", { size = "x" })
  refused(declared, here .. "option on must be a boolean (default true), not 1", { on = 1 })
  refused(declared, here .. "option list must be a list or mapping (default [1]), not 5", { list = 5 })
  refused(declared, here .. "option text must be a string (default t), not [1]", { text = { 1 } })
  matches(select(2, pcall(function() return options.sise end)),
    '^strategy.lua:%d+: the strategy declares no option "sise"; did you mean "size"%?$')
  refused("return { options = { a = 1 }, check = function(o) return o.a > 1 and 'a is over 1' or nil end }", here .. "a is over 1", { a = 2 })
end)

test("a strategy requires the library, files beside it once, and nothing of the machinery", function()
  assert(fs.write(dir .. "/beside.lua", "loads = (loads or 0) + 1 local name = ... return { name = name, loads = loads, env = _ENV }"))
  assert(fs.mkdir(dir .. "/folder"))
  assert(fs.write(dir .. "/folder/init.lua", "seen = true"))
  local strategy = assert(load_source [[
    local one, two = require "beside", require "beside"
    assert(one == two and one.name == "beside" and one.loads == 1 and one.env == _ENV)
    assert(require "folder" == true and seen)
    assert(require "apsis.stats".mean { 1, 3 } == 2)
    return { name = "n", climbs = false }]])
  equal(strategy.climbs, false)
  local message = select(2, load_source 'require "apsis.core.loop"')
  equal(message, dir .. '/s.lua:1: require "apsis.core.loop": a strategy may require modules directly in lua/apsis, '
    .. "not those in its folders")
  matches(select(2, load_source 'require "nothing.at.all"'), "module 'nothing.at.all' not found")
  assert(fs.write(dir .. "/broken.lua", "return return"))
  matches(select(2, load_source 'require "broken"'), "broken.lua:1: ")
end)

test("sub-strategies have their own options, checked by their own rules, and are named in refusals", function()
  local source = [[
    local use = require("apsis.strategy").use
    local first = use({ options = { a = 1 }, check = function(o) return o.a > 2 and "too much" or nil end }, %s)
    local second = use({}, nil)
    return { options = { first = first.options.a } }]]
  local strategy = assert(load_source(source:format "{ a = 2 }"))
  equal({ #strategy.subs, strategy.subs[1].name, strategy.subs[2].name, strategy.subs[1].index, strategy.subs[2].index,
    strategy.options.first }, { 2, "sub-strategy 1", "sub-strategy 2", 1, 2, 2 })
  matches(select(2, load_source(source:format "{ a = 3 }")), "^[^\n]*sub%-strategy 1: too much$")
  matches(select(2, load_source(source:format "{ b = 3 }")), "^[^\n]*sub%-strategy 1: unknown option \"b\"")
end)

assert(fs.remove_tree(dir))
tap.done()
