-- agent: the command provider: a coding agent, a script. It gets the prompt by stdin, file or argument and works in a
-- workspace that holds the parent without its hidden files; its changes there are its answer. Its steps are plan, then
-- implement (edits while planning are discarded), or implement only. Afterwards none of its processes is left.
local answering = require "apsis.live.answers"
local asi = require "apsis.live.provider.shared.asi"
local edit = require "apsis.edit"
local ended = require "apsis.live.ended"
local failure = require "apsis.live.provider.command.failure"
local fs = require "apsis.fs"
local host = require "apsis.host"
local home = require "apsis.live.provider.command.home"
local json = require "apsis.json"
local trajectory = require "apsis.trajectory"
local usage = require "apsis.live.provider.command.usage"
local wait = require "apsis.wait"
local waiting = require "apsis.live.provider.command.waiting"

local provider = {}

local function joined_lists(one, other)
  return table.move(other or {}, 1, #(other or {}), #(one or {}) + 1, table.move(one or {}, 1, #(one or {}), 1, {}))
end

-- commands: { plan, implement }, a command line for each step.
function provider.open(world, spec, commands, preset)
  local own = { allow = spec.allow, pass_env = joined_lists(preset.pass_env, spec.pass_env),
    network = spec.network }
  local caged, root = world.here.cage.way ~= nil, host.uid == 0
  if root and not caged and preset.not_as_root then return nil, preset.not_as_root end
  local env = {}
  for _, list in ipairs { preset.env or {}, root and caged and preset.root_env or {}, spec.env or {} } do
    for name, value in pairs(list) do env[name] = value end
  end
  return setmetatable({ world = world, spec = spec, env = env, commands = commands, own_plans = preset.own_plans,
    home = preset.home or {}, way = spec.prompt or preset.prompt or "stdin", own = own }, { __index = provider })
end

local LONGEST_ARGUMENT = 120000 -- bytes; Linux refuses an argument above 131071

-- The last argument: the prompt, or its path. That is in the scratch folder, not in runs/NNNN: whoever reads a file by
-- a descriptor may open it again to write. The kernel refuses long arguments and those with NUL.
local function last_argument(self, path, text, command)
  if self.way == "stdin" then return nil end
  local bytes = type(command) == "table" and #text or #command + #text:gsub("'", "'\\''") + #" ''"
  if self.way == "argument" and not text:find("\0", 1, true) and bytes <= LONGEST_ARGUMENT then return text end
  self.world:need(fs.write(path, text))
  return self.way == "file" and path or ("Read the file %s and do what it says."):format(path)
end

local function flatten(prompt)
  if type(prompt) == "string" then return prompt end
  local parts = {}
  for index, message in ipairs(prompt) do
    parts[index] = tostring(type(message) == "table" and (message.content or "") or message)
  end
  return table.concat(parts, "\n\n")
end

local HEAD_BYTES, TAIL_BYTES = 786432, 262144 -- of the output in memory; provider_output.md has it all

local function said_of(stream)
  local left_out = stream.bytes - #stream.head - #(stream.tail or "")
  local gap = left_out > 0 and ("\n[apsis: %d bytes left out here]\n"):format(left_out) or ""
  return stream.head .. gap .. (stream.tail or "")
end

-- The command's own variables.
local function variables(self, slot, mark)
  local env = {}
  for key, value in pairs(self.env) do env[key] = value end
  env.APSIS_MODEL = env.APSIS_MODEL or self.spec.model
  env.APSIS_MAX_TURNS = env.APSIS_MAX_TURNS or self.spec.max_turns
  env.APSIS_USD_PER_ANSWER = env.APSIS_USD_PER_ANSWER or self.spec.usd_per_answer
  env.APSIS_ANSWER = env.APSIS_ANSWER or mark ~= "" and mark:sub(2) or nil
  env.APSIS_FIX_ATTEMPT = env.APSIS_FIX_ATTEMPT or slot.repair and slot.repair.attempt or nil
  return env
end

-- What an answer took, added up over its runs; and what each run reported, in runs/NNNN/usage.json.
local function account(self, slot, place, found)
  local taken = place.taken
  for _, key in ipairs { "tokens", "usd" } do
    if found[key] then taken[key] = (taken[key] or 0) + found[key] end
  end
  taken.model = found.model or taken.model
  local denied = found.denied and #found.denied > 0 and json.array(found.denied) or nil
  taken.runs[#taken.runs + 1] = { tokens = found.tokens, input = found.input, cached = found.cached,
    output = found.output, usd = found.usd, session = found.session, model = found.model, turns = found.turns,
    denied = denied, error = found.error }
  self.world:need(fs.write(("%s/usage%s.json"):format(slot.dir, place.mark), json.encode(json.array(taken.runs),
    { pretty = true }) .. "\n"))
  if denied then
    taken.denied = ("%s was refused permission for %s"):format(self.spec.preset or "the provider",
      table.concat(denied, ", "))
    self.world:warn_once("denied", taken.denied .. "; `args` in the manifest may allow it")
  end
end

-- The files of a run's output: what it printed, standard error, and what people read. An agent's JSON has a file of its
-- own.
local function outputs(self, slot, mark)
  local text = ("%s/provider_output%s.md"):format(slot.dir, mark)
  return { shown = text, err = ("%s/provider_stderr%s.log"):format(slot.dir, mark),
    out = usage.format(self.spec) and ("%s/provider_raw%s.jsonl"):format(slot.dir, mark) or text }
end

local function size_of(path) return (fs.stat(path) or { size = 0 }).size end

-- Whether the output of a run that apsis has not read is there.
local function is_there(files, kept)
  return fs.stat(files.out) and fs.stat(files.err) and size_of(files.out) >= kept.out and size_of(files.err) >= kept.err
end

-- In which steps it answers, and in what.
local function how_of(self)
  return table.concat(self.spec.steps, ", ") .. (self.world.manifest.workspace.git and ", git" or "")
end

-- Runs a step's command in a place. process.run's result, or nil and a message; its environment; and its record.
local function start(self, slot, place, text, step, files)
  local world, spec, mark, command = self.world, self.spec, place.mark, self.commands[step.command]
  if files.out ~= files.shown then fs.remove(files.out) end
  fs.append(files.shown, "")
  local env = variables(self, slot, mark)
  local own = home.open(world, self.home, place.scratch .. "/home", spec.env or {})
  for name, value in pairs(own.env) do env[name] = value end
  local asked = { of = place.of, how = how_of(self), root = place.root, scratch = place.scratch,
    out = size_of(files.out), err = size_of(files.err), plan = place.plan, taken = place.taken }
  local result, message = place:run { name = "the provider", run = command, argument = last_argument(self,
    place.scratch .. "/prompt.md", text, command), stdin_text = self.way == "stdin" and text or nil, env = env,
      timeout_s = spec.timeout_sec, cwd = place.cwd, stdout_file = files.out, stderr_file = files.err,
    log_limit_bytes = spec.output_limit_mb * 1048576, limits = spec,
    record = ended.begin(world, slot.dir, mark, step.command, asked) }
  own:close()
  return result, message, env, asked
end

-- Runs a step's command once in a place. kept: the record of a run that apsis has not read. { text, silent: it printed
-- nothing at all } or { failed: see failure.of }.
local function run_once(self, slot, place, text, step, kept)
  local world, spec, mark, files = self.world, self.spec, place.mark, outputs(self, slot, place.mark)
  world:need(fs.write(("%s/%s%s.md"):format(slot.dir, step.prompt, mark), text))
  local result, message, env = kept and { outcome = "exit", code = kept.code }, nil, {}
  if not kept then result, message, env, kept = start(self, slot, place, text, step, files) end
  if result and result.log_error then world:fail("a provider's output cannot be written: " .. result.log_error, 3) end
  place:collect(slot.dir .. "/provider" .. mark, function(file) return file == "prompt.md" or file == "home" end)
  for name, path in pairs(result and { stdout = files.out, stderr = files.err } or {}) do
    result[name] = ended.stream(world, path, name == "stdout" and kept.out or kept.err, HEAD_BYTES, TAIL_BYTES)
  end
  local found = result and usage.read(spec, { path = files.out, from = kept.out },
    { path = files.err, from = kept.err })
  if found then account(self, slot, place, found) end
  local failed = failure.of(spec, result, message, found)
  local said = found and found.text or result and said_of(result.stdout)
  if files.out ~= files.shown then fs.append(files.shown, (((said or "") .. "\n"):gsub("\n\n$", "\n"))) end
  if not failed then return { text = said, silent = result.stdout.bytes + result.stderr.bytes == 0 } end
  if result then
    world:advise("the provider", place:advice { result = result, run = self.commands[step.command], env = env,
      memory_mb = spec.memory_mb })
  end
  return { failed = failed }
end

-- Makes a folder a throwaway git repository of one commit.
provider.GIT = "git init -q --template= . && git add -A && git -c user.name=apsis -c user.email=apsis@localhost "
  .. "commit -q -m parent"

-- A workspace with the parent, without its hidden files, and with only a throwaway git repository if the manifest wants
-- one. of: the key of what is asked; what an earlier process was answered to it is taken up.
local function prepared(self, slot, mark, of)
  local world = self.world
  local base, kept = world:base(slot), ended.of(slot.dir, mark, of, how_of(self), world.here.pool.root)
  local last = kept.implement or kept.plan or { taken = { runs = {} } }
  local place = world.here:prepare { kind = "provide", commit = base.commit, hide = world:hidden_paths(base),
    number = slot.number, parent = slot.parent_commit, own = self.own, key = "provider", usual = "w",
    left = last.code and last or nil }
  place.mark, place.of, place.kept, place.plan, place.taken = mark, of, kept, last.plan, last.taken
  return place
end

local PLAN <const> = { command = "plan", prompt = "prompt_plan" }
local IMPLEMENT <const> = { command = "implement", prompt = "prompt" }
local QUESTION <const> = { command = "plan", prompt = "prompt" }

-- Runs a step until it goes well or its retries are used up; a limit is waited for, and takes no retry. As run_once.
local function with_retries(self, slot, place, text, step)
  local left, waits, kept = self.spec.retries, waiting.new(self, slot), place.kept[step.command]
  place.kept[step.command] = nil
  local whole = kept and kept.code and is_there(outputs(self, slot, place.mark), kept)
  local taken_up = whole and run_once(self, slot, place, text, step, kept)
  if taken_up and not taken_up.failed then return taken_up end
  while true do
    place:again()
    if self.world.manifest.workspace.git then -- git must run no hook or filter of the user's on a candidate's files
      place:run { name = "git", run = provider.GIT, cwd = place.root, timeout_s = 60,
        env = { GIT_CONFIG_GLOBAL = "/dev/null", GIT_CONFIG_NOSYSTEM = "1" } }
    end
    local run = run_once(self, slot, place, text, step)
    if not run.failed or slot.skipped then return run end
    if not waits:over(run.failed) then
      if left == 0 then return run end
      left = left - 1
    end
  end
end

-- A text without its lines that have these words, if any are given.
local function without(text, words)
  if not words then return text end
  local kept = {}
  for line in text:gmatch "[^\n]*\n?" do
    if not line:find(words, 1, true) then kept[#kept + 1] = line end
  end
  return table.concat(kept)
end

local function has_asi_file(world, record)
  for _, path in ipairs(world:files_of(record)) do
    if path == "asi.json" then return true end
  end
  return false
end

-- What an answer took, tokens and US dollars; nil if its output usually reports that and did not this time.
local function taken_of(self, place)
  local reports, taken = usage.reports(self.spec), place.taken
  return taken.tokens or not reports.tokens and 0 or nil, taken.usd or not reports.usd and 0 or nil
end

-- What gives a place back, once the answer that came from it is kept.
local function release_of(slot, place)
  return function()
    ended.forget(slot.dir, place.mark)
    place:close()
  end
end

-- mark: "_2" for the second of several answers, "" if there is one. The answer, and what gives its place back.
local function answer_of(self, slot, prompt, mark, of)
  local world = self.world
  local place = prepared(self, slot, mark, of)
  local text, failed, run = flatten(prompt), "", nil
  local two = #self.spec.steps == 2
  if two and not place.plan then
    failed = "plan step: "
    run = with_retries(self, slot, place, text
      .. "\n\nStep 1 of 2: write the plan only. Edits made now are thrown away.\n", PLAN)
    place.plan = run.text and without(edit.without_thoughts(run.text), self.own_plans)
  end
  if two then text = text .. "\n\nStep 2 of 2: carry out this plan.\n\n" .. (place.plan or "") end
  if not (run and run.failed) then
    failed = two and "implement step: " or ""
    run = with_retries(self, slot, place, text, IMPLEMENT)
  end
  local said, why = run.text and edit.without_thoughts(run.text), run.failed and failed .. run.failed.text
  local tokens, usd = taken_of(self, place)
  local answer = { tokens = tokens, cost = usd, model = place.taken.model, text = said, plan = place.plan or said,
    error = why, steps = said and trajectory.steps(said), denied = place.taken.denied }
  if not why then
    asi.read(answer, said, place.dir, has_asi_file(world, world:base(slot)))
    if world.manifest.workspace.git then fs.remove_tree(place.root .. "/.git") end
    world:read_back(answer, place)
    if run.silent and self.spec.preset and answer.edits and not next(answer.edits) then -- not logged in, for instance
      answer.error = failed .. "the provider printed nothing and changed nothing"
    end
  end
  return answer, release_of(slot, place)
end

-- Removes what an earlier request left in runs/NNNN.
local function clear(slot)
  for _, name in ipairs(fs.list(slot.dir) or {}) do
    local path = slot.dir .. "/" .. name
    if name:find("^provider_output[_%w]*%.md$") or name:find("^prompt_%w+%.md$")
      or name:find("^provider_raw[_%w]*%.jsonl$") or name:find("^usage[_%w]*%.json$")
      or name:find("^provider_stderr_%w+%.log$") then
      fs.remove(path)
    elseif name:find("^provider[_%w]*$") then fs.remove_tree(path) end
  end
end

-- Several answers joined; each also has its own provider_output_N.md.
local function joined(answers)
  local parts = {}
  for index, answer in ipairs(answers) do
    parts[index] = ("--- answer %d of %d ---\n%s\n"):format(index, #answers, answer.text or "no answer: "
      .. tostring(answer.error))
  end
  return table.concat(parts, "\n")
end

-- K answers to slot's proposal, in parallel, each from a clean workspace.
function provider:propose(slot, prompt)
  if not next(slot.kept_answers or {}) and #ended.all(slot.dir, self.world.here.pool.root) == 0 then clear(slot) end
  local k, bodies = self.world:wanted(slot), {}
  for index = 1, k do
    bodies[index] = function(of) return answer_of(self, slot, prompt, k > 1 and "_" .. index or "", of) end
  end
  local answers = answering.together(self.world, slot, bodies)
  if k > 1 then self.world:need(fs.write(slot.dir .. "/provider_output.md", joined(answers))) end
  return answers
end

local TRIAL <const> = "Answer with the word OK. Change no file.\n"
local TRIAL_S <const> = 120 -- at most

-- Asks the agent once, in an empty workspace, with the command line of experiments. { text, failed, seconds, tokens,
-- usd, model, advice }.
function provider:try()
  local own = setmetatable({ spec = setmetatable({ timeout_sec = math.min(TRIAL_S, self.spec.timeout_sec) },
    { __index = self.spec }) }, { __index = self })
  local world, dir, advice = self.world, self.world:need(fs.tempdir()), {}
  function world.log(_, _, text) advice[#advice + 1] = text end
  local place = world.here:prepare { kind = "provide", number = 0, own = self.own, key = "provider", usual = "w" }
  place.mark, place.taken, place.cwd, place.of = "", { runs = {} }, place.artifacts, ""
  local began = wait.now()
  local run = run_once(own, { dir = dir, number = 0 }, place, TRIAL, IMPLEMENT)
  place:close()
  fs.remove_tree(dir)
  return { text = run.text, failed = run.failed, seconds = wait.now() - began, tokens = place.taken.tokens,
    usd = place.taken.usd, model = place.taken.model, advice = advice }
end

-- A question: only the text counts, not the files. The answer, and what gives its place back.
function provider:ask(slot, messages, mark, of)
  local place = prepared(self, slot, mark, of)
  local run = with_retries(self, slot, place, flatten(messages), QUESTION)
  local tokens, usd = taken_of(self, place)
  local said = run.text and edit.without_thoughts(run.text)
  return { text = said, error = run.failed and run.failed.text, tokens = tokens, cost = usd,
    model = place.taken.model }, release_of(slot, place)
end

return provider
