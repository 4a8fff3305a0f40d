-- overview: the page `apsis`: what it is, its commands, its files, exit codes and environment.
local page = require "apsis.manual.page"

local files = {
  { "manifest.yaml", "the project: what may change, how it is measured, who proposes" },
  { "program.md", "the instructions in prose, for providers that are asked with a prompt" },
  { "logs/", "results.jsonl is the journal, one line per experiment, from which all else follows; state.json is where "
    .. "the loop stands; directions.jsonl has the user's notes; apsis.log" },
  { "runs/NNNN/", "what one experiment left: proposal, prompt, plan, verifier's log, artifacts" },
  { ".apsis/", "the lock, the mark of a pause, digests of the journal's lines and of a run's budget; reset/ is what "
    .. "`apsis reset` has put away" },
  { "refs/apsis/NAME/", "in the repository: the newest candidates, the best and the baseline, as commits cNNNN" },
  { "refs/apsis-anchors/NAME/", "commits whose parents are the older candidates, 256 each" },
  { "refs/heads/apsis/NAME", "the branch with the kept changes" },
  { "refs/apsis-reset/NAME/TIME/", "the commits of a run that `apsis reset` has put away" },
  { ".autoloop/programs/NAME.md, .autoloop/programs/NAME/program.md", "a standing goal; its logs/ and runs/ are in "
    .. ".autoloop/programs/NAME/" },
  { ".autoloop/config.yaml", "what all standing goals of the repository share: keys of the manifest" },
  { "refs/heads/autoloop/NAME, refs/heads/memory/autoloop",
    "what was kept for a standing goal, and the state files of all goals" },
  { ".apsis/inbox, .apsis/next", "what was submitted and waits; the checkouts of `apsis next`" },
  { ".apsis/autoloop.json", "what the newest `apsis tick` chose, and why not the others" },
}

local exits = { { "0", "done" }, { "1", "`apsis step --exit-code`: the experiment was not kept" },
  { "2", "wrong usage, or an error in the manifest" },
  { "3", "git refused, or another process holds the lock" }, { "4", "the provider failed" },
  { "5", "the verification failed, or there is no metric" },
  { "6, 7", "`apsis submit`, `apsis wait` and `apsis next`: there is no result yet; the loop is over" },
  { "130", "interrupted; the state is saved" } }

local environment = {
  { "XDG_CONFIG_HOME", "apsis/config.yaml there is the user's file; default ~/.config" },
  { "XDG_CACHE_HOME", "workspaces; default ~/.cache" },
  { "APSIS_HOME", "read apsis's Lua files from this tree" },
  { "APSIS_NOW", "the time of day for schedules and timestamps: an ISO time or seconds since 1970" },
  { "APSIS_PAGER, PAGER", "the pager of log, show, diff and help on a terminal; cat: none" },
  { "NO_COLOR", "no colours" },
}

-- others: { { name, summary } ... } of the pages that are no command's.
return function(commands, others)
  local self = page.new("apsis", 1, "measured improvement loops in a git repository", "")
  self:heading "Synopsis":code "apsis COMMAND [OPTIONS]"
  self:heading "Description":text("apsis proposes a change, measures it, keeps it or not, remembers what was learned, "
    .. "and stops at the right time. A project is a directory with a manifest.yaml inside a git repository. A "
    .. "strategy, a small Lua file, decides what to try and what to keep. Candidates are commits under refs/apsis and "
    .. "refs/apsis-anchors. Only apply, split and reset touch the user's files or branches.")
  local list = {}
  for index, command in ipairs(commands) do list[index] = { command.name, command.summary } end
  self:heading "Commands":terms(list)
  self:text "`apsis COMMAND --help`, `apsis help COMMAND` and the page apsis-COMMAND(1) have the options."
  self:heading "Other pages":terms(others):text "`apsis help NAME` shows them, for instance `apsis help strategy`."
  self:heading "Files":terms(files):text "logs/, runs/ and .apsis/ are not to be committed."
  self:heading "Exit status":terms(exits)
  self:heading "Environment":terms(environment)
  return self
end
