-- against: two candidates side by side (`apsis show ID --against OTHER`): items that regressed or were fixed, the hunks
-- between the two, which to revert, and which ancestor to go back to. Measures only if asked (--bisect). Writes
-- nothing. Called by show.
local bisect = require "apsis.compare.bisect"
local items = require "apsis.compare.items"
local json = require "apsis.json"
local pieces = require "apsis.live.pieces"
local text = require "apsis.compare.text"

local against = {}

local MOST = 16
local LEAST = 2 -- as it is, and once without something

function against.options(parser)
  parser:option("--against",
    "compare with another candidate item by item: regressions, hunks, what to revert"):argname "OTHER"
  parser:flag("--bisect", "with --against: measure again without each hunk, and show which ones to revert")
  parser:option("--most",
    "with --bisect: the most measurements (default: 16)"):convert(math.tointeger):argname "N"
end

-- What is wrong with the combination of options; or nil.
local function misused(args)
  if not args.against then
    local alone = args.bisect and "--bisect" or args.most and "--most"
    return alone and alone .. " needs --against OTHER, for instance the candidate's parent"
  end
  if args.prompt then return "--prompt and --against do not go together" end
  if args.most and not args.bisect then return "--most is of --bisect: add it, or leave both out" end
  if args.most and args.most < LEAST then
    return ("--most: must be %d or more (the unchanged candidate is measured first), not %d"):format(LEAST, args.most)
  end
end

-- Whether the options ask for a comparison; nil, message, 2 if they contradict.
function against.asked(args)
  local message = misused(args)
  if message then return nil, message, 2 end
  return args.against ~= nil
end

-- The regressions' texts that may name the file to blame.
local function failing_texts(found, targets)
  local list = {}
  local function add(entry)
    list[#list + 1] = entry.item
    list[#list + 1] = entry.prediction
  end
  for _, entry in ipairs(found and found.regressed or {}) do add(entry) end
  for _, name in ipairs { "only_here", "new_findings" } do
    for _, entry in ipairs(found and found[name] or {}) do
      local placed = name == "new_findings" and (entry.prediction or ""):find(":%d+:") -- has the line too
      if items.is_of(entry.item, targets) then add(placed and { prediction = entry.prediction } or entry) end
    end
  end
  return list
end

-- The comparison without measuring, from text and JSON.
local function compare(self, record, other)
  local said, said_there = items.predictions(self:run_dir(record)), items.predictions(self:run_dir(other))
  local mine, theirs = items.values(record, self.metric, said), items.values(other, self.metric, said_there)
  local components = items.components(record, other, mine, theirs)
  local made = { record = record, other = other, mine = mine, theirs = theirs,
    found = mine and theirs and items.compare(self.metric, mine, theirs, said, said_there) or nil,
    metrics = items.metrics(record, other, self.metric.name, self.manifest.metrics, components),
    delta = self.metric:delta(record.value, other.value), mark = items.mark(self.metric, record.value, other.value) }
  if made.found then items.findings(made.found, record, other) end
  made.targets = items.targets(self.metric, made.found, components, record, other,
    { history = self.history, guards = self.manifest.guards, metrics = self.manifest.metrics })
  if #made.targets > 0 then made.go_back = items.go_back(self.history, self.metric, made.targets, record, other) end
  return made
end

-- The pieces that lead from the other to the candidate, and those that the regressions, else the reason for the
-- rejection, name. If git fails: made.unread.
local function add_pieces(repo, made)
  made.pieces, made.unread = pieces.of(repo, made.other.commit, made.record.commit)
  made.suspects = made.pieces and #made.targets > 0 and made.pieces:named(failing_texts(made.found, made.targets)) or {}
  if made.pieces and #made.targets > 0 and #made.suspects == 0 and made.record.rollback_reason then
    made.suspects = made.pieces:named { made.record.rollback_reason }
    made.by_reason = #made.suspects > 0
  end
end

local function or_null(value)
  if value == nil then return json.null end
  return value
end

local function plain_record(record)
  return { id = record.id, value = or_null(record.value), outcome = record.outcome, commit = record.commit,
    parents = json.array(table.move(record.parents or {}, 1, #(record.parents or {}), 1, {})) }
end

local function arrays(lists)
  local out = {}
  for index, list in ipairs(lists) do out[index] = json.array(list) end
  return json.array(out)
end

local function plain_targets(targets)
  local out = {}
  for index, target in ipairs(targets) do
    out[index] = { item = target.item, component = target.component, guard = target.guard, finding = target.finding,
      value = target.want }
  end
  return json.array(out)
end

local function plain_bisect(result)
  local steps = {}
  for index, one in ipairs(result.steps) do
    steps[index] = { without = json.array(one.without), value = or_null(one.value), status = one.status,
      reason = one.reason, restores = one.count }
  end
  return { steps = json.array(steps), measurements = result.measured, most = result.most,
    tokens = result.tokens, cost = result.cost, to_restore = plain_targets(result.targets),
    not_repeated = plain_targets(result.unrepeated), restores = result.found and json.array(result.found) or json.null,
    take_back = result.advised and json.array(result.found) or json.null, whole_change = result.whole,
    costs_more = result.costs,
    best = result.best and { without = json.array(result.best.without), value = or_null(result.best.value),
      tree = result.best.tree },
    also = arrays(result.others), together = arrays(result.joined), minimal = result.minimal,
    value = or_null(result.value),
    tree = result.tree, patch = result.patch, ended = result.ended }
end

local function print_json(self, made, result)
  local found = made.found
  print(json.encode({ candidate = plain_record(made.record), against = plain_record(made.other),
    metric = self.metric.name,
    direction = self.metric.direction, delta = or_null(made.delta), mark = or_null(made.mark),
    regressed = found and json.array(found.regressed) or json.null, fixed = found and json.array(found.fixed)
      or json.null,
    changed = found and json.array(found.changed), new_findings = found and json.array(found.new_findings),
    gone_findings = found and json.array(found.gone_findings), only_in_candidate = found
      and json.array(found.only_here),
    only_in_against = found and json.array(found.only_there), unchanged = found and found.unchanged,
    predictions_changed = found and found.reworded,
    metrics = json.array(made.metrics), hunks = json.array(pieces.plain(made.pieces or {})), unread = made.unread,
    suspects = json.array(made.suspects),
    go_back = or_null(made.go_back), bisect = result and plain_bisect(result) or nil }, { pretty = true }))
end

-- The two records. record, other | nil, message, code.
local function records(self, args)
  local record, message, code = self:find(args.id or "best")
  if not record then return nil, message, code end
  local other
  other, message, code = self:find(args.against)
  if not other then return nil, "--against: " .. message, code end
  if other.id == record.id then return nil, ("--against: %s is the candidate itself"):format(other.id), 2 end
  for _, one in ipairs { record, other } do
    if not one.commit then return nil, ("%s has no commit (%s)"):format(one.id, one.outcome), 2 end
  end
  return record, other
end

local function run_bisect(self, args, made)
  if #made.targets == 0 or #made.pieces.groups <= 1 then
    if not args.json then print(text.nothing_to_bisect(made)) else print_json(self, made) end
    return 0
  end
  local result, message, code = bisect.run(self, { record = made.record, pieces = made.pieces, targets = made.targets,
    most = args.most or MOST, quiet = args.json })
  if not result then return code, message end
  if args.json then print_json(self, made, result) else text.bisect(self, made, result) end
  if result.ended == "interrupted" then return 130, "interrupted" end
  return 0
end

-- Compares the candidate of args. exit code, message.
function against.run(self, args)
  if args.bisect and self.manifest.metric.names then
    return 2, "--bisect needs a metric of one number; with metric.pareto a value is the whole front's: leave it out"
  end
  local record, other, code = records(self, args)
  if not record then return code, other end
  local repo <close>, message = self:repository()
  if not repo then return 3, message end
  for _, one in ipairs { record, other } do
    local removed = self:removed(one)
    if removed then io.stderr:write("apsis: ", removed, "\n") end
  end
  local made = compare(self, record, other)
  add_pieces(repo, made)
  if not args.json then text.comparison(self, made, args.bisect) end
  if args.bisect then
    if not made.pieces then return 3, made.unread end
    return run_bisect(self, args, made)
  end
  if args.json then print_json(self, made) end
  return 0
end

return against
