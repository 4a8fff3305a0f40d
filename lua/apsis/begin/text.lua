-- text: the first manifest.yaml and program.md of a project, from what was chosen. Called by the command init.
local json = require "apsis.json"

local text = {}

local reserved = { yes = true, no = true, on = true, off = true, ["true"] = true, ["false"] = true, null = true }

-- A text as YAML: plain where it cannot be taken for something else.
local function yaml(value)
  local plain = value:find "^[%a_./][%w_./ -]*$" and not value:find " $" and not reserved[value:lower()]
  return plain and value or json.encode(value)
end

local function list(values)
  local parts = {}
  for index, value in ipairs(values) do parts[index] = yaml(value) end
  return "[" .. table.concat(parts, ", ") .. "]"
end

-- choice: { name, measure, metric, direction, writable, check, provider, regex, keep, links }; preset: whether
-- choice.provider is a preset's name; it may be "none".
function text.manifest(choice, preset)
  local lines = { "# Made by `apsis init`; `apsis help manifest` lists every key.", "version: 1",
    ("project: {name: %s}"):format(yaml(choice.name)), "files: # a file that no rule names is read-only" }
  local function add(line, ...) lines[#lines + 1] = line:format(...) end
  for _, path in ipairs(choice.writable) do add("  - {path: %s, mode: writable}", json.encode(path)) end
  add "verification:"
  for index, run in ipairs(choice.check or {}) do
    if index == 1 then add "  checks: # all must succeed before anything is measured" end
    add("    - {run: %s}", yaml(run))
  end
  add("  commands:\n    - {name: measure, run: %s}", yaml(choice.measure))
  if choice.keep then add("  keep: %s # what one command adds and a later one needs", list(choice.keep)) end
  local extractor = choice.regex and (", extractor: {type: stdout_regex, regex: %s}"):format(json.encode(choice.regex))
  add("metric: {name: %s, direction: %s%s}", yaml(choice.metric or "score"), choice.direction, extractor or "")
  if choice.provider:find "^%S+%.lua$" then add("provider: {kind: lua, use: %s}", yaml(choice.provider))
  elseif choice.provider ~= "none" then
    add("provider: {kind: command, %s: %s}", preset and "preset" or "run", yaml(choice.provider))
  end
  add "strategy: adaptive # `apsis strategies` lists the others"
  add "budget: {iterations: 20} # also minutes, tokens, usd"
  if choice.links and choice.links[1] then
    add("workspace: {link: %s} # git ignores it; commands see it read-only", list(choice.links))
  end
  return table.concat(lines, "\n") .. "\n"
end

function text.program(choice)
  return ([[
# %s

Make `%s` as %s as you can. It is what `%s` measures. Change only %s.
]]):format(choice.name, choice.metric or "score", choice.direction == "lower" and "low" or "high", choice.measure,
    "`" .. table.concat(choice.writable, "`, `") .. "`")
end

return text
