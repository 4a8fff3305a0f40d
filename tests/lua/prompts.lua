-- prompts: what the playbook asks a chat model with, whole, for each of its operators and forms of answer, against
-- tests/data/prompts. UPDATE=1 rewrites these files; git diff then shows the change.
local contract = require "apsis.core.strategy"
local direction = require "apsis.direction"
local fake = require "fake"
local host = require "apsis.fs"
local markdown = require "apsis.prompt.markdown"
local messages = require "apsis.live.provider.shared.messages"
local written = require "apsis.prompt"
local templates = require "apsis.project.prompts"
local tap = require "tap"

local FOLDER = "../data/prompts/"
local SOURCE = [[return require("apsis.strategy").extend("openevolve", {})]]
local OPTIONS = { island_names = { "greedy: takes the best step", "annealing: sometimes takes a worse one" },
  features = { "complexity", { name = "move", values = { "swap", "shift" } } }, crossover = 0.3, migration = 0.2,
  knowledge = { "sort before you search", "symmetric answers" }, top_programs = 1, diverse_programs = 1 }

local function source_of(id)
  return ("# EVOLVE-BLOCK-START\ndef pack():\n    return %s\n# EVOLVE-BLOCK-END\n"):format(id)
end

-- The first prompt of each operator, by its name; as `again` the second of an experiment, whose first answer names a
-- move that there is not.
local function prompts_of(answer, moves, options, again)
  local seen = {}
  local world = { wants_prompt = true, notes = { "keep it short" }, stage_list = { 1, 2 },
    sources = function(_, record) return { { path = "program.py", text = source_of(record.id) } } end,
    artifacts = function(_, record) return { ["stderr.txt"] = "warning of " .. record.id .. "\n" } end,
    measure = function(x) return { value = 0.3 + x, metrics = { seconds = 1 } } end,
    answers = function(slot, prompt)
      local wrong = slot.number == again and not seen[slot.number]
      seen[slot.number] = prompt
      return { text = "a change", edits = { x = moves[slot.number % #moves + 1] }, learned = slot.number < 3 and "lesson " .. slot.number or nil,
        description = "change " .. slot.number, notes = { move = wrong and "spin" or slot.number % 2 == 0 and "swap" or "shift" } }
    end }
  local lines = fake.run(SOURCE, { budget = { iterations = 40 }, world = world, thresholds = { [1] = 0.32 }, options = options or OPTIONS,
    metric = { name = "radius", direction = "higher", target = 2 }, project = { name = "packing", answer = answer,
      description = "circles in a square", program = "Pack circles.", reads_answers = true, files = { writable = { "program.py" },
        hidden = { "evaluator.py" } } } })
  local found = {}
  for index = 2, #lines do
    local line = lines[index]
    local name = line.notes.scratch and "scratch" or line.operator
    if not found[name] and seen[line.experiment] then found[name] = messages.text(seen[line.experiment]) end
  end
  found.again = again and messages.text(seen[again])
  return found
end

local function compare(name, text)
  local path = FOLDER .. name .. ".md"
  if os.getenv "UPDATE" then
    assert(host.mkdir(FOLDER))
    assert(host.write(path, text))
  end
  local known = host.read(path)
  if known ~= text then error(path .. " differs: UPDATE=1 rewrites it, and git diff shows the change", 2) end
end

for _, answer in ipairs { "diff", "rewrite", "either" } do
  local found = prompts_of(answer, { 0.03, -0.02, 0.01, -0.01, -0.03, 0.02 })
  for _, name in ipairs { "exploitation", "exploration", "scratch", "crossover", "migration" } do
    tap.test(("the prompt of %s, answered by %s, is as in tests/data/prompts"):format(name, answer), function()
      tap.equal(found[name] ~= nil, true, name)
      compare(name .. "-" .. answer, found[name])
    end)
  end
end

tap.test("so is one whose islands have numbers", function()
  compare("crossover-numbered", prompts_of("diff", { 0.03, -0.02, 0.01 }, { islands = 3, crossover = 0.5 }).crossover)
end)

tap.test("and one of selection openevolve, and one that asks again", function()
  local moves = { 0.03, -0.02, 0.01 }
  compare("weighted", prompts_of("diff", moves, { selection = "openevolve", islands = 2 }).weighted)
  compare("again", prompts_of("diff", moves, nil, 5).again)
end)

tap.test("a candidate that was measured again is shown with its new value", function()
  local record = { id = "c0001", outcome = "kept", primary_metric = 1, value = 1, metrics = {} }
  local run = { metric = direction.new { name = "score" }, recent = function() return { record } end }
  tap.equal({ written.recent(run), written.facts(run, record) }, { "- c0001 kept at 1", "kept at 1 (higher is better)" })
  local child = { id = "c0002", outcome = "kept", value = 3, parents = { "c0001" } }
  local below = { metric = run.metric, recent = function() return { child } end, get = function() return record end }
  tap.equal(written.recent(below), "- c0002 kept at 3 (+2 against its parent c0001)")
  record.value = 2
  tap.equal(written.recent(below), "- c0002 kept at 3 (+1 against its parent c0001)")
  tap.equal({ written.recent(run), written.facts(run, record) }, { "- c0001 kept at 2", "kept at 2 (higher is better)" })
end)

tap.test("a project's template is warned of if it lacks what is asked for: more of it by a chat model than by an agent", function()
  local dir = assert(host.tempdir "apsis-test-")
  host.mkdir(dir .. "/prompts")
  local strategy = assert(contract.load { use = "openevolve" })
  local function warnings_of(name, text, reads_answers)
    host.write(dir .. "/prompts/" .. name .. ".md", text)
    local found = templates.check(dir, strategy, reads_answers)
    host.remove(dir .. "/prompts/" .. name .. ".md")
    tap.equal({ found.errors, found.read }, { {}, { name } })
    return found.warnings
  end
  local told = "prompts/mutation.md has no {{directions}}: `apsis direct` reaches no prompt of it"
  tap.equal(warnings_of("mutation", "{{metric}}", false), { told })
  tap.equal(warnings_of("mutation", "{{metric}}", true), { told, "prompts/mutation.md has no {{answer}}: the model does not learn how to answer",
    "prompts/mutation.md has no {{parent_files}}: the model does not see the files it is to change" })
  tap.equal(warnings_of("migration", "{{#directions}}{{directions}}{{/directions}} {{answer}} {{parent_files}}", true), {})
  tap.equal(warnings_of("system", "{{metric}}", true), {})
  host.write(dir .. "/prompts/system.md", "{{directions}}")
  host.write(dir .. "/prompts/mutation.md", "{{metric}}")
  tap.equal(templates.check(dir, strategy, false).warnings, {})
  host.remove_tree(dir)
end)

tap.test("a text that is cut to a length has no half character", function()
  tap.equal(markdown.one_line("lösung \n zwei", 2), "l")
  tap.equal(markdown.one_line("lösung \n zwei", 3), "lö")
  tap.equal(markdown.cut("lösung", 2), "l\n(6 more bytes)")
  tap.equal(markdown.ends_of("löaaaaaaöl", 4), "l\n(10 bytes left out)\nl")
end)

tap.test("a strategy copied from an older version fills in the fields of its time: what the shipped templates have since is left out",
  function()
    local prompt = written
    for _, name in ipairs { "mutation", "crossover", "migration" } do
      local fields = {}
      for _, field in ipairs(prompt.field_names) do fields[field] = "x" end
      for _, field in ipairs { "explore", "exploit", "scratch", "stuck", "again", "families", "lessons", "foreclosed", "untried" } do
        fields[field] = ""
      end
      local text = prompt.render({ project = {} }, name, fields)
      assert(not text:find "{{", text)
      fields.again = nil
      tap.raises("no field {{again}}", prompt.render, { project = {} }, name, fields)
    end
  end)

tap.done()
