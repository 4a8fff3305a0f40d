-- outside: commands as harness and report: the input of a component's `harness: {run:}` and `report: {run:}`, and
-- their results. A failing one gives no score, with its reason. Called by fitness/scoring.
local fs = require "apsis.fs"

local outside = {}

local function environment_of(context, output_dir, agent_path, more)
  local env = { FITNESS_OUTPUT = output_dir, FITNESS_AGENT = agent_path, FITNESS_NAME = context.name }
  for name, value in pairs(more or {}) do env[name] = tostring(value) end
  return env
end

-- Removes what a command left in place of files, such as links, which apsis would follow when it reads.
local function only_files(dir)
  for _, name in ipairs(fs.list(dir) or {}) do
    local stat = fs.stat(dir .. "/" .. name, { follow = false })
    if stat and stat.type ~= "file" and stat.type ~= "directory" then fs.remove_tree(dir .. "/" .. name) end
  end
end

local function carried_out(context, part, what, env)
  local result, message = context.run { name = context.name .. " " .. what, run = part.run,
    timeout_sec = part.timeout_sec, env = env,
    write = env.FITNESS_OUTPUT }
  only_files(env.FITNESS_OUTPUT)
  if not result then return nil, message end
  if result.status ~= "ok" then return nil, result.reason end
  return true
end

-- A command as harness. FITNESS_TASKS is a file of ids, one per line (empty: the component has none).
function outside.harness(part)
  return function(context, task_list, agent_path, output_dir, num_samples, num_workers)
    local path = output_dir .. "/tasks.txt"
    local text = table.concat(task_list, "\n")
    local ok, message = fs.write(path, text ~= "" and text .. "\n" or "")
    if not ok then return nil, message end
    ok, message = carried_out(context, part, "harness", environment_of(context, output_dir, agent_path,
      { FITNESS_TASKS = path,
      FITNESS_SAMPLES = num_samples, FITNESS_WORKERS = num_workers }))
    if not ok then return nil, message end
    local stat = fs.stat(output_dir .. "/predictions.csv", { follow = false })
    if not stat or stat.type ~= "file" then return nil, "the harness wrote no predictions.csv into FITNESS_OUTPUT" end
    return true
  end
end

function outside.report(part)
  return function(context, output_dir)
    fs.remove_tree(output_dir .. "/report.json")
    return carried_out(context, part, "report", environment_of(context, output_dir, context.dir))
  end
end

return outside
