-- world: the world of git and processes for the engine: propose, commit, verify, publish, and the notes about
-- experiments in flight. Owns the repository handle, the workspaces, the run's refs and its files; decides nothing.
-- Only reads the user's tree.
local anchors = require "apsis.live.anchors"
local answers = require "apsis.live.answers"
local branch = require "apsis.live.branch"
local clock = require "apsis.core.clock"
local environment = require "apsis.live.cage.environment"
local evaluator = require "apsis.live.evaluator"
local evolve_block = require "apsis.edit.evolve_block"
local executors = require "apsis.project.executors"
local failing = require "apsis.live.failing"
local files = require "apsis.live.files"
local fs = require "apsis.fs"
local held = require "apsis.live.held"
local here = require "apsis.live.executor.here"
local json = require "apsis.json"
local latest = require "apsis.live.latest"
local messages = require "apsis.live.provider.shared.messages"
local near_miss = require "apsis.live.near_miss"
local note = require "apsis.live.note"
local providers = require "apsis.project.providers"
local reading = require "apsis.live.reading"
local repository = require "apsis.live.repository"
local rooms = require "apsis.core.rooms"
local runs = require "apsis.live.runs"
local scope = require "apsis.live.scope"
local starting = require "apsis.live.starting"
local verify = require "apsis.live.verify"
local wait = require "apsis.wait"
local ways = require "apsis.live.cage.ways"

local world = {}

local World = {}
World.__index = World
World.asks_others = true

local function add(methods)
  for name, method in pairs(methods) do World[name] = method end
end

add(failing)
add(held.methods)
add(reading)
add(starting)
for _, methods in rooms.each "world" do add(methods()) end

local MEGABYTE = 1048576

-- open(manifest, {seed, configuration (plain, for env.json), log, progress}) -> world | nil, message, exit code.
function world.open(manifest, options)
  local finds, why = ways.processes()
  if not finds then return nil, why, 3 end
  environment.withhold_all(manifest)
  local repo, info, code = repository.open(manifest)
  if not repo then return nil, info, code end
  local dir, message = fs.realpath(manifest.dir)
  if not dir then return nil, message, 3 end
  if dir ~= info.workdir and dir:sub(1, #info.workdir + 1) ~= info.workdir .. "/" then
    return nil, ("%s is not inside the repository's working tree %s"):format(dir, info.workdir), 3
  end
  local head
  head, message, code = starting.head(repo, info, manifest)
  if not head then return nil, message, code end
  local self = setmetatable({
    manifest = manifest, repo = repo, dir = dir, home = manifest.home, root = info.workdir, head = head,
    prefix = dir:sub(#info.workdir + 2), refs = "refs/apsis/" .. manifest.project.ref .. "/",
    anchors = "refs/apsis-anchors/" .. manifest.project.ref .. "/", seed = options.seed,
    configuration = options.configuration, scope = scope.new(manifest.files, {
      program = manifest.program, elsewhere = manifest.program_file ~= nil }),
    runs = runs.new(manifest.home), trees = {}, tree_ring = {}, said = {},
    log_limit = manifest.verification.log_limit_mb * MEGABYTE, artifacts_kept = manifest.verification.artifacts,
  }, World)
  function self.log(_, level, text) options.log(level, text) end
  self.progress = function(_, engine, record, led)
    if options.progress then options.progress(engine, record, led) end
  end
  self.branch = rooms.first("branch", self, options.log) or branch.new(repo, manifest.branch, options.log, {
    mark = manifest.own_branch and self.refs .. "tip" or nil, reverts = manifest.history == "revert" })
  self.here, message, code = here.open(self, info)
  if not self.here then return nil, message, code end
  self.executor = self.here
  local executor = executors.of(manifest.execution.target)
  if executor ~= here then self.executor, message, code = executor.open(self, info) end
  if not self.executor then return nil, message, code end
  self.state, self.latest = note.new(manifest.home, self), latest.new(self.runs)
  self.keeping = anchors.new(self)
  return self
end

-- Opens the manifest's provider. true | nil, message, exit code 4.
function World:open_provider()
  local spec = self.manifest.provider
  if not spec then
    return nil, "the manifest has no provider, which proposes the changes: add for instance `provider: {kind: "
      .. "command, preset: claude}` "
      .. "for a coding agent, or `provider: {kind: chat, base_url: URL, models: [NAME]}` for a chat model", 4
  end
  local kind = providers.of(spec)
  local made, message = kind.open(self, spec)
  if not made then return nil, ("%s: %s"):format(self.manifest.where "provider", message), 4 end
  self.provider, self.wants_prompt = made, kind.wants_prompt
  return true
end

function World:now() return clock.time() end
function World:steady() return wait.now() end

-- How long the run has lasted, with what it had before it went on, in seconds.
function World:elapsed() return self.state:elapsed() end

-- Measures in another folder from now on, beside a running loop; open_tree(dir): a stand-in for checkouts.
function World:measure_in(folder, open_tree)
  self.executor = self.executor:elsewhere(folder, open_tree)
end

-- READ_CONTEXT: what people wrote since the last plan.
function World:context(engine)
  self.steering = files.directions(self.home, self.steering)
  engine.elapsed_s = self:elapsed()
  evaluator.watch(self)
  if self.between then self.between() end
end

-- The user's notes and those that rooms add: the first `count` (nil: all) that are for an experiment (nil: for any).
function World:directions(experiment, count)
  local notes, texts = {}, {}
  for index, one in ipairs(self.steering and self.steering.list or {}) do notes[index] = one end
  for _, text in ipairs(self.guidance or {}) do notes[#notes + 1] = { message = text } end
  for index = 1, math.min(count or #notes, #notes) do
    if (notes[index].applies_from_iteration or 0) <= (experiment or math.huge) then
      texts[#texts + 1] = notes[index].message
    end
  end
  return texts
end

-- The same for a caller that runs no experiments, so has read nothing yet.
function World:recorded_directions(experiment, count)
  self.steering = files.directions(self.home, self.steering)
  return self:directions(experiment, count)
end

function World:paused() return fs.stat(self.home .. "/.apsis/pause") ~= nil end

function World:wait_paused()
  if not self.said_paused then
    self:log("warn", "paused: `apsis resume` goes on")
    self.said_paused = true
  end
  self.state:save("paused")
  wait.sleep(0.3)
  if not self:paused() then self.said_paused = false end
end

function World:stages()
  return self.stage_list
end

-- self.between, if a command has set it, is called between two phases: after READ_CONTEXT without a slot, then before
-- each phase of one.
function World:phase(slot, outcome, reason)
  local now, phases, last = self:steady(), slot.phases or {}, slot.entered
  if last then phases[last.phase] = (phases[last.phase] or 0) + math.floor(1000 * (now - last.at) + 0.5) / 1000 end
  slot.phases, slot.entered = phases, { phase = slot.phase, at = now }
  self.state:phase(slot)
  if self.display then self.display:phase(slot, slot.phase == "HELD" and slot.held.text or nil) end
  if self.between then self.between(slot, outcome, reason) end
end

-- An estimate of a proposal's tokens and US dollars.
function World:estimate(proposal)
  if self.provider and self.provider.estimate then return self.provider:estimate(proposal) end
end

-- A provider has spent tokens or dollars on a slot: slot.tokens and slot.cost; slot.under_way = { tokens, cost } until
-- it has answered.
function World:spent(slot)
  self.state:spent(slot)
end

-- Updates the files for people and the display while something waits; the seconds until it is to be called again, or
-- nil.
function World:before_wait()
  local again, shown = self.state:flush(), self.display and self.display:tick()
  return again and shown and math.min(again, shown) or again or shown
end

-- Ends the commands of a slot.
function World:stop(slot) self.here:stop(slot.number) end

function World:save_proposal(slot)
  self:need(self.runs:open(slot))
  local parent = self:candidate(slot.proposal.parents[1])
  slot.parent_commit, slot.origin = parent and parent.commit, answers.origin(self, slot.proposal)
  if parent and self.manifest.own_branch and not self.repo:commit_info(parent.commit) then
    self:fail(("%s (%s) is not in this clone: git fetch origin '%s*:%s*' '%s*:%s*' brings it"):format(parent.id,
      parent.commit:sub(1, 10), self.refs, self.refs, self.anchors, self.anchors), 3)
  end
  self:need(self.runs:save_proposal(slot, self.run_number))
  answers.open(slot)
end

function World:write_prompt(slot, prompt)
  slot.prompt = prompt
  local list = prompt and messages.list(prompt)
  if list then self.runs:write(slot, "prompt.md", messages.text(type(prompt) == "string" and prompt or list)) end
end

-- APPLY_CHANGE. A list of answers { edits | tree, text, tokens, cost, error, hypothesis ... }. prompt.md is the
-- strategy's prompt; a provider that sends something else overwrites it.
function World:propose(slot, prompt)
  local kept = answers.all(self, slot, self:wanted(slot))
  if kept then return kept end
  self:write_prompt(slot, prompt)
  return self.provider:propose(slot, prompt)
end

-- A question; mark: added to the names of its files in runs/NNNN.
function World:ask(slot, question, mark)
  if not self.provider.ask then return { error = "this provider cannot be asked" } end
  mark = mark or ""
  return answers.once(self, slot, 1, function(of) return self.provider:ask(slot, question, mark, of) end,
    { question, mark })
end

-- Reads a provider's workspace back into an answer: a tree to commit, or a scope violation.
function World:read_back(answer, place)
  local changes, message = self:left(place.tree:changes())
  if not changes then
    answer.violation = "what the provider left cannot be read: " .. message
    return
  end
  local mine = {}
  for _, change in ipairs(changes) do
    if not self:is_carried(change.path) then mine[#mine + 1] = change end
  end
  local kept, violations = self.scope:judge(mine, { prefix = self.prefix, max_file_mb = self.manifest.max_file_mb,
    ignored = function(path) return self.repo:is_ignored(path) end })
  answer.violation = #violations > 0 and scope.summary(violations) or nil
  if answer.violation then return end
  if #kept == 0 then answer.tree = place.tree:tree()
  else answer.tree, answer.violation = self:left(place.tree:write_tree(kept)) end
  if not answer.tree then return end
  answer.edits = files.edits_of(place, kept, self)
end

-- COMMIT. { commit, tree, changed_lines } | nil, outcome, reason. The same answer again gives the same commit.
function World:commit(slot, answer)
  if answer.violation then return nil, "reverted_scope_violation", answer.violation end
  local parent, base = self:candidate(slot.proposal.parents[1]), self:base(slot)
  local tree = answer.tree
  if not tree then
    local edits, violations = files.check_edits(self, answer.edits, base)
    if #violations > 0 then return nil, "reverted_scope_violation", scope.summary(violations) end
    local message
    tree, message = self:left(self.repo:edit_tree(base.commit, edits))
    if not tree then return nil, "reverted_scope_violation", message end
  end
  if not slot.repair then files.write_plan(self, slot, answer) end
  if tree == parent.tree or tree == base.tree then
    local why = answer.text and "the provider changed nothing" or "the edits change nothing"
    return nil, "skipped_no_change", answer.denied and why .. ": " .. answer.denied or why
  end
  local changes, changed_lines = self.repo:changes(parent.commit, tree)
  local crossed = evolve_block.violation(self:need(changes, changed_lines),
    function(path) return self.repo:read(parent.commit, path) end,
    function(path) return self.repo:read(tree, path) end,
    function(path) return scope.show(self:project_path(path) or path) end)
  if crossed then return nil, "reverted_scope_violation", crossed end
  local parents, refused = self:git_parents(slot, parent)
  if not parents then return nil, "skipped_strategy_error", refused end
  if self.carry_over then tree, parents = self:carry_over(tree, parents, parent) end
  if not tree then return nil, "skipped_not_selected", parents end
  local twin = self.history:twin(tree)
  local message = files.message(self, slot, slot.repair and slot.answer or answer)
  local commit = self:need(self.repo:commit { tree = tree, parents = parents,
    ref = self.refs .. ("c%04d"):format(slot.number), message = message,
    time = math.floor(slot.answered_at or slot.now) })
  if slot.repair then self:begin_anew(slot) end
  self.runs:write(slot, "change.patch", self.repo:diff(parent.commit, commit) or "")
  return { commit = commit, tree = tree, changed_lines = changed_lines, duplicate_of = twin,
    subject = slot.plan_subject }
end

-- The evolutionary parents; with history: revert the branch's tip, which must hold the parent's tree.
function World:git_parents(slot, parent)
  if self.manifest.history == "revert" then
    local tip = self.branch.tip
    local info = tip and self.repo:commit_info(tip)
    if not info or info.tree ~= parent.tree then
      return nil, "history: revert works from the branch's tip, and the proposal's parent is not there; use history: "
        .. "clean"
    end
    return { tip }
  end
  local parents = {}
  for _, id in ipairs(slot.proposal.parents) do parents[#parents + 1] = self:candidate(id).commit end
  return parents
end

function World:verify(slot, record, request)
  local measurement = verify.run(self, slot, record, request)
  if record.id == ("c%04d"):format(slot.number) then
    self.runs:write_json(slot, "metrics.json", { metrics = measurement.metrics, status = measurement.status,
      samples = measurement.samples and json.array(measurement.samples), reason = measurement.reason,
      items = measurement.items, near_misses = measurement.near_misses, near_miss_count = measurement.near_miss_count })
  end
  near_miss.report(self, slot.number, measurement)
  return measurement
end

-- The baseline is HEAD itself; its ref makes it c0000. Notes where the project's own branch was before.
function World:commit_baseline(slot)
  self:need(self.runs:open(slot))
  self.baseline_number = slot.number
  self:need(self.repo:set_ref(self.refs .. ("c%04d"):format(slot.number), self.head, nil, "apsis: baseline"))
  files.write_environment(self, slot)
  slot.evaluator = evaluator.digest(self)
  local left = self.branch.mark and self.repo:ref(self.branch.mark)
  slot.context = left and { left = left } or nil
  return { commit = self.head, tree = self:need(self.repo:commit_info(self.head)).tree, changed_lines = 0 }
end

-- A baseline that was begun and has no line, as it was interrupted: its ref goes.
function World:forget_baseline()
  local number = self.baseline_number
  if number and not self.history:line_of(number) then self.repo:delete_ref(self.refs .. ("c%04d"):format(number)) end
end

-- After the journal line: the branch, then the files for people.
function World:publish(slot, record, led)
  local first = record.status == "crash" and not self.said[record.outcome] -- tell the user why, once per kind
  self.said[record.outcome] = true
  self:log(first and "warn" or "info", ("experiment %d %s%s%s"):format(record.experiment, record.outcome,
    record.value and (" at %.10g"):format(record.value) or "", record.rollback_reason and ": " .. record.rollback_reason
      or ""))
  if led then self.branch:advance(self.history.best)
  elseif self.manifest.history == "revert" and record.commit and record.status ~= "keep" then
    self.branch:push_and_revert(record)
  end
  if slot.dir then
    local written, refused = self.runs:write_result(slot, record)
    if not written then self:log("warn", "the journal has the result, but its file was not written: " .. refused) end
  end
  answers.forget(slot)
  if slot.held then self:forget_held(slot.number) end
  self.latest:add(self.history.source, record)
  self.state:finished(slot, record)
  if self.executor.finished then self.executor:finished(slot.number) end
  self.keeping:note()
  if self.manifest.keep_runs then self:trim_runs(self.manifest.keep_runs) end
  if self.listener then self.listener(record) end
end

function World:run_dir(record) return self.runs:dir(record.experiment, record.outcome == "baseline") end

-- keep_runs: keeps the newest folders in runs/, those of best, current and experiments in flight, and baselines'.
function World:trim_runs(keep)
  local history, slots, waiting = self.history, self.state.slots, self.state.waiting
  self.runs:trim(history.last_experiment - math.max(1, keep), function(number)
    return slots[number] or waiting[number] or not history:line_of(number) or history.best
      and history.best.experiment == number
      or history.current and history.current.experiment == number
  end)
end

function World:close()
  self.latest:close()
  self.executor:close()
  if self.here ~= self.executor then self.here:close() end
  self.repo:close()
end

return world
