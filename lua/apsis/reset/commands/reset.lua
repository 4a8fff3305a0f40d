-- reset: puts a run away, so that the project can begin again; and takes it back.
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local inventory = require "apsis.reset.inventory"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local shelf = require "apsis.reset.shelf"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local reset = { place = 150, summary = "put a run away, to begin again; --undo takes it back",
  example = "apsis reset -f --keep-best" }

local NOTHING = "nothing to put away: no run has left anything here"

function reset.options(parser)
  common.project_argument(parser)
  parser:flag("-f --force", "do it; without it, only print what would be put away")
  parser:flag("--keep-best", "keep the best candidate as a branch of its own")
  parser:flag("--undo", "take back what a reset has put away")
  parser:option("--from", "which reset --undo takes back (default: the newest)"):argname "TIME"
  parser:flag("--json", "the same as one JSON object")
end

-- Prints a sentence, broken at the terminal's width.
local function say(text) print(show.wrap(text, show.width(), "  ")) end

local function size_text(bytes)
  for _, unit in ipairs { "bytes", "kB", "MB" } do
    if bytes < 1000 then return ("%.3g %s"):format(bytes, unit) end
    bytes = bytes / 1000
  end
  return ("%.3g GB"):format(bytes)
end

local function plural(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

-- "c0042 = 2.635"
local function best_text(best)
  return ("%s = %s"):format(best.candidate, show.number(best.value))
end

-- What there is to put away, and what is known of it.
local function survey(self, repo)
  local folded, why = self:fold()
  local best = folded and self.history.best
  local found = { files = {}, runs = {}, lines = folded and self.history.count or nil, refs = {},
    damaged = not folded and why or nil,
    best = best and { candidate = best.id, value = best.value, commit = best.commit } or nil }
  for _, path in ipairs(inventory.files(self.home)) do
    local list = path:find "^runs/" and found.runs or found.files
    list[#list + 1] = path
  end
  local message
  for index, place in ipairs(inventory.places { ref = self.manifest.project.ref,
    branch = inventory.branch_of(self.manifest) }) do
    found.refs[index], message = inventory.refs_at(repo, place[1])
    if not found.refs[index] then return nil, message, 3 end
  end
  found.count = #found.files + #found.runs + #found.refs[1] + #found.refs[2] + #found.refs[3]
  found.workspaces = inventory.workspaces(self.manifest)
  return found
end

local function bytes_of(root, list)
  local bytes = 0
  for _, path in ipairs(list) do bytes = bytes + inventory.size(root .. path) end
  return bytes
end

-- The same as JSON.
local function facts_of(self, found)
  local earlier, spaces = {}, {}
  for index, record in ipairs(shelf.list(self.home)) do earlier[index] = record.stamp end
  for index, path in ipairs(found.workspaces) do spaces[index] = { path = path, bytes = inventory.size(path) } end
  local branch = found.refs[3][1]
  return { project = self.manifest.project.name, directory = self.dir, done = false, lines = found.lines or json.null,
    best = found.best or json.null, files = json.array(found.files),
    runs = { count = #found.runs, bytes = bytes_of(self.home .. "/", found.runs) },
    candidates = #found.refs[1], anchors = #found.refs[2],
    branch = branch and { name = self.branch, commit = branch.id } or json.null,
    workspaces = json.array(spaces), pid = lock.holder(self.home) or json.null,
    cut_off = shelf.unfinished(self.home) ~= nil, earlier = json.array(earlier) }
end

local function journal_text(found)
  if found.damaged then return "damaged: " .. show.line(found.damaged, 200) end
  return plural(found.lines, "line") .. (found.best and ", best " .. best_text(found.best) or "")
end

local function print_survey(self, found, facts)
  local refs = found.refs
  show.facts {
    { "journal", journal_text(found) },
    { "files", #found.files > 0 and table.concat(found.files, ", ") or nil },
    { "runs/", #found.runs > 0 and ("%s, %s"):format(#found.runs == 1 and "1 entry" or #found.runs .. " entries",
      size_text(facts.runs.bytes)) or nil },
    { "candidates", #refs[1] > 0 and ("%s under refs/apsis/%s/"):format(plural(#refs[1], "ref"),
      self.manifest.project.ref) or nil },
    { "older ones", #refs[2] > 0 and ("%s under refs/apsis-anchors/%s/"):format(plural(#refs[2], "ref"),
      self.manifest.project.ref) or nil },
    { "branch", refs[3][1] and ("%s, at %s"):format(self.branch, refs[3][1].id:sub(1, 10)) or nil },
  }
  for _, space in ipairs(facts.workspaces) do
    say(("scratch checkouts, which are removed: %s, %s"):format(show.line(space.path, 200), size_text(space.bytes)))
  end
end

local function print_earlier(self, at)
  local list = shelf.list(self.home)
  for index = #list, 1, -1 do
    local record = list[index]
    local which = index < #list and " --from " .. record.stamp or ""
    say(("put away before, %s%s: `apsis reset --undo%s%s` takes it back"):format(
      record.lines and plural(record.lines, "line") or "a journal",
      record.best and ", best " .. best_text(record.best) or "", which, at))
  end
end

-- Why a run whose branch is checked out cannot be moved; nil if it can. branch: its name.
local function is_out(repo, branch)
  local where
  for _, ref in ipairs(inventory.refs_at(repo, "refs/heads/" .. branch) or {}) do
    where, branch = where or repo:checked_out((ref.name:gsub("^refs/heads/", ""))), where and branch or ref.name:sub(12)
  end
  return where and ("the run's branch %s is checked out in %s, and your working tree is never touched: git switch to "
    .. "another branch first"):format(branch, where)
end

-- Why a reset would be refused, in words; nil if it would not.
local function hindrance(self, repo)
  local pid, since = lock.holder(self.home)
  if not pid then return is_out(repo, inventory.branch_of(self.manifest)) end
  return ("a run goes on (pid %d, since %s): stop it first, with Ctrl-C or `kill %d`"):format(pid, since, pid)
end

local function preview(self, repo, args)
  local found, message, code = survey(self, repo)
  if not found then return code, message end
  local facts, at = facts_of(self, found), show.at(args.dir)
  if args.json then
    print(json.encode(facts, { sorted = true }))
    return 0
  end
  local cut_off = shelf.unfinished(self.home)
  if cut_off then say(cut_off) end
  if found.count == 0 then
    say(NOTHING)
  else
    say(("`apsis reset -f%s` would put away:"):format(at))
    print_survey(self, found, facts)
    say "nothing is changed yet, and nothing of it would be lost: `apsis reset --undo` takes it back"
    if found.best and not args.keep_best then
      say(("`apsis reset -f --keep-best%s` keeps %s as a branch"):format(at, found.best.candidate))
    end
    local why = hindrance(self, repo)
    if why then say("it would be refused: " .. why) end
  end
  print_earlier(self, at)
  return 0
end

-- The project with its lock and its refs' lock held; its session's close gives both back. true | nil, message, code.
local function hold(self, repo, ref)
  local session = self.session
  local ok, message, code, why = session:lock()
  if not ok then return nil, why == "LOCKED" and message .. "; end it first, then reset" or message, code end
  local info
  info, message = repo:info()
  if not info then return nil, message, 3 end
  session.claimed, message, code = lock.claim(info.gitdir, ref, self.home)
  if not session.claimed then return nil, message, code end
  return true
end

-- The record of a new reset, or of one that was cut off | nil, message, code.
local function record_of(self, repo, args)
  local record, message = shelf.under_way(self.home)
  if message then return nil, message, 3 end
  if record and record.to == "project" then
    return nil, "an undo was cut off: `apsis reset --undo` finishes it", 3
  end
  if not record then
    local found, refused, code = survey(self, repo)
    if not found then return nil, refused, code end
    record = { stamp = shelf.name(self.home, clock.time()), ref = self.manifest.project.ref,
      branch = inventory.branch_of(self.manifest), lines = found.lines, best = found.best, count = found.count }
    if args.keep_best and found.damaged then return nil, found.damaged, 3 end
  end
  if args.keep_best and not record.keep then
    if not record.best then
      return nil, "--keep-best: there is no best yet: no candidate that was kept has a value", 5
    end
    if not repo:resolve(record.best.commit) then
      return nil, ("--keep-best: %s's commit %s is missing: git fetch brings it from where a copy is"):format(
        record.best.candidate, record.best.commit:sub(1, 10)), 3
    end
    record.keep = shelf.branch_for(repo, record.branch:gsub("/$", "") .. "-best", record.best.commit)
  end
  return record
end

local function nothing_there(args)
  print(args.json and json.encode { done = false } or NOTHING)
  return 0
end

local function print_done(record, args, where)
  local at = show.at(args.dir)
  if args.json then
    print(json.encode({ done = true, reset = record.stamp, folder = where, lines = record.lines or json.null,
      refs = ("refs/apsis-reset/%s/%s/"):format(record.ref, record.stamp), best = record.best or json.null,
      kept = record.keep or json.null, undo = ("apsis reset --undo --from %s%s"):format(record.stamp, at) },
      { sorted = true }))
    return 0
  end
  say(("put away: %s; files are in %s, commits under refs/apsis-reset/%s/%s/"):format(
    record.lines and plural(record.lines, "line") or "a journal", where, record.ref, record.stamp))
  if record.keep then
    say(("kept the best, %s, as branch %s: git diff HEAD %s"):format(best_text(record.best), record.keep,
      record.keep))
  end
  print(("undo: apsis reset --undo%s"):format(at))
  print(("begin again: apsis baseline%s"):format(at))
  return 0
end

local function put_away(self, repo, args)
  local record, message, code = record_of(self, repo, args)
  if not record then return code, message end
  if record.count == 0 then return nothing_there(args) end
  record.count = nil
  local out = is_out(repo, record.branch)
  if out then return 3, out end
  for _, clear in rooms.each "reset" do
    local warning = clear(self.manifest)
    if warning then self.session:log("warn", warning) end
  end
  local ok
  ok, message = shelf.put_away(self, repo, record)
  if not ok then
    return 3, ("the reset is not finished: %s; `apsis reset -f` goes on with it, `apsis reset --undo` takes it back")
      :format(message)
  end
  self.session:log("info", "reset: put away as " .. record.stamp)
  return print_done(record, args, self.home .. "/" .. shelf.folder(record.stamp))
end

-- The reset that --undo means | nil, message, code.
local function to_undo(self, args)
  local record, message = shelf.under_way(self.home)
  if message then return nil, message, 3 end
  if record then
    if args.from and args.from ~= record.stamp then
      return nil, ("reset %s was cut off: `apsis reset --undo` takes that one back first"):format(record.stamp), 3
    end
    return record
  end
  local list, names = shelf.list(self.home), {}
  for index, one in ipairs(list) do
    if one.stamp == args.from or not args.from and index == #list then record = one end
    names[index] = one.stamp
  end
  if record then return record end
  if #list == 0 then return nil, "there is no reset to undo", 2 end
  return nil, ("--from: no reset %q%s; there are: %s"):format(args.from, suggest.sentence(args.from, names),
    table.concat(names, ", ")), 2
end

local function take_back(self, repo, args)
  local record, message, code = to_undo(self, args)
  if not record then return code, message end
  if not shelf.unfinished(self.home) then
    local found, refused, exit = survey(self, repo)
    if not found then return exit, refused end
    if found.count > 0 then
      return 3, ("a run has begun since: put it away first (`apsis reset -f`), then: apsis reset --undo --from %s%s")
        :format(record.stamp, show.at(args.dir))
    end
  end
  local out = is_out(repo, record.branch)
  if out then return 3, out end
  local ok
  ok, message = shelf.take_back(self, repo, record)
  if not ok then return 3, ("the undo is not finished: %s; `apsis reset --undo` goes on with it"):format(message) end
  self.session:log("info", "reset: took back " .. record.stamp)
  if args.json then print(json.encode { done = true, taken_back = record.stamp })
  else print(("taken back: %s; `apsis status%s` shows where it stands"):format(record.lines
    and plural(record.lines, "line") or "the journal", show.at(args.dir))) end
  return 0
end

local function contradiction(args)
  if args.from and not args.undo then return "--from names the reset that --undo takes back: add --undo" end
  if args.undo and (args.force or args.keep_best) then
    return "--undo takes back a reset: leave out -f and --keep-best"
  end
end

function reset.run(args)
  local clash = contradiction(args)
  if clash then return 2, clash end
  local self, message, code = reader.configure(args.dir)
  if not self then return code, message end
  if self.manifest.own_branch then
    return 2, ("%s is a standing goal: its state is on branches that others may share, and a reset is for projects of "
      .. "their own. To begin again from the default branch: git branch -D %s, and the next tick measures a baseline")
      :format(self.manifest.project.name, self.branch)
  end
  local repo <close>, refused, exit = self:repository()
  if not repo then return exit, refused end
  if not args.force and not args.undo then return preview(self, repo, args) end
  local record
  record, message, code = (args.undo and to_undo or record_of)(self, repo, args)
  if not record then return code, message end
  if record.count == 0 then return nothing_there(args) end
  local held
  held, message, code = hold(self, repo, record.ref)
  if held then code, message = (args.undo and take_back or put_away)(self, repo, args) end
  self.session:close()
  return code, message
end

return reset
