-- proposal: what plan may return, key by key: what is filled in, what is refused and in which words, and what the journal keeps.
local proposals = require "apsis.core.proposal"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local best = { id = "c0007", candidate = "c0007" }
local history = { asked = {}, best = best }
function history.has(_, id)
  if id == "c0003" then return false, "has no commit (skipped_no_change)" end
  if id == "c0001" or id == "c0002" then return true end
end

local keys = { answer = "string", ask = "table", complexity = "string", edits = "table", inspirations = "table", items = "table", k = "number",
  measure = "table", model = "string", notes = "table", operator = "string", parents = "table", repeats = "number", split = "string",
  stage = "number", title = "string" }

local function refused(given, expected)
  local checked, message = proposals.check(given, history)
  equal(checked, nil, expected)
  equal(message, expected)
end

test("what a proposal leaves out is filled in, and a candidate may be named by itself or its id", function()
  for _, case in ipairs {
    { {}, { parents = { "c0007" }, operator = "exploitation" } },
    { { ask = "why" }, { parents = { "c0007" }, operator = "ask", ask = "why" } },
    { { ask = { "why" }, k = 1 }, { parents = { "c0007" }, operator = "ask", ask = { "why" }, k = 1 } },
    { { measure = { "c0001", best, "c0001" } }, { parents = { "c0007" }, operator = "measure", measure = { "c0001", "c0007" } } },
    { { parents = best, operator = "x" }, { parents = { "c0007" }, operator = "x" } },
    { { parents = { "c0002", { id = "c0001" }, "c0002" } }, { parents = { "c0002", "c0001" }, operator = "exploitation" } },
    { { inspirations = { "c0001" }, k = 64 }, { parents = { "c0007" }, operator = "exploitation", inspirations = { "c0001" }, k = 64 } },
    { { measure = { "c0001" }, repeats = 1, stage = 1, items = { "a" }, split = "test" }, { parents = { "c0007" }, operator = "measure",
      measure = { "c0001" }, repeats = 1, stage = 1, items = { "a" }, split = "test" } },
  } do
    equal((assert(proposals.check(case[1], history))), case[2])
  end
end)

test("each key has one type", function()
  for key, kind in pairs(keys) do
    refused({ [key] = true }, ("proposal.%s must be a %s, not boolean"):format(key, kind))
    if kind ~= "string" and key ~= "ask" then refused({ [key] = "x" }, ("proposal.%s must be a %s, not string"):format(key, kind)) end
  end
end)

test("what is no proposal is refused, with the place and the reason", function()
  local names = {}
  for key in pairs(keys) do names[#names + 1] = key end
  table.sort(names)
  local all = "; keys: " .. table.concat(names, ", ")

  for _, case in ipairs {
    { 5, "a proposal must be a table, not number" },
    { best, "a candidate is no proposal; return { parents = { it } }" },
    { { parent = {} }, 'unknown key "parent" in a proposal; did you mean "parents"?' .. all },
    { { zzzzzzzz = 1 }, 'unknown key "zzzzzzzz" in a proposal' .. all },
    { { parents = {} }, "a proposal needs at least one parent" },
    { { parents = { "c0001", "c0009" } }, "parents[2] is no candidate: c0009" },
    { { parents = { 5 } }, "parents[1] is no candidate: 5" },
    { { parents = { "c0003" } }, "parents[1]: c0003 has no commit (skipped_no_change)" },
    { { inspirations = { "c0009" } }, "inspirations[1] is no candidate: c0009" },
    { { measure = { "c0009" } }, "measure[1] is no candidate: c0009" },
    { { measure = {} }, "measure needs at least one candidate" },
    { { k = 0 }, "proposal.k must be a whole number from 1 to 64" }, { { k = 65 }, "proposal.k must be a whole number from 1 to 64" },
    { { k = 1.5 }, "proposal.k must be a whole number from 1 to 64" },
    { { measure = { best }, ask = "x" }, "measure and ask: a proposal has one of them" },
    { { measure = { best }, ask = "x", edits = {} }, "measure and ask and edits: a proposal has one of them" },
    { { repeats = 2 }, "repeats goes with measure: it says what is measured again" },
    { { stage = 2 }, "stage goes with measure: it says what is measured again" },
    { { items = {} }, "items goes with measure: it says what is measured again" },
    { { split = "x" }, "split goes with measure: it says what is measured again" },
  } do
    refused(case[1], case[2])
  end
  for _, key in ipairs { "notes", "ask" } do
    matches(select(2, proposals.check({ [key] = { print } }, history)), "^" .. key .. ": .*function")
  end
  matches(select(2, proposals.check({ parents = { {} } }, history)), "^parents%[1%] is no candidate: table: ")
  local raising = setmetatable({}, { __pairs = function() error "no reading" end })
  matches(select(2, proposals.check(raising, history)), "no reading")
end)

test("a request for measurements has whole numbers from 1, a list of ids and one split", function()
  for _, value in ipairs { 0, 1.5, -1, "2" } do
    equal(proposals.request_problem { repeats = value }, "repeats must be a whole number, 1 or more")
    equal(proposals.request_problem { stage = value }, "stage must be a whole number, 1 or more")
  end
  equal(proposals.request_problem { repeats = 1, stage = 1, items = { "a", "b" }, split = "s" }, nil)
  equal(proposals.request_problem {}, nil)
  equal(proposals.request_problem { items = 5 }, "items must be a list of ids")
  equal(proposals.request_problem { items = { "a", 5 } }, "items[2] must be an id, a string")
  equal(proposals.request_problem { items = { 5 } }, "items[1] must be an id, a string")
  equal(proposals.request_problem { split = 5 }, "split must be a string")
end)

test("the journal keeps of a proposal what is small: the paths of its edits, not its question", function()
  equal(proposals.brief { parents = { "a" }, operator = "o", edits = { z = "1", a = "2", m = "3" }, ask = "q", experiment = 3, title = "t" },
    { parents = { "a" }, operator = "o", edits = { "a", "m", "z" }, title = "t" })
end)

test("a list of proposals is a group; one proposal and a candidate are none", function()
  for _, case in ipairs { { { {} }, true }, { {}, false }, { { "c0001" }, false }, { { {}, parents = {} }, false },
    { { {}, candidate = "c0001" }, false }, { "text", false } } do
    equal(proposals.is_group(case[1]), case[2])
  end
end)

tap.done()
