-- explain: which hunks between the baseline and the best make its gain: measures the best again without some of them.
-- Touches no branch, and writes only what it has measured.
local explained = require "apsis.compare.explained"
local json = require "apsis.json"
local kept = require "apsis.compare.kept"
local pieces = require "apsis.live.pieces"
local reader = require "apsis.live.reader"
local shares = require "apsis.compare.shares"
local versions = require "apsis.live.versions"
local wait = require "apsis.wait"

local INTERRUPTED <const> = "interrupted; what was measured is kept: the same command goes on"

local explain = { place = 105, summary = "which hunks of the best make its gain, by measuring without them",
  example = "apsis explain --dry-run" }

local MOST <const>, LEAST <const> = 200, 5 -- the candidate three times, the baseline, and without something
local QUIET_S <const> = 30 -- between two lines of progress in a file
local TIMED <const> = 3 -- measurements that show how long one takes

function explain.options(parser)
  parser:argument("id", "c0042, 42, current or (default) best"):args "?"
  reader.directory_option(parser)
  parser:option("--against", "from that candidate on, instead of the baseline"):argname "ID"
  parser:option("--max", "the most measurements (default: 200)"):convert(math.tointeger):argname "N"
  parser:flag("--dry-run", "only show the hunks and the budget; nothing is measured")
  parser:flag("--json", "hunks, shares and the smallest patch as one JSON object")
end

-- The baseline that a candidate descends from.
local function baseline_of(history, record)
  while record and record.outcome ~= "baseline" do
    record = record.parents and record.parents[1] and history:get(record.parents[1])
  end
  return record or history.baseline
end

-- The candidate and where its change begins. record, base | nil, message, code.
local function chosen(self, args)
  local record, message, code = self:find(args.id or "best")
  if not record then return nil, message, code end
  local base = not args.against and baseline_of(self.history, record)
  if args.against then base, message, code = self:find(args.against) end
  if not base then return nil, message and "--against: " .. message or "there is no baseline", code or 3 end
  for _, one in ipairs { record, base } do
    if not one.commit then return nil, ("%s has no commit (%s)"):format(one.id, one.outcome), 2 end
  end
  return record, base
end

-- The numbers of the hunks of some parts, sorted.
local function hunks_of(made, set)
  local numbers = {}
  for _, part in ipairs(set) do
    local group = made.pieces.groups[part]
    table.move(group, 1, #group, #numbers + 1, numbers)
  end
  table.sort(numbers)
  return numbers
end

-- The tree without some parts, made once; a message if there is none.
local function tree_of(made, set)
  local numbers = hunks_of(made, set)
  local key = table.concat(numbers, " ")
  local tree = made.trees[key]
  if not tree then
    local why
    tree, why = made.pieces:without(numbers)
    tree = tree or "does not apply: " .. why
    made.trees[key] = tree
  end
  return tree
end

local function trees_of(made, sets)
  local trees = {}
  for index, set in ipairs(sets) do trees[index] = tree_of(made, set) end
  return trees
end

-- Shows what is measured; in a file, a line now and then.
local function announce(made, set)
  local at, numbers = made.at, hunks_of(made, set)
  local now = wait.now()
  if not at.terminal and made.shown and now - made.shown < QUIET_S then return end
  made.shown = now
  local what = #numbers == 0 and "as it is" or #numbers > 4 and ("without %d hunks"):format(#numbers)
    or "without " .. pieces.words(numbers)
  at:announce(("measuring %s %s (%d of at most %d)"):format(made.record.id, what, made.count + 1, made.most))
end

-- Says how long all may take, once the first ones have shown it.
local function say_time(made)
  if made.count ~= TIMED or made.quiet then return end
  local seconds = (wait.now() - made.from) / TIMED
  made.at:announce()
  made.at.session:say(("a measurement takes %.2g s, so %d take %s"):format(seconds, made.most,
    explained.duration(seconds * made.most)))
end

-- Whether the answers are for the next call too: if the candidate or the baseline fails, it may not next time.
local function sound(made, sets, answers)
  for index, set in ipairs(sets) do
    if not answers[index].value and (#set == 0 or #set == #made.pieces.groups) then return false end
  end
  return true
end

-- Measures versions in order. Answers | nil: interrupted, or made.problem.
local function measure(made, sets, turn)
  local trees, answers = trees_of(made, sets), {}
  for index, tree in ipairs(trees) do
    if tree:find "^does not apply" then answers[index] = { reason = tree } else
      announce(made, sets[index])
      made.from = made.from or wait.now()
      local found, message, code = made.at:measure(tree, turn)
      if not found then
        made.problem = code ~= 130 and { message, code } or nil
        return nil
      end
      made.count = made.count + 1
      say_time(made)
      answers[index] = { value = found.value, reason = found.reason }
    end
  end
  if sound(made, sets, answers) then made.kept:add(trees, turn, answers) end
  return answers
end

local function reuse(made, sets, turn)
  local answers = made.kept:get(trees_of(made, sets), turn)
  if answers then made.reused = made.reused + #answers end
  return answers
end

-- Why there is no result: exit code, message.
local function no_result(made, why)
  local id = made.record.id
  if made.problem then return made.problem[2], made.problem[1] end
  if why == "interrupted" then return 130, INTERRUPTED end
  if why == "limit" then
    return 2, ("no answer within %d measurements: --max %d allows more"):format(made.most, 2 * made.most)
  end
  if why == "no better" then
    return 5, ("measured again, %s is not shown to be better than %s: there is no gain to explain"):format(id,
      made.base.id)
  end
  return 5, ("measured again, %s"):format(why:gsub("^the candidate", id):gsub("^the baseline", made.base.id))
end

-- Measures and prints. exit code, message.
local function carry_out(self, args, made)
  local message, code
  made.at, message, code = versions.open(self, { name = "explain", record = made.record, parent = made.base.commit,
    quiet = args.json })
  if not made.at then return code, message end
  local at <close> = made.at
  made.kept, message, code = kept.of(at.world, self.home, made.record, made.base.commit)
  if not made.kept then return code, message end
  if not args.json then at.session:say(explained.budget(made)) end
  local result, why = shares.run { count = #made.pieces.groups, metric = self.metric, most = made.most,
    seed = self.session.seed, measure = function(sets, turn) return measure(made, sets, turn) end,
    kept = function(sets, turn) return reuse(made, sets, turn) end }
  at:announce()
  if not result or made.problem then return no_result(made, why) end
  result.reused, result.tokens, result.cost = made.reused, at.tokens, at.cost
  if result.patch then
    result.patch.hunks = hunks_of(made, result.patch.without)
    result.patch.tree = tree_of(made, result.patch.without)
    result.patch.text = at.world.repo:diff(made.base.commit, result.patch.tree)
  end
  made.result = result
  explained.show(self, args, made)
  if result.ended == "interrupted" then return 130, INTERRUPTED end
  return 0
end

local function nothing(args, made)
  local id, base = made.record.id, made.base.id
  local why = id ~= base and ("%s has the same files as %s: nothing to explain"):format(id, base)
    or args.against and ("%s is compared with itself: nothing to explain"):format(id)
    or ("%s is the baseline: nothing to explain"):format(args.id and id or "the best")
  if args.json then print(json.encode { candidate = made.record.id, against = made.base.id, parts = json.array {},
    reason = why }) else print(why) end
  return 0
end

function explain.run(args)
  if args.max and args.max < LEAST then return 2, ("--max: at least %d, not %d"):format(LEAST, args.max) end
  local self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.id, args.against) end
  if self.manifest.metric.names then
    return 2, "explain needs a metric of one number; with metric.pareto a value is the whole front's; apsis show ID "
      .. "--against OTHER compares two candidates"
  end
  local record, base, wrong = chosen(self, args)
  if not record then return wrong, base end
  local repo <close>, why, refused = self:repository()
  if not repo then return refused, why end
  local missing = versions.missing(repo, { record, base })
  if missing then return 3, missing end
  local made = { record = record, base = base, most = args.max or MOST, count = 0, reused = 0, trees = {},
    quiet = args.json }
  made.hunks = function(set) return hunks_of(made, set) end
  made.pieces, message = pieces.of(repo, base.commit, record.commit)
  if not made.pieces then return 3, message end
  if #made.pieces == 0 then return nothing(args, made) end
  if not args.dry_run then return carry_out(self, args, made) end
  explained.show(self, args, made)
  return 0
end

return explain
