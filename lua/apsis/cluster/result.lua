-- result: what a job gives back, checked: it answers for this job, and it is a measurement. Anything else is no result.
-- Called by evaluations; node writes it.
local finite = require("apsis.direction").finite
local kind = require "apsis.core.kind"

local result = {}

local numbers = { map = "number" }
local near = { keys = { line = "whole", text = "string", reason = "string" } }
local measurement = { keys = { status = "string", stage = "whole", value = "number", reason = "string",
  missing = "string", rejected = "boolean", metrics = numbers, samples = { list = "number" },
  near_misses = { list = near }, near_miss_count = "whole", keep = { list = "string" }, complete = "boolean" },
  needs = { "status", "stage", "near_misses", "near_miss_count" } }
result.fields = { keys = { name = "string", token = "string", tree = "string", node = "string", queue_s = "number",
  wall_s = "number", way = "string", failed = "string", stderr = "string", measurement = measurement,
  messages = { list = { keys = { level = "string", text = "string" }, needs = { "level", "text" } } } },
  needs = { "name", "token", "tree", "node", "messages" } }

local known = { ok = true, failed = true, timeout = true, crash = true }

local function all_finite(list)
  for _, value in pairs(list or {}) do
    if not finite(value) then return false end
  end
  return true
end

-- nil, or why what is read from a job's result.json is not this job's.
function result.problem(given, job)
  if type(given) ~= "table" then return "it is no JSON object" end
  local wrong = kind.problem(given, result.fields, "")
  if wrong then return wrong end
  for _, key in ipairs { "name", "token", "tree" } do
    if given[key] ~= job[key] then return ("its %s is another one"):format(key) end
  end
  local made = given.measurement
  if not made then return not given.failed and "it has no measurement" or nil end
  if not known[made.status] then return ("its status is %q"):format(made.status:sub(1, 40)) end
  if made.value and not finite(made.value) or not all_finite(made.metrics) or not all_finite(made.samples) then
    return "it has a number that is not finite"
  end
end

return result
