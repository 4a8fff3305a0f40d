-- best: the best candidate, and the commands to take it. Changes nothing itself.
local branches = require "apsis.live.branch"
local common = require "apsis.cli.common"
local json = require "apsis.json"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"

local best = { place = 110, summary = "the best candidate", example = "apsis best --apply-hint" }

function best.options(parser)
  common.project_argument(parser)
  parser:flag("--apply-hint", "only the git commands that take it")
  parser:flag("--json", "candidate, value, commit and branch as JSON; null without one")
end

-- What to merge: the run's branch if it holds the best; else the candidate's ref, or its commit if the ref is gone.
local function what_to_merge(self, record)
  local repo <close> = self:repository()
  local name = branches.of(self.manifest, record)
  local tip = repo and repo:ref("refs/heads/" .. name)
  local info = tip and repo:commit_info(tip)
  if info and info.tree == record.tree then return name end
  local ref = self.refs .. record.id
  return repo and repo:ref(ref) and ref or record.commit
end

local function print_json(self, record)
  local facts = record and { candidate = record.id, value = record.value, commit = record.commit,
    branch = branches.of(self.manifest, record) }
  for _, more in rooms.each "best_facts" do
    for key, value in pairs(facts and more(self) or {}) do facts[key] = value end
  end
  print(json.encode(facts or json.null))
  return 0
end

function best.run(args)
  local self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local history = self.history
  local record = history.best
  local shown, problem, exit = rooms.first("best", self, args)
  if shown ~= nil then return shown or exit, problem end
  if args.json then return print_json(self, record) end
  if history.count == 0 then
    return 3, ("no experiments yet: run `apsis baseline%s` first"):format(show.at(args.dir))
  end
  if not record then return 5, "there is no best yet: no candidate that was kept has a value" end
  local commands = { ("git diff HEAD %s"):format(record.commit), "git merge " .. what_to_merge(self, record) }
  if args.apply_hint then
    for _, text in ipairs(commands) do print(text) end
    return 0
  end
  local gained = history.baseline and history.baseline.id ~= record.id and self.metric:delta(record, history.baseline)
  local told = show.gain(history.gain, record.id)
  show.facts {
    { "candidate", record.id },
    { "value", ("%s = %s (%s)"):format(self.metric.name, show.number(record.value, self.manifest.metric.unit),
      self.metric:words()) },
    { "gain", not told and gained and self.metric:gained_text(record, history.baseline, self.manifest.metric.unit)
      or nil }, { "gained", told },
    { "commit", record.commit },
    { "branch", self.branch },
    { "description", (record.description or record.hypothesis) and show.line(record.description or record.hypothesis) },
  }
  local here = show.at(args.dir)
  local take = rooms.first("take", history, self.dir, here ~= "" and " -C" .. here or "")
  if take then table.insert(commands, 1, take) end
  print("to take it:\n  " .. table.concat(commands, "\n  "))
  return 0
end

return best
