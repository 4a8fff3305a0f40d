-- submit: what a folder changed against a candidate becomes an experiment: verified, decided and journalled as any
-- other. Who submits cannot decide; who decides cannot be told.
local fs = require "apsis.fs"
local inboxes = require "apsis.drive.inbox"
local outcome = require "apsis.drive.outcome"
local json = require "apsis.json"
local place = require "apsis.drive.place"
local session = require "apsis.live.session"
local snapshot = require "apsis.drive.snapshot"
local wait = require "apsis.wait"
local work = require "apsis.drive.work"

local CHUNK = 65536 -- bytes

local submit = { place = 52, summary = "have the changes in a folder measured and decided",
  example = "apsis submit --title 'inline the hash'" }

function submit.options(parser)
  parser:argument("dir", "the folder with the changes: a checkout of git, or of `apsis next` (default: here)"):args "?"
  parser:option("-C --project", "the project (default: the one that the folder belongs to)"):argname "PROJECT"
  parser:option("--id", "the experiment of `apsis next` that this answers (default: the one whose checkout it is)")
    :argname "ID"
  parser:option("--parent", "the candidate that was changed (default: the one that the folder's HEAD is)"):argname "ID"
  parser:option("--title", "what was changed, in one line"):argname "TEXT"
  parser:option("--asi",
    "what else should be in the journal: hypothesis, description, learned, next_action_hint, or a note"):count "*"
    :argname "KEY=VALUE"
  parser:flag("--no-wait", "print the id and measure in the background; `apsis wait ID` has the result")
  parser:option("--timeout", "wait at most S seconds; the work goes on in the background"):convert(tonumber):argname "S"
  parser:flag("--new-run", "begin another run if the last one is over")
  parser:flag("--json", "the result as JSON: {id, result, text, line, next}; result: kept, rejected, pending or over")
end

-- The map of --asi | nil, message.
local function asi_of(args)
  local asi = {}
  for _, setting in ipairs(args.asi) do
    local key, value = setting:match "^([%w_]+)=(.*)$"
    if not key then return nil, ("--asi: %q is not KEY=VALUE"):format(setting) end
    asi[key] = value
  end
  return asi
end

-- A world to read candidates and write objects with; it holds no lock. session | nil, message, code.
local function open_world(self)
  local opened, message, code = session.configure(self.dir)
  if not opened then return nil, message, code end
  local ok
  ok, message, code = opened:open_world(nil, true)
  if not ok then return nil, message, code end
  opened.world.history = self.history
  return opened
end

-- The number of the experiment of `apsis next` that is answered, and its parent; nil if it is none; false, message,
-- code. The checkout of one that has its line is what another submission starts from.
local function answered(self, args, at)
  local id = args.id or not args.parent and at.id
  local number = id and math.tointeger(tonumber(id:match "^c?(%d+)$"))
  if not number then return id and false or nil, id and ("--id: %s is no id such as c0007"):format(id), 2 end
  local saved = json.decode(fs.read(("%s/runs/%04d/proposal.json"):format(self.home, number)) or "", true)
  local parent = type(saved) == "table" and type(saved.proposal) == "table" and saved.offered
    and (saved.proposal.parents or {})[1]
  if not parent then return false, ("%s was not given out by `apsis next`"):format(id), 2 end
  local done = self.history:line_of(number)
  if done and args.id then
    return false, ("%s has its line (%s): submit without --id, as --parent %s"):format(id,
      self.history:at(done).outcome, parent), 2
  end
  return not done and number or nil, parent
end

-- The candidate that was changed. record | nil, message, code.
local function parent_of(self, args, at, known)
  args.parent = args.parent or known
  local record, message, code
  if args.parent then record, message, code = self:find(args.parent)
  else record, message, code = place.parent(self, at) end
  if not record then return nil, (args.parent and "--parent: " or "") .. message, code end
  if not record.commit then return nil, ("--parent: %s has no commit (%s)"):format(record.id, record.outcome), 2 end
  local best = self.history.best
  if self.manifest.history == "revert" and best and record.id ~= best.id then
    return nil, ("history: revert works from the best only, %s, and the parent is %s: --parent best"):format(best.id,
      record.id), 2
  end
  return record
end

-- Where a journal's last whole line ends, in bytes: the line of what is submitted now comes after it.
local function end_of(path)
  local file <close> = io.open(path, "rb")
  local at = file and file:seek "end" or 0
  while at > 0 do
    local from = math.max(0, at - CHUNK)
    file:seek("set", from)
    local last = file:read(at - from):match "^.*()\n"
    if last then return from + last end
    at = from
  end
  return 0
end

-- Puts a tree into the inbox, with a ref that keeps it. The id | nil, message, code.
local function add(self, world, record, tree, args, asi, number)
  local request = { kind = number and "answer" or "submit", experiment = number, parent = record.id, tree = tree,
    title = args.title, asi = asi, new_run = args.new_run, from = end_of(self.home .. "/logs/results.jsonl") }
  return inboxes.new(self.home):add(request, function(id)
    return world.repo:commit { tree = tree, parents = { record.commit }, ref = world.refs .. "submitted/" .. id,
      message = ("%s\n\nSubmitted from %s as %s.\n"):format(args.title or "submitted", record.id, id) }
  end)
end

-- Takes the folder's files into the inbox. The id | nil, message, code.
local function hand_in(self, args, asi)
  local opened, message, code = open_world(self)
  if not opened then return nil, message, code end
  local record, id
  local world = opened.world
  local at, number, known, wrong
  at, message, code = place.folder(self, args.dir, world.prefix)
  if at then number, known, wrong = answered(self, args, at) end
  if number == false then message, code = known, wrong
  elseif at then record, message, code = parent_of(self, args, at, known) end
  if record then
    local tree
    tree, message = snapshot.take(world, at, record)
    code = 2
    if tree and tree == record.tree then
      tree, message = nil, ("nothing to submit: %s has the files of %s; change one first"):format(at.root, record.id)
    end
    if tree then id, message, code = add(self, world, record, tree, args, asi, number) end
  end
  opened:close()
  return id, message, code
end

function submit.run(args)
  args.dir = args.dir or "."
  local asi, wrong = asi_of(args)
  if not asi then return 2, wrong end
  if args.title and not args.title:find "%S" then return 2, "--title: is empty" end
  if args.timeout and not (args.timeout >= 0) then return 2, "--timeout: must be 0 or more" end
  local self, message, code = place.project(args.dir, args.project)
  if not self then return code, message end
  wait.trap()
  local id
  id, message, code = hand_in(self, args, asi)
  if not id then return code, message end
  if args.no_wait then
    local ok
    ok, message, code = work.background(self.home, self.dir, id)
    if not ok then return code, message end
    print(args.json and json.encode { id = id, result = "pending" } or id)
    return 0
  end
  local found
  found, message, code = work.wait(self, id, { timeout_s = args.timeout, quiet = args.json })
  if found then return outcome.print(found, args.json) end
  if not inboxes.new(self.home):read(id) then return code, message end
  return code, ("%s; %s waits in the inbox: `apsis wait %s` goes on with it"):format(message, id, id)
end

return submit
