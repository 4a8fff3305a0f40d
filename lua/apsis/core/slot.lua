-- slot: an experiment in flight, from its plan to its line: the one record that the loop, the world and its providers
-- hand around and add to. Every field once, with its type, its unit, who writes it and when it is there. Made by
-- planner, experiment and hold.
local slot = {}

-- Each: name, type, who writes it, what it is; `unit` of a number; `measured`: it belongs to what was measured of a
-- version, and goes when a repair makes a new one; `shown`: a candidate in accept has it, beside the fields of the line
-- (see line.lua).
slot.fields = {
  { "number", "number", "planner", "of the experiment" },
  { "proposal", "table", "planner, experiment", "what is tried, checked; its parents are ids" },
  { "strategy", "string", "planner", "the name of the strategy that planned it" },
  { "first_proposal", "table", "experiment", "the first proposal, after select asked for another" },
  { "seen", "number", "planner", "lines in the journal when it was planned" },
  { "now", "number", "planner", "when it was planned", unit = "s since 1970" },
  { "started", "number", "planner", "when it was started", unit = "s since 1970" },
  { "began", "number", "loop", "the same by a clock that nobody sets, less what it waited as HELD", unit = "s" },
  { "context", "table", "planner", "what its plan saw beside the journal" },
  { "view", "table", "planner", "what its hooks are given as `run` (see run.lua)" },
  { "group", "table", "planner", "the slots planned together, in order; first: their first number" },
  { "siblings", "table", "planner", "the candidates of its group that were measured", shown = true },
  { "baseline", "boolean", "experiment", "true for a baseline" },
  { "phase", "string", "loop", "PLAN, APPLY_CHANGE, COMMIT, VERIFY, GATE, DECIDE, HELD or LOG" },
  { "phases", "table", "world", "how long it was in each phase before, rounded to ms", unit = "s" },
  { "entered", "table", "world", "its phase and when that began, by the clock of `began`: { phase, at }", unit = "s" },
  { "reserved", "table", "budget", "what is reserved for it, by kind" },
  { "ended", "table", "planner, budget", "how it ended before it began: { outcome, reason }" },
  { "offered", "table", "planner", "somebody else is to answer it: the intake's own" },
  { "held", "table", "hold",
    "it waits for an answer: { text, since, started, run, count, current, line, answer (when there is one) }" },
  { "run", "number", "hold", "of its plan, if a later run takes it up" },
  { "approval", "table", "hold", "what was answered: { answer, by, reason, asked, answered }" },
  { "skipped", "string", "skip", "who ended it in flight, and why" },
  { "result", "table", "planner", "how it ended before accept: { outcome, reason, extra }; nil if accept decides" },
  { "ask_prompt", "function", "experiment, gate", "writes the prompt when a provider wants one" },
  { "prompt", "table", "live/world, live/provider", "what the provider was asked" },
  { "asked", "number", "live/provider", "requests sent" },
  { "answer", "table", "experiment", "the answer taken" },
  { "unusable", "boolean", "experiment", "true if a model answered without a usable edit" },
  { "answered", "number", "experiment", "answers of which tokens and cost are known" },
  { "tokens", "number", "experiment", "what its answers took" },
  { "cost", "number", "experiment", "what its answers cost", unit = "USD" },
  { "under_way", "table", "budget", "{ tokens, cost } taken by requests that have not answered" },
  { "extra", "table", "experiment", "what select returned last: notes and texts for the line" },
  { "change", "table", "experiment", "what was committed: { commit, tree, changed_lines, subject, duplicate_of }" },
  { "candidate", "table", "experiment", "the version as hooks see it (see candidate.lua)", measured = true },
  { "metric_name", "string", "experiment", "of the primary metric" },
  { "measurement", "table", "experiment", "the last one: { status, stage, value, metrics, items, reason, complete }",
    measured = true },
  { "measurements", "number", "budget", "verifications so far" },
  { "value", "number", "experiment", "the median of samples", measured = true },
  { "samples", "table", "experiment", "each value measured; nil: only `value`", measured = true },
  { "stopped", "table", "experiment", "where it was stopped or would have been: { stage, value }", measured = true },
  { "secondary", "table", "experiment", "other metrics: name to value", measured = true },
  { "stage", "number", "experiment", "the last stage measured", measured = true },
  { "items", "table", "experiment", "metrics by test case", measured = true },
  { "trace", "table", "decide, the judge", "further measurements in order: { id, value }" },
  { "acceptance", "table", "the judge, an objection", "what the judge has shown", measured = true },
  { "confirmed", "boolean", "decide", "whether it was shown to be better; nil without a judge or noise",
    measured = true, shown = true },
  { "gate", "table", "gate", "how the project's gate ended" },
  { "fix_attempts", "number", "gate", "repairs tried" },
  { "repair", "table", "gate",
    "the repair under way: { attempt, attempts, candidate, command, output, ended, extra, renew }" },
  { "dir", "string", "live/runs", "its folder in runs/" },
  { "parent_commit", "string", "live/world", "what its workspace starts from" },
  { "plan_subject", "string", "live/files", "the subject line in the plan that a provider wrote" },
  { "origin", "string", "live/world", "what it starts from, in this journal only" },
  { "kept_answers", "table", "live/answers", "what had been answered before a crash, not yet used" },
  { "answered_at", "number", "live/answers", "when the newest answer came", unit = "s since 1970" },
  { "uncounted", "table", "live/answers", "{ tokens, cost } of answers that `tokens` and `cost` do not count yet" },
  { "evaluator", "table", "live/evaluator", "of a baseline: digests of what measures" },
  { "outside", "boolean", "cli/eval", "true if it is scored outside any loop" },
  { "stderr", "string", "live/verify", "the last of what the verification printed to stderr" },
  { "where", "string", "an executor", "in words, where its verification waits or runs; nil: on this machine" },
  { "since", "number", "an executor", "since when it is there", unit = "s since 1970" },
  { "machines", "table", "an executor", "what measuring it took on other machines: { queue_s, run_s, usd, nodes }" },
  { "measuring", "table", "the world's measurer", "what it keeps from one verification of this version to the next" },
}

slot.by_name = {}
local measured = {}

-- Adds a field. A slot may hold others, but then nobody knows what they are.
function slot.add(field)
  field.name, field.type, field.by, field.about = field[1], field[2], field[3], field[4]
  slot.by_name[field.name] = field
  if field.measured then measured[#measured + 1] = field.name end
end

for _, field in ipairs(slot.fields) do slot.add(field) end

-- What a provider that sends requests calls: slot.afford(slot, tokens, usd) before each, with what it may take -> true,
-- and it is reserved and counts as taken; or nil, why it is not covered. slot:took(tokens, usd) after it: the
-- difference to that.
function slot.methods(engine)
  local methods = {}
  function methods.afford(self, tokens, usd) return engine.budget:afford(engine.world, self, tokens, usd) end
  function methods.took(self, tokens, usd) engine.budget:account(engine.world, self, tokens, usd) end
  return methods
end

-- Forgets what was measured of the version before a repair.
function slot.forget_measured(self)
  for _, name in ipairs(measured) do self[name] = nil end
end

return slot
