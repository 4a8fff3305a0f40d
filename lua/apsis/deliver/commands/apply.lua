-- apply: brings a candidate's changes into the user's current branch: as one commit, as a merge, or step by step. With
-- split's branches and reset, the only command that writes to the user's files or branch.
local checkout = require "apsis.deliver.checkout"
local json = require "apsis.json"
local plan = require "apsis.deliver.plan"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local apply = { place = 112, summary = "bring the best or another candidate into your branch",
  example = "apsis apply --dry-run" }

function apply.options(parser)
  parser:argument("id", "c0042, 42, current, baseline or (default) best"):args "?"
  reader.directory_option(parser)
  parser:mutex(parser:flag("--squash", "one commit with all changes (the default)"),
    parser:flag("--merge", "a merge commit: the candidate's own commits become part of your branch"),
    parser:flag("--commits", "a commit for each kept step that gained something, with its value"))
  parser:flag("--dry-run", "only show what would be done")
  parser:flag("-f --force", "apply it also if somebody changed the journal beside apsis")
  parser:flag("--json", "what was done as one JSON object")
end

local function or_null(value)
  if value == nil then return json.null end
  return value
end

local function print_json(self, args, place, made, done)
  local record, commits = made.record, {}
  for index, one in ipairs(made.commits) do
    commits[index] = { commit = one.id, candidate = one.record.id, value = or_null(one.record.value),
      subject = one.subject, message = one.message }
  end
  print(json.encode { candidate = record.id, outcome = record.outcome, value = or_null(record.value),
    metric = self.metric.name, branch = place.branch, from = place.head, commits = json.array(commits), way = args.way,
    tree = made.tree, measured = made.exact, applied = done, dry_run = args.dry_run or false })
end

-- "2 files, +12 -4".
local function changes_text(place, tree)
  local added, deleted, files, modules = 0, 0, place.repo:changes(place.tree, tree) or {}, false
  for _, change in ipairs(files) do
    added, deleted = added + change.added, deleted + change.deleted
    modules = modules or change.mode == "160000" or change.old_mode == "160000"
  end
  return ("%d file%s, +%d -%d"):format(#files, #files == 1 and "" or "s", added, deleted), modules
end

local function print_text(self, args, place, made)
  local record = made.record
  local changed, modules = changes_text(place, made.tree)
  print(("%s %s to %s: %s"):format(args.dry_run and "would apply" or "applied", record.id, show.line(place.branch, 200),
    changed))
  for _, one in ipairs(made.commits) do
    local value = one.record.value and show.number(one.record.value, self.manifest.metric.unit)
    print(("  %s %s%s"):format(one.id and one.id:sub(1, 10) or "commit", show.line(one.subject, 200),
      value and #made.commits > 1 and (" (%s)"):format(value) or ""))
  end
  if not made.exact then
    local at = show.at(args.directory ~= "." and args.directory or nil)
    print(show.wrap(("%s has other changes too, so this combination was never measured: apsis eval%s"):format(
      show.line(place.branch, 200), at), show.width(), ""))
  end
  if modules then print "a submodule changed: git submodule update" end
  if not args.dry_run then print(("to undo it: git reset --keep %s"):format(place.head:sub(1, 10))) end
end

-- The record to apply. It | nil, message, exit code.
local function chosen(self, args)
  local record, message, code = self:find(args.id or "best")
  if not record then return nil, message, code end
  if not record.commit then return nil, ("%s has no commit (%s)"):format(record.id, record.outcome), 2 end
  if not record.kept then self.session:say(("%s was not kept: %s"):format(record.id, record.outcome)) end
  return record
end

local function nothing(args, record, why)
  if args.json then print(json.encode { candidate = record.id, commits = json.array {}, applied = false, reason = why })
  else print(why) end
  return 0
end

local function carry_out(self, args, place, made)
  local may, message, code = place:may_become(made.tree, made.record.commit)
  if not may then return code, message end
  if not args.dry_run then
    wait.trap() -- Ctrl-C ends nothing half-way
    local tip, done
    tip, message, code = made:write()
    if not tip then return code, message end
    done, message, code = place:become(tip, "apsis: apply " .. made.record.id)
    if not done then return code, message end
  end
  if args.json then print_json(self, args, place, made, not args.dry_run) else print_text(self, args, place, made) end
  return 0
end

function apply.run(args)
  args.way = args.merge and "merge" or args.commits and "commits" or "squash"
  local self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.id) end
  self:check_refs()
  if self.lines_altered and not args.force and not args.dry_run then
    return 5, "nothing was applied: the journal was changed (see above) and may name a candidate that was not "
      .. "measured; --force applies it anyway"
  end
  local record
  record, message, code = chosen(self, args)
  if not record then return code, message end
  if record.outcome == "baseline" then
    return nothing(args, record, ("%s is the baseline, where the others start: there is nothing to apply"):format(
      record.id))
  end
  local place <close>, why, refused = checkout.open(self)
  if not place then return refused, why end
  if not place.repo:commit_info(record.commit) then
    return 3, ("%s's commit %s is not in this repository: git fetch brings it from where the run was"):format(record.id,
      record.commit:sub(1, 10))
  end
  local made
  made, message, code = plan.of(self, place, record, args.way)
  if not made then return code, message end
  if #made.commits > 0 then return carry_out(self, args, place, made) end
  return nothing(args, record, ("%s has the changes of %s already: there is nothing to apply"):format(
    show.line(place.branch, 200), record.id))
end

return apply
