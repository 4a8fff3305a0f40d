-- rooms: which tests belong to a source file (with @landlock: in that way of the cage): the ones that are quick and
-- near first (scripts come after all others). A file's own entry comes before its room's. C programs of tests are built
-- for a mutant when they are named here.
local core = { "tests/lua/proposal.lua", "tests/lua/history.lua", "tests/lua/line.lua", "tests/lua/tasks.lua",
  "tests/lua/sandbox.lua", "tests/lua/past.lua", "tests/lua/rooms.lua", "tests/lua/strategy.lua",
  "tests/lua/experiment.lua", "tests/lua/cascade.lua", "tests/lua/kind.lua", "tests/lua/legible.lua",
  "tests/lua/loop.lua", "tests/lua/hold.lua", "tests/lua/recording.lua", "tests/lua/intake.lua",
  "tests/lua/trajectory.lua", "tests/lua/judge.lua", "tests/lua/budget.lua", "tests/lua/journal.lua",
  "tests/lua/models.lua", "tests/lua/contract.lua", "tests/lua/noise/judge.lua", "tests/lua/goals/gate.lua",
  "tests/lua/lab/trial.lua", "tests/lua/lab/replay.lua", "tests/lua/lab/recorded_runs.lua", "tests/lua/checkpoint.lua",
  "tests/lua/noise/acceptance.lua", "tests/lua/noise/guards.lua", "tests/lua/pareto/front.lua",
  "tests/lua/reflect/reflection.lua", "tests/lua/prompts.lua", "tests/cli/contract.t", "tests/cli/bad_strategy.t",
  "tests/cli/bad_journal.t", "tests/cli/budget.t", "tests/cli/loop.t", "tests/cli/replay.t", "tests/cli/samples.t",
  "tests/cli/edges.t", "tests/cli/models.t", "tests/cli/steering.t" }

local function with(...)
  local list = { ... }
  return table.move(core, 1, #core, #list + 1, list)
end

return {
  ["lua/apsis/core"] = core,
  ["lua/apsis/core/best_of.lua"] = with("tests/cli/compare.t", "tests/cli/chat.t"),
  ["lua/apsis/core/clock.lua"] = with("tests/lua/clock.lua", "tests/lua/goals/schedule.lua"),
  ["lua/apsis/core/packed.lua"] = with("tests/lua/checkpoint.lua"),
  ["lua/apsis/core/planner.lua"] = with("tests/cli/bad_outcomes.t"),
  ["lua/apsis/core/tasks.lua"] = with("tests/lua/chat.lua"),
  ["lua/apsis/core/past.lua"] = with("tests/cli/old_project.t"),
  ["runtime/base"] = { "build/tests/test_state", "tests/lua/fs.lua", "tests/lua/json.lua", "tests/lua/git.lua",
    "tests/lua/wait.lua" },
  ["runtime/cage"] = { "tests/lua/cage.lua", "build/tests/test_cagecalls", "tests/lua/cage.lua@landlock",
    "build/tests/test_proc", "tests/lua/process.lua", "tests/attacks/processes.t", "tests/attacks/resources.t",
    "tests/attacks/home.t",
    "tests/attacks/network.t", "tests/attacks/evaluator.t" },
  ["runtime/codec"] = { "tests/lua/json.lua", "tests/lua/yaml.lua", "tests/lua/regex.lua", "tests/lua/text.lua",
    "build/tests/replay_fuzz_json", "build/tests/replay_fuzz_yaml", "build/tests/replay_fuzz_regex",
    "tests/lua/archive.lua",
    "tests/cli/bad_manifest.t" },
  ["runtime/git"] = { "build/tests/test_git", "build/tests/test_libraries", "build/tests/test_gitcalls",
    "tests/lua/git_calls.lua", "tests/lua/branch.lua", "tests/lua/goals/sync.lua", "tests/lua/goals/memory_store.lua",
    "tests/lua/git.lua", "tests/lua/anchors.lua",
    "tests/cli/bad_repository.t", "tests/cli/anchors.t", "tests/cli/bad_disk.t", "tests/cli/bad_leavings.t" },
  ["runtime/host"] = { "tests/lua/host.lua", "tests/lua/contract.lua", "tests/cli/errors.t", "tests/cli/bad_strategy.t",
    "tests/cli/bad_usage.t" },
  ["runtime/host/launcher.c"] = false, -- a bundle's: `make try-packages` runs it
  ["runtime/http"] = { "build/tests/test_http", "build/tests/test_libraries", "tests/lua/http.lua",
    "tests/cli/chat_server.t", "tests/cli/chat.t" },
  ["runtime/metric"] = { "build/tests/test_metric", "tests/lua/metric.lua", "tests/lua/json.lua", "tests/cases.t",
    "build/tests/replay_fuzz_metric" },
  ["runtime/proc"] = { "build/tests/test_proccage", "build/tests/test_procparts",
    "tests/lua/process_calls.lua", "tests/lua/cage.lua", "tests/lua/process.lua", "build/tests/test_proc",
    "tests/cli/bad_verifier.t", "tests/cli/bad_disk.t" },
  ["runtime/random"] = { "build/tests/test_random", "tests/lua/random.lua" },
  ["runtime/server"] = { "tests/lua/server.lua", "tests/cli/report_serve.t" },
  ["runtime/standby"] = { "tests/cli/debug_back.t", "tests/cli/debug.t", "tests/cli/debug_planted.t" },
  ["runtime/state"] = { "build/tests/test_state", "build/tests/test_fs", "tests/lua/state.lua", "tests/lua/fs.lua",
    "tests/cli/bad_disk.t" },
  ["runtime/terminal"] = { "build/tests/test_terminal", "tests/lua/terminal.lua", "tests/cli/watch.t" },
  ["runtime/wait"] = { "build/tests/test_wait", "tests/lua/wait.lua", "tests/lua/process.lua", "tests/lua/http.lua",
    "tests/lua/contract.lua" },
  ["runtime/worktree"] = { "build/tests/test_worktree", "build/tests/test_gitcalls", "tests/lua/git.lua",
    "tests/cli/bad_provider.t", "tests/cli/bad_leavings.t" },
}
