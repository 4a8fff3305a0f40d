-- kind: what a value from a file must be, and what is wrong with it.
local kind = require "apsis.core.kind"
local tap = require "tap"

local shape = { keys = { name = "string", sizes = { list = "whole" }, by = { map = "number" }, ready = "boolean" }, needs = { "name" } }

tap.test("a value is right, or the first thing that is wrong is named with its path", function()
  for _, case in ipairs {
    { 1, "number" }, { 1.5, "number" }, { "1", "number", "v: not a number" }, { {}, "table" },
    { 1, "table", "v: not a list or mapping" },
    { 0, "whole" }, { 1000000000000000, "whole" }, { 1000000000000001, "whole", "v: not a whole number from 0 to 10^15" },
    { -1, "whole", "v: not a whole number from 0 to 10^15" }, { 1.0, "whole", "v: not a whole number from 0 to 10^15" },
    { "0af9", "hash" }, { "", "hash", "v: not a hash of git" }, { "0ag", "hash", "v: not a hash of git" },
    { 12, "hash", "v: not a hash of git" },
    { {}, { list = "string" } }, { { "a" }, { list = "string" } }, { 1, { list = "string" }, "v: not a list" },
    { { "a", 2 }, { list = "string" }, "v[2]: not a string" }, { { x = "a" }, { list = "string" }, "v: not a list" },
    { { [1.5] = "a" }, { list = "string" }, "v: not a list" },
    { { a = 1 }, { map = "number" } }, { 1, { map = "number" }, "v: not a mapping" },
    { { a = "x" }, { map = "number" }, "v.a: not a number" }, { { 1 }, { map = "number" }, "v: not a mapping" },
    { { name = "n" }, shape }, { { name = "n", sizes = { 1 }, by = { a = 0.5 }, ready = false, other = 7 }, shape },
    { {}, shape, "v.name: missing" }, { { name = 1 }, shape, "v.name: not a string" }, { "x", shape, "v: not a mapping" },
    { { "n", name = "n" }, shape, "v: not a mapping" }, { { name = "n", sizes = { -1 } }, shape,
      "v.sizes[1]: not a whole number from 0 to 10^15" },
    { { name = "n", by = { a = true } }, shape, "v.by.a: not a number" },
  } do tap.equal(kind.problem(case[1], case[2], "v"), case[3]) end
  tap.equal(kind.problem({}, { keys = {} }, "v"), nil)
end)

tap.done()
