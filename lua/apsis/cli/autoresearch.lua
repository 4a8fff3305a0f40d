-- autoresearch: the journal in two other forms, one object per run: the schema of the METRIC protocol, key by key; and
-- that of pi-autoresearch's log.jsonl after a config line, for its dashboards and exporters. A run without a value has
-- null, never 0; a discarded or crashed run has no commit.
local json = require "apsis.json"

local autoresearch = {}

local asi_names = { "hypothesis", "learned", "rollback_reason", "next_action_hint" }

-- "2026-05-30T23:15:00Z" as milliseconds since 1970.
local function milliseconds(stamp)
  local year, month, day, hour, minute, second = (stamp or ""):match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z$")
  if not year then return json.null end
  year, month, day = math.tointeger(year), math.tointeger(month), math.tointeger(day)
  local y = month <= 2 and year - 1 or year -- days from civil, March first
  local days = 365 * y + y // 4 - y // 100 + y // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
  return (((days * 24 + math.tointeger(hour)) * 60 + math.tointeger(minute)) * 60 + math.tointeger(second)) * 1000
end

local keys = { "experiment", "status", "hypothesis", "primary_metric", "secondary_metrics", "description", "learned",
  "rollback_reason", "next_action_hint", "commit", "timestamp" }

-- walk(visit): calls visit(line) for each; returned is what it returns.
function autoresearch.write(_, walk)
  return walk(function(line)
    local members = {}
    for index, key in ipairs(keys) do
      local value = line[key]
      if key == "commit" and line.status ~= "keep" then value = nil
      elseif key == "secondary_metrics" then value = value or {} end
      if value == nil then value = json.null end
      members[index] = ("%s:%s"):format(json.encode(key), json.encode(value, { sorted = true }))
    end
    print("{" .. table.concat(members, ",") .. "}")
  end)
end

local function config_line(self)
  return { type = "config", name = self.manifest.project.name, metricName = self.metric.name,
    metricUnit = self.manifest.metric.unit or "", bestDirection = self.metric.direction }
end

-- run: counted from 1, without lines that only measured or asked.
local function run_line(line, run)
  local asi
  for _, name in ipairs(asi_names) do
    if line[name] then
      asi = asi or {}
      asi[name] = line[name]
    end
  end
  return { run = run, commit = line.status == "keep" and line.commit and line.commit:sub(1, 7) or json.null,
    metric = line.primary_metric or json.null, metrics = line.secondary_metrics or {}, status = line.status,
    description = line.description or line.hypothesis or line.outcome, timestamp = milliseconds(line.timestamp),
      segment = 0, confidence = json.null, iterationTokens = line.tokens or json.null, asi = asi }
end

-- As write.
function autoresearch.write_pi(self, walk)
  print(json.encode(config_line(self)))
  return walk(function(line) print(json.encode(run_line(line, line.experiment + 1))) end)
end

return autoresearch
