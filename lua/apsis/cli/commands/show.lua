-- show: everything about one candidate: journal line, metrics, commit, patch, files and the end of the verifier's log.
-- A room may show it another way: --against compares it with another one.
local correction = require "apsis.live.provider.chat.correction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local messages = require "apsis.live.provider.shared.messages"
local reader = require "apsis.live.reader"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"

local command = { place = 90, pages = true, summary = "everything about one candidate",
  example = "apsis show c0042 --prompt" }

local TAIL_LINES = 12
local MOST_ARTIFACTS, MOST_SAMPLES = 20, 10
local TAIL_BYTES = 8192

function command.options(parser)
  parser:argument("id", "c0042, 42, current, baseline or (default) best"):args "?"
  reader.directory_option(parser)
  parser:flag("--prompt", "print the prompt the provider got, exactly")
  rooms.call("options", "show", parser)
  parser:flag("--json", "the journal line and the other details as JSON; with --prompt the messages")
end

-- The text of runs/NNNN/prompt.md, byte for byte; as JSON the messages sent.
local function print_prompt(self, record, as_json)
  local path = self:run_dir(record) .. "/prompt.md"
  local text = fs.read(path)
  local removed = not text and self:removed(record)
  if removed then return 2, ("%s: the prompt of %s is gone"):format(removed, record.id) end
  if not text then return 2, ("%s has no prompt (%s): its provider is not asked with one"):format(record.id, path) end
  if as_json then
    text = fs.read(self:run_dir(record) .. "/prompt.json")
      or json.encode(json.array(messages.read(text)), { pretty = true }) .. "\n"
  end
  show.raw(text)
  return 0
end

local function files_of(dir)
  local files = {}
  for _, name in ipairs(fs.list(dir) or {}) do
    local stat = fs.stat(dir .. "/" .. name, { follow = false })
    files[#files + 1] = { name = stat and stat.type == "directory" and name .. "/" or name,
      size = stat and stat.type == "file" and stat.size or nil }
  end
  return files
end

-- { path, added, deleted } of the patch against the first parent; or nil and why.
local function patch_stat(self, record)
  local parent = record.parents and record.parents[1] and self.history:get(record.parents[1])
  if not record.commit or not parent or not parent.commit then return nil end
  local repo <close>, message = self:repository()
  if not repo then return nil, message end
  local changes, why = repo:changes(parent.commit, record.commit)
  if not changes then return nil, why end
  local list = {}
  for index, change in ipairs(changes) do
    list[index] = { path = change.path, status = change.status, added = change.added, deleted = change.deleted }
  end
  return list
end

local function log_tail(path)
  local stat = fs.stat(path)
  if not stat then return nil end
  local file <close> = io.open(path, "rb")
  if not file then return nil end
  file:seek("set", math.max(0, stat.size - TAIL_BYTES))
  local lines = {}
  for line in (file:read("a") or ""):gmatch("[^\n]+") do lines[#lines + 1] = line end
  return table.concat(lines, "\n", math.max(1, #lines - TAIL_LINES + 1))
end

-- The journal's own line, with its nulls; of one that waits for approval the line to be.
local function whole_line(self, record)
  local at = self.history:line_of(record.experiment)
  return at and json.decode(self.session.journal:text(at)) or setmetatable(record, nil)
end

local function print_json(self, record)
  local dir, patch, value = self:run_dir(record), patch_stat(self, record), record.value
  local line = assert(whole_line(self, record))
  line.directory, line.files = fs.stat(dir) and dir or json.null, json.array(files_of(dir))
  line.patch = patch and json.array(patch) or json.null
  line.value = value or json.null
  print(json.encode(line, { pretty = true }))
  return 0
end

local said = { "hypothesis", "description", "learned", "rollback_reason", "next_action_hint" }

local function metrics_text(record, metrics)
  local parts = {}
  for _, name in ipairs(show.sorted(record.secondary_metrics or {})) do
    parts[#parts + 1] = ("%s=%s"):format(show.line(name), show.number(record.secondary_metrics[name],
      (metrics[name] or {}).unit))
  end
  return #parts > 0 and table.concat(parts, " ") or nil
end

local function samples_text(record)
  if not record.samples or #record.samples < 2 then return nil end
  local parts = {}
  for index = 1, math.min(#record.samples, MOST_SAMPLES) do parts[index] = show.number(record.samples[index]) end
  local left = #record.samples - #parts
  return table.concat(parts, " ") .. (left > 0 and (" ... (%d more; --json has all)"):format(left) or "")
end

-- The value against the best at the time of the decision.
local function standing(record)
  local mark = show.mark(record)
  if mark == "" then return "" end
  local words = { equal = "equal to", ["not shown"] = "not shown to be better than" }
  local share = show.share(record)
  return (", %s%s: %s the best of its time, %s"):format(show.delta(record.delta),
    share and (" (%s)"):format(share) or "", words[mark] or mark .. " than",
    show.number(record.primary_metric - record.delta))
end

local function value_text(record, unit)
  if not record.value then return "none" end
  return ("%s = %s%s (%s)"):format(record.measured_by.name, show.number(record.value, unit), standing(record),
    record.measured_by:words())
end

-- "2 asked for; 1 taken; 2 lost: score -23 against -0.3": what became of several answers, and why there are no more.
local function answers_text(note)
  local parts = { ("%s asked for%s"):format(tostring(note.k), note.why and (", not %s: %s"):format(tostring(note.asked),
    note.why) or "") }
  for index, answer in ipairs(type(note.answers) == "table" and note.answers or {}) do
    parts[#parts + 1] = ("%d %s"):format(index, type(answer) == "table" and answer.lost and "lost: " .. answer.lost
      or "taken")
  end
  return table.concat(parts, "; ")
end

-- A note for people: flat mappings as name=value; nil if it is for programs or shown elsewhere.
local function note_text(name, value, record)
  if type(value) == "string" then return not (#value == 64 and value:find "^%x+$") and value or nil end -- a sketch
  if name == "fitness" and value == record.value then return nil end
  if type(value) ~= "table" or value[1] ~= nil then return json.encode(value) end
  if name == "trajectory" and value.k and value.asked then return answers_text(value) end
  local parts = {}
  for _, key in ipairs(show.sorted(value)) do
    if type(value[key]) == "table" then return json.encode(value) end
    parts[#parts + 1] = ("%s=%s"):format(key, type(value[key]) == "number" and show.number(value[key])
      or tostring(value[key]))
  end
  return table.concat(parts, " ")
end

-- The notes of hooks and engine: why it was kept, then the others by name.
local function add_notes(facts, record)
  local notes = record.notes
  if type(notes) ~= "table" then return end
  if notes.kept_because then facts[#facts + 1] = { "kept because", show.line(notes.kept_because, 400) } end
  for _, name in ipairs(show.sorted(notes)) do
    local text = name ~= "kept_because" and note_text(name, notes[name], record)
    if text then facts[#facts + 1] = { "note " .. show.line(name, 40), show.line(text, 400) } end
  end
end

-- Whether a chat model was asked again, and what was wrong with its answer.
local function repair_text(dir)
  local problems = {}
  for _, name in ipairs(fs.list(dir) or {}) do
    local stem = name:match "^(prompt)%.md$" or name:match "^(prompt_%d+)%.md$"
    if stem then
      local text = fs.read(dir .. "/" .. stem .. ".json")
      local list = correction.problems(text and json.decode(text, true) or messages.read(fs.read(dir .. "/" .. name)
        or ""))
      table.move(list, 1, #list, #problems + 1, problems)
    end
  end
  if #problems == 0 then return nil end
  return ("%d answer%s could not be used: %s"):format(#problems, #problems == 1 and "" or "s",
    show.line(problems[1], 200))
end

-- "score.txt 120 B, trace.png 4.2 kB": the evaluation's files.
local function artifacts_text(dir)
  local parts, names = {}, fs.list(dir .. "/artifacts") or {}
  table.sort(names)
  for index, name in ipairs(names) do
    if index > MOST_ARTIFACTS then
      parts[index] = ("and %d more"):format(#names - MOST_ARTIFACTS)
      break
    end
    local stat = fs.stat(dir .. "/artifacts/" .. name, { follow = false })
    local size = stat and stat.type == "file" and stat.size
    parts[index] = show.line(name) .. (not size and "/" or size < 1000 and (" %d B"):format(size)
      or (" %.1f kB"):format(size / 1000))
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function place_text(self, record)
  local names = {}
  for _, name in ipairs { "best", "current", "baseline" } do
    if self.history[name] and self.history[name].id == record.id then names[#names + 1] = name end
  end
  return record.id .. (#names > 0 and " (" .. table.concat(names, ", ") .. ")" or "")
end

-- How the project's gate ended ("green after 1 fix attempt", "stuck in CI fix loop: test_x failed; 2 fix attempts");
-- nil if it did not run or decide.
local function gate_text(record)
  local gate, count = record.gate, record.fix_attempts
  if not gate and not count then return nil end
  local attempts = count and ("%d fix attempt%s"):format(count, count == 1 and "" or "s")
  if not gate then return ("red, and judged again after %s"):format(attempts) end
  local ended = show.line(gate.reason or gate.status or "", 300)
  return attempts and ended .. (gate.status == "green" and " after " or "; ") .. attempts or ended
end

-- What a kept candidate has gained over the baseline; and the same measured again at the end of a run.
local function gain_rows(self, record)
  local history, rows = self.history, {}
  local baseline = history.baseline
  if record.kept and record.value and baseline and baseline.value and baseline.id ~= record.id then
    rows[1] = { "gain", self.metric:gained_text(record, baseline, self.manifest.metric.unit) }
  end
  local told = history.gain and history.gain.candidate == record.id and show.gain(history.gain, record.id)
  return told and { { "gained", told } } or rows
end

-- What answers took; a line of 0 may also mean that nothing was reported, so it is not shown. unknown: for an amount
-- that is missing.
local function taken(amount, form, unknown)
  if not amount then return unknown end
  return amount > 0 and form:format(amount) or nil
end

-- "unknown" if answers may have taken what their line does not have: a command was asked.
local function unknown_of(self, record)
  return #record.parents > 0 and (providers.of(self.manifest.provider) or {}).command and "unknown" or nil
end

-- Where it was measured, if not here: "on n2, n4: 12 s in the queue, 3.1 s running".
local function machines_text(machines)
  if type(machines) ~= "table" or not (machines.queue_s and machines.run_s) then return nil end
  local names = machines.nodes and ("on %s: "):format(show.line(table.concat(machines.nodes, ", "), 200)) or ""
  return ("%s%.3g s in the queue, %.3g s running"):format(names, machines.queue_s, machines.run_s)
end

local function print_facts(self, record)
  local unknown = unknown_of(self, record)
  local facts = {
    { "candidate", place_text(self, record) }, { "outcome", show.line(record.outcome) },
    { "gate", gate_text(record) }, { "value", value_text(record, self.manifest.metric.unit) },
    { "samples", samples_text(record) }, { "metrics", metrics_text(record, self.manifest.metrics) },
    { "parents", record.parents[1] and table.concat(record.parents, " ") or nil },
    { "operator", record.operator and show.line(record.operator) }, { "strategy", show.line(record.strategy) },
    { "model", record.model and show.line(record.model) }, { "commit", record.commit and show.line(record.commit) },
    { "changed lines", record.changed_lines },
    { "tokens", taken(record.tokens, "%.0f", unknown) },
    { "cost", taken(record.cost, "%.4g USD", unknown) },
    { "measured", machines_text(record.machines) },
    { "seconds", record.seconds and ("%.3g"):format(record.seconds) }, { "at", show.line(record.timestamp) },
  }
  for _, row in ipairs(gain_rows(self, record)) do table.insert(facts, 5, row) end
  for _, name in ipairs(said) do
    if record[name] then facts[#facts + 1] = { name:gsub("_", " "), show.line(record[name], 400) } end
  end
  local dir = self:run_dir(record)
  facts[#facts + 1] = { "asked again", repair_text(dir) }
  facts[#facts + 1] = { "artifacts", artifacts_text(dir) }
  add_notes(facts, record)
  show.facts(facts)
end

local function print_files(self, record)
  local dir = self:run_dir(record)
  local names = {}
  for index, file in ipairs(files_of(dir)) do names[index] = show.line(file.name) end
  if #names > 0 then print(("files in %s: %s"):format(show.escape(dir), table.concat(names, " "))) end
  local removed = self:removed(record)
  if removed then print(show.wrap(removed, show.width(), "")) end
end

-- How to take the best, if this is the best.
local function print_next(self, args, record)
  local here = show.at(args.directory)
  local take = record == self.history.best
    and rooms.first("take", self.history, self.dir, here ~= "" and " -C" .. here or "")
  if take then print(show.take(self.manifest, take)) end
end

function command.run(args)
  local another, message, code = rooms.first("show", args)
  if another == false then return code, message end
  local self
  self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.id) end
  if another then return another(self, args) end
  local record
  record, message, code = self:find(args.id or "best", true)
  if not record then return code, message end
  if args.prompt then return print_prompt(self, record, args.json) end
  if args.json then return print_json(self, record) end
  print_facts(self, record)
  local patch, why = patch_stat(self, record)
  for _, change in ipairs(patch or {}) do
    print(("  %s | +%d -%d"):format(show.line(change.path), change.added, change.deleted))
  end
  if why then print("patch: " .. why) end
  print_files(self, record)
  local log = record.outcome == "reverted_gate_failure" and "gate.log" or "verifier.log"
  local tail = log_tail(self:run_dir(record) .. "/" .. log)
  if tail and tail ~= "" then print(("end of %s:\n%s"):format(log, show.escape(tail))) end
  print_next(self, args, record)
  return 0
end

return command
