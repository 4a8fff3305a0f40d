-- split: divides a candidate's changes since the baseline into independent branches, each measured by itself. Touches
-- neither the user's files nor an existing branch.
local branches = require "apsis.deliver.branches"
local direction = require "apsis.direction"
local json = require "apsis.json"
local measuring = require "apsis.deliver.measuring"
local parts = require "apsis.deliver.parts"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local steps = require "apsis.live.steps"
local versions = require "apsis.live.versions"

local split = { place = 114, summary = "divide the best's changes into independent branches, each measured",
  example = "apsis split --dry-run" }

function split.options(parser)
  parser:argument("id", "c0042, 42, current, baseline or (default) best"):args "?"
  reader.directory_option(parser)
  parser:option("--together", "steps that stay in one part, for instance c0003,c0007"):count "*":argname "IDS"
  parser:option("--prefix", "of the branches' names (default: the run's branch and -split)"):argname "NAME"
  parser:flag("--dry-run", "only show the parts; nothing is measured")
  parser:flag("--json", "parts, values and branches as one JSON object")
end

local function or_null(value)
  if value == nil then return json.null end
  return value
end

local function ids_of(list)
  local ids = {}
  for index, step in ipairs(list) do ids[index] = step.id end
  return ids
end

local function print_json(self, made)
  local list = {}
  for index, part in ipairs(made.list) do
    local value = part.found and part.found.value
    list[index] = { part = index, branch = part.branch, title = made.list:title(part), commit = part.final,
      tree = part.tree, steps = json.array(ids_of(made.list:steps_of(part))), files = json.array(
      made.list:paths(part)), value = or_null(value), gain = or_null(self.metric:gain(value, made.before)) }
  end
  print(json.encode { candidate = made.record.id, metric = self.metric.name, direction = self.metric.direction,
    base = made.base.commit, baseline = or_null(made.before), together = or_null(made.after),
    gain = or_null(self.metric:gain(made.after, made.before)), parts = json.array(list), created = made.created })
end

-- "+13 (+62 %)", and the word for it.
local function gain_cells(self, value, base)
  if not value or not base then return "", "" end
  local share = direction.percent_text(value, base)
  local word = self.metric:better(value, base) and "better" or self.metric:tied(value, base) and "equal" or "worse"
  return show.delta(self.metric:delta(value, base)) .. (share and (" (%s)"):format(share) or ""), word
end

-- "a.txt line 3 becomes x8 (c0001 c0004: a.txt)".
local function about(made, part)
  return ("%s (%s: %s)"):format(show.line(made.list:title(part)), table.concat(ids_of(made.list:steps_of(part)), " "),
    show.line(table.concat(made.list:paths(part), " ")))
end

local function print_branches(made)
  for _, part in ipairs(made.list) do print("  " .. part.branch) end
end

local function print_values(self, made)
  local unit = self.manifest.metric.unit
  local rows = { { "baseline", show.number(made.before, unit), "", "", "" } }
  local function add(name, value, what)
    local gain, word = gain_cells(self, value, made.before)
    rows[#rows + 1] = { name, show.number(value, unit), gain, word, what }
  end
  for index, part in ipairs(made.list) do add(tostring(index), part.found.value, about(made, part)) end
  add("together", made.after, made.record.id)
  for _, line in ipairs(show.columns({ "part", show.line(self.metric.name), "gain", "", "what" }, rows,
    { false, true, true }, show.width(), { 3 })) do print(line) end
  print "branches, each from the baseline's commit:"
  print_branches(made)
end

local function print_parts(made)
  for index, part in ipairs(made.list) do print(("%d  %s"):format(index, about(made, part))) end
  print "branches that split would make, once each part is measured:"
  print_branches(made)
end

-- The record, its steps and where they begin. record, steps, base | nil, message, code.
local function chosen(self, args)
  local record, message, code = self:find(args.id or "best")
  if not record then return nil, message, code end
  if not record.commit then return nil, ("%s has no commit (%s)"):format(record.id, record.outcome), 2 end
  if not record.kept then self.session:say(("%s was not kept: %s"):format(record.id, record.outcome)) end
  return record, steps.of(self.history, record)
end

-- --together as lists of steps' numbers. lists | nil, message, 2.
local function together_of(self, args, list)
  local place, lists = {}, {}
  for index, step in ipairs(list) do
    place[step.id] = index
    for _, id in ipairs(step.folded) do place[id] = index end
  end
  for _, text in ipairs(args.together or {}) do
    local numbers = {}
    for id in text:gmatch "[^,%s]+" do
      local record, message = self:find(id)
      if not record then return nil, "--together: " .. message, 2 end
      if not place[record.id] then
        return nil, ("--together: %s is no step on the way to the candidate: %s"):format(record.id,
          table.concat(ids_of(list), " ")), 2
      end
      numbers[#numbers + 1] = place[record.id]
    end
    lists[#lists + 1] = numbers
  end
  return lists
end

-- Measures baseline, candidate and parts. true | nil, message, code.
local function measure(at, made)
  local before, after, message, code
  before, message, code = at:measure(made.base.tree, "the baseline")
  if not before then return nil, message, code end
  after, message, code = at:measure(made.record.tree, made.record.id .. ", all parts together")
  if not after then return nil, message, code end
  if not after.value then
    return nil, ("measured again, %s itself has no value: %s; no branch was made"):format(made.record.id,
      after.reason), 5
  end
  made.before, made.after = before.value, after.value
  return at:parts(made.list, after)
end

local function nothing(args, record)
  local why = ("%s changed nothing since the baseline: there is nothing to split"):format(record.id)
  if args.json then print(json.encode { candidate = record.id, parts = json.array {}, created = false, reason = why })
  else print(why) end
  return 0
end

-- Measures, and makes the branches. exit code, message.
local function carry_out(self, args, repo, made)
  local at <close>, message, code = measuring.open(self, made.record, made.base)
  if not at then return code, message end
  local done
  done, message, code = measure(at, made)
  if not done then return code, message end
  branches.name(made.list, made.prefix)
  made.created, message = branches.make(self, repo, made)
  if not made.created then return 3, message end
  if args.json then print_json(self, made) else print_values(self, made) end
  return 0
end

local function show_parts(self, args, made)
  branches.name(made.list, made.prefix)
  if args.json then print_json(self, made) else print_parts(made) end
  return 0
end

function split.run(args)
  local self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.id) end
  local record, list, base = chosen(self, args)
  if not record then return base, list end
  local repo <close>, why, refused = self:repository()
  if not repo then return refused, why end
  local missing = versions.missing(repo, { record, base })
  if missing then return 3, missing end
  local together
  together, message, code = together_of(self, args, list)
  if not together then return code, message end
  local found
  found, message = parts.of(repo, base, record, list, together)
  if not found then return 3, message end
  if #found == 0 then return nothing(args, record) end
  local prefix
  prefix, message, code = branches.prefix(repo, args.prefix, self.branch .. "-split")
  if not prefix then return code, message end
  local made = { record = record, base = base, list = found, prefix = prefix, created = false }
  if args.dry_run then return show_parts(self, args, made) end
  return carry_out(self, args, repo, made)
end

return split
