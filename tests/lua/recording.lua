-- recording: what a recorded line says of its plan and its measurements.
local lines = require "apsis.core.line"
local json = require "apsis.json"
local recording = require "apsis.core.recording"
local tap = require "tap"
local test, equal = tap.test, tap.equal

test("the first samples are those before accept asked for more; at least one", function()
  local function first(line)
    line.candidate = "c5"
    return recording.first_samples(line)
  end
  equal(first { primary_metric = 2 }, { 2 })
  equal(first { samples = { 1, 2, 3 } }, { 1, 2, 3 })
  equal(first { samples = { 1, 2, 3 }, trace = {} }, { 1, 2, 3 })
  equal(first { samples = { 1, 2, 3 }, trace = { { id = "c5", value = 3 } } }, { 1, 2 })
  equal(first { samples = { 1, 2, 3 }, trace = { { id = "c4", value = 3 }, { id = "c5" } } }, { 1, 2, 3 })
  equal(first { samples = { 1, 2 }, trace = { { id = "c5", value = 1 }, { id = "c5", value = 2 } } }, { 1 })
end)

test("proposals are the same by operator, parents and what they measure; what else differs is listed", function()
  local one = { operator = "a", parents = { "c1" } }
  equal({ recording.same(one, { operator = "a", parents = { "c1" } }), recording.same(one, { operator = "b", parents = { "c1" } }),
    recording.same(one, { operator = "a", parents = { "c2" } }), recording.same(one, { operator = "a", parents = { "c1", "c2" } }),
    recording.same(one, { operator = "a" }), recording.same(one, { operator = "a", parents = { "c1" }, measure = { "c1" } }) },
    { true, false, false, false, false, false })
  equal(recording.differing({ parents = {}, notes = {}, title = "t" }, { title = "t" }), {})
  equal(recording.differing({ parents = {}, notes = { a = 1 }, model = "m" }, { notes = { a = 2 } }), { "notes", "model" })
  equal({ recording.words(nil), recording.words { wrong = "it" }, recording.words { operator = "a", parents = { "c1", "c2" } },
    recording.words { operator = "m", parents = { "c1" }, measure = { "c3" } } },
    { "nothing", "what is no proposal: it", "a of c1 and c2", "m of c3" })
end)

-- The numbers of the plans that are read of these lines, by how many lines they had seen: "seen: number number ...".
local function plans(lines_of, failed_too)
  local journal = {
    each = function(_, visit)
      for at, line in ipairs(lines_of) do visit(line, at) end
      return true
    end,
    read = function(_, at) return lines_of[at] end,
  }
  local visited = 0
  local read = assert(recording.read(journal, function(_, at) visited = at end, failed_too))
  equal({ visited, read.count }, { #lines_of, #lines_of })
  local shown = {}
  for count = 0, #lines_of do
    local numbers = {}
    for _, plan in ipairs(read:folded(count)) do
      for _, entry in ipairs(plan.entries) do
        numbers[#numbers + 1] = plan.number .. (entry.number == entry.experiment and "" or "+")
          .. (entry.failed and "!" or "")
      end
    end
    if numbers[1] then shown[#shown + 1] = ("%d: %s"):format(count, table.concat(numbers, " ")) end
  end
  return table.concat(shown, "; "), read
end

test("a plan is what a line with a proposal names; one that failed counts if that is asked for", function()
  local journal = {
    { experiment = 0, outcome = "baseline", seen = 0, proposal = {} },
    { experiment = 3, outcome = "kept", seen = 1, proposal = {}, group = 2 },
    { experiment = 1, outcome = "skipped_strategy_error", seen = 1 },
    { experiment = 2, outcome = "kept", seen = 1, proposal = {}, group = 2 },
    { experiment = 4, outcome = "skipped_not_selected", seen = 1 },
    { experiment = 5, outcome = "kept", proposal = {} },
    { experiment = 6, outcome = "kept", seen = 1, proposal = {}, acceptance = { final = true } },
    { experiment = 7, outcome = "skipped_strategy_error", seen = 4, proposal = {} },
  }
  local shown, read = plans(journal)
  equal(shown, "1: 2 2+; 4: 7!")
  equal({ read.planned, read:number_of(3), read:number_of(7) }, { true, 2, 7 })
  equal({ read:number_of(1), read:number_of(4), read:number_of(9) }, {})
  equal((plans(journal, true)), "1: 1! 2 2+; 4: 7!")
  equal(select(2, plans { journal[1] }).planned, false)
end)

test("a body runs as a task: what it returns, each value", function()
  equal(table.pack(recording.in_task(function() return 1, nil, 3 end)), { 1, nil, 3, n = 3 })
  equal(table.pack(recording.in_task(function() end)), { n = 0 })
end)

test("in a file the parents are a list even if there is none", function()
  equal(json.encode(lines.for_file { parents = {} }):match '"parents":[^,}]*', '"parents":[]')
end)

test("a line that was not kept has a reason: its own, one that can be worked out, or its outcome", function()
  local function reason(fields) return lines.complete(fields).rollback_reason end
  equal({ reason { outcome = "reverted_worse_metric" }, reason { outcome = "reverted_scope_violation", improved = true },
    reason { outcome = "reverted_worse_metric", rollback_reason = "it" }, reason { outcome = "reverted_worse_metric", rollback_reason = " " } },
    { "reverted_worse_metric", "reverted_scope_violation", "it", "reverted_worse_metric" })
  equal({ reason { outcome = "reverted_worse_metric", improved = false } }, {})
  equal({ reason { outcome = "kept", rollback_reason = "it" }, lines.complete({ outcome = "kept" }).status,
    lines.complete({ outcome = "baseline" }).status, lines.complete({ outcome = "baseline", primary_metric = 1 }).status },
    { nil, "keep", "crash", "keep" })
end)

tap.done()
