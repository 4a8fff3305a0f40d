-- approve: lists what waits for approval, or answers. The loop that goes on takes the answer up; if there is none, this
-- command does.
local settle = require "apsis.approval.settle"
local held = require "apsis.live.held"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local question = require "apsis.approval.question"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"

local approve = { place = 113, summary = "approve or reject a candidate that waits for it, or list them",
  example = "apsis approve c0007 --reason 'reads well'" }

function approve.options(parser)
  parser:argument("id", "the candidate, such as c0007 (default: list what waits)"):args "?"
  parser:flag("--reject", "it is not kept")
  parser:option("--reason", "why, for the journal"):argname "TEXT"
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
  parser:flag("--json", "what waits, or what became of the candidate, as JSON")
end

local function list(self, args, at)
  local waiting = held.waiting(self.home, self.history)
  local facts = self:with_repository(function(repo) return question.facts(self, waiting, repo) end)
    or question.facts(self, waiting)
  if args.json then
    print(json.encode(facts))
  elseif #facts == 0 then print "nothing waits for approval"
  end
  for index, fact in ipairs(args.json and {} or facts) do
    if index > 1 then print "" end
    question.print(self, fact, at)
  end
  return 0
end

-- What waits under an id | nil, message, 2.
local function find(self, id)
  local number = math.tointeger(tonumber(id:match "^c?(%d+)$"))
  local one = number and held.of(self.home, number, self.history)
  if one then return one end
  local at = number and self.history:line_of(number)
  local why = at and self.history:at(at).outcome or "`apsis approve` lists what waits"
  return nil, ("%s does not wait for approval: %s"):format(show.line(id, 40), why), 2
end

-- "c0003 kept: a person approved it"
local function tell_line(record)
  local why = record.rollback_reason or (record.notes or {}).kept_because
  print(show.wrap(("%s %s%s"):format(record.candidate, record.outcome, why and ": " .. show.line(why, 1000) or ""),
    show.width(), "  "))
end

-- Prints what became of the answer to one; the exit code. others: records that were settled with it, by answers that
-- were there and by time.
local function tell(args, one, word, record, pid, others)
  local id, verb = one.line.candidate, word == "keep" and "approved" or "rejected"
  if args.json then
    print(json.encode { candidate = id, answer = word, outcome = record and record.outcome or json.null,
      value = record and record.value or json.null, commit = one.line.commit,
      reason = record and (record.rollback_reason or (record.notes or {}).kept_because) or json.null })
  elseif not record then
    print(("%s is %s; %s"):format(id, verb, pid and ("the run of process %d takes that up before it plans again")
      :format(pid) or "the next run takes that up (until then `apsis approve` can still change it)"))
  else
    tell_line(record)
    for _, other in ipairs(others) do tell_line(other) end
  end
  return 0
end

function approve.run(args)
  local at = show.at(args.directory)
  at = at ~= "" and " -C" .. at or ""
  if not args.id and (args.reject or args.reason) then
    return 2, "--reject, --reason: of which candidate? add its id"
  end
  local self, message, code = reader.open(args.directory)
  if not self then return code, message end
  if not args.id then return list(self, args, at) end
  local one
  one, message, code = find(self, args.id)
  if not one then return code, message end
  local word, pid = args.reject and "reject" or "keep", lock.holder(self.home)
  local given = (held.answer(self.home, one.experiment) or ""):match "^%a+"
  if pid and given and given ~= word then
    return 2, ("%s has its answer already: %s; the run of process %d may have taken it up"):format(
      one.line.candidate, given, pid)
  end
  local ok
  ok, message, code = held.give(self.home, one.experiment, ("%s %s\n"):format(word, show.line(args.reason, 1000)))
  if not ok then return code, message end
  if pid or args.later then return tell(args, one, word, nil, pid) end
  local record
  record, message, code = settle(args.directory, one.experiment)
  if not record and code then
    return code, ("%s\n%s has its answer; the next run takes it up"):format(message, one.line.candidate)
  end
  return tell(args, one, word, record or nil, lock.holder(self.home), record and message)
end

return approve
