-- A world's definition: the text that names it, its options, and the messages if one of these or the world's file is
-- wrong.
local definition = require "apsis.lab.definition"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function load_file(text, settings)
  local path = os.tmpname() .. ".lua"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local loaded, message = definition.load(path .. (settings or ""))
  os.remove(path)
  os.remove((path:gsub("%.lua$", "")))
  return loaded, message
end

local complete = "return { options = { n = 3, x = 0.5, path = 'a', flag = false }, baseline = function() return 1 end, "
  .. "propose = function() return 1 end, evaluate = function() return 1.0 end "

test("options are set with the type of their default, and numbers as they are written", function()
  local options = assert(definition.load "nk:n=1e1,k=0x3,seconds=2,noise=student-t").options
  equal({ options.n, options.k, options.seconds, options.noise }, { 10, 3, 2.0, "student-t" })
  equal({ math.type(options.n), math.type(options.seconds) }, { "integer", "float" })
  equal(assert(definition.load "onemax").label, "onemax")
  equal(assert(definition.load "onemax:").options.n, 100)
  equal(load_file(complete .. "}", ":flag=true,path=a=b,c:d/e.lua, x = 2").options,
    { n = 3, x = 2.0, path = "a=b,c:d/e.lua", flag = true,
      noise = "none", noise_sd = 1.0, seconds = 60.0, spread = 0.5, tokens = 0, cost = 0.0 })
end)

test("noise_sd alone means gaussian noise, and 0 none", function()
  local function noise_of(text) return assert(definition.load(text)).options.noise end
  equal({ noise_of "onemax:noise_sd=2", noise_of "onemax:noise_sd=2,noise=drift",
    noise_of "onemax:noise=gaussian,noise_sd=0", noise_of "onemax:noise_sd=0",
    noise_of "onemax:noise_sd=2,noise=none" }, { "gaussian", "drift", "none", "none", "none" })
end)

test("what is wrong with a definition is said when it is loaded, with what is allowed", function()
  local cases = {
    { "onemix", 'no world "onemix"; did you mean "onemax"%?; shipped: .*onemax' },
    { "no/such.lua", "cannot read the world: no/such.lua: No such file" },
    { "onemax:m=3", 'world onemax: unknown option "m".*options: cost, n, noise' },
    { "onemax:n=2.5", 'option n must be a whole number %(default 100%), not "2.5"' },
    { "onemax:n=3,n=4", "option n is set twice" },
    { "onemax:n", '"n" is not KEY=VALUE' },
    { "onemax:n=3,k", 'option n must be a whole number %(default 100%), not "3,k"' },
    { "onemax:n=0", "option n must be 1 or more, not 0" },
    { "onemax:noise=gausian",
      'option noise must be none or gaussian or student%-t or lognormal or lognormal%-low or drift or trend or rounded or flaky or rare '
      .. 'or quantised or ar1 or spikes or by%-candidate or cold or t2 or bimodal or telegraph, '
      .. 'not "gausian"; did you mean "gaussian"' },
    { "onemax:noise_sd=-1", "option noise_sd must be 0 or more" },
    { "onemax:cost=nan", 'option cost must be a number %(default 0.0%), not "nan"' },
    { "onemax:cost=1e999", "option cost must be a number" },
    { "nk:n=5,k=5", "option k must be 4 or less, not 5" },
    { "nk:n=20,k=19", "more than the 2097152 there is room for" },
    { "nk:neighbours=far", 'option neighbours must be ring or random, not "far"' },
    { "rosenbrock:d=1", "option d must be 2 or more, not 1" },
    { "kmodule:ideas=5", "option ideas must be 4 or less" },
    { "proposer:distribution=cauchy", "option distribution must be exponential or lognormal" },
    { "proposer:crash=2", "option crash must be 1 or less" },
  }
  for _, case in ipairs(cases) do
    local loaded, message = definition.load(case[1])
    equal(loaded, nil, case[1])
    matches(message, case[2], case[1])
  end
end)

test("what is wrong with a world's file is said with its name, and its globals stay its own", function()
  local cases = {
    { "return 3", "%.lua: a world's file returns a table, not number" },
    { "return {", "%.lua:1: unexpected symbol" },
    { "error 'no'", "%.lua:1: no" },
    { complete .. ", porpose = 1 }", 'unknown key "porpose"; did you mean "propose"' },
    { "return { baseline = function() end, propose = 3 }", "propose must be a function, not number" },
    { "return { baseline = function() end, propose = function() end }", "a world needs a function evaluate" },
    { complete .. ", direction = 'up' }", 'direction must be higher or lower, not "up"' },
    { complete:gsub("n = 3", "noise = 3") .. "}", "option noise is every world's" },
    { complete:gsub("n = 3", "n = {}") .. "}",
      "option n: its default must be a number, a text, true or false, not a table" },
  }
  for _, case in ipairs(cases) do
    local loaded, message = load_file(case[1])
    equal(loaded, nil, case[1])
    matches(message, case[2], case[1])
  end
  assert(load_file("leaked = 1 " .. complete
    .. ", check = function(o) if o.n > 5 then return 'n is too large' end end }"))
  equal(rawget(_G, "leaked"), nil)
  local _, message = load_file(complete .. ", check = function(o) if o.n > 5 then return 'n is too large' end end }",
    ":n=6")
  matches(message, "^world .*%.lua: n is too large$")
end)

tap.done()
