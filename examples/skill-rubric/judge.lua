-- judge: scores a report (standard input) of the case named by the argument: prints a METRIC line for each dimension
-- of the manifest's rubric, and overall_score. An invalid answer is sent back once with what is wrong; after that
-- there is no score, which is not a score of 0. Called by evaluate.sh.
local ask = require "ask"
local edit = require "apsis.edit"
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local yaml = require "apsis.yaml"

local ROUNDS = 2

local dimensions = yaml.decode(assert(fs.read "manifest.yaml")).fitness.dimensions

local function question(case, report)
  local gold = assert(fs.read((case:gsub("^cases/(.*)%.txt$", "gold/%1.md"))))
  local form = {}
  for index, one in ipairs(dimensions) do
    form[index] = ('"%s": NUMBER from 0 to %g'):format(one.name, one.scale_max)
  end
  return ("The reference:\n\n%s\n\nThe report:\n\n%s\n\nAnswer with one JSON object and nothing else: {%s, "
    .. "\"reason\": \"a sentence\"}")
    :format(edit.fence(gold), edit.fence(report), table.concat(form, ", "))
end

-- The dimensions with their scores and what they make together; nil and what is wrong with the answer.
local function read(answer)
  local text = answer:match "^%s*```json%s*\n(.*)\n```%s*$" or answer
  local value = json.decode(text)
  if type(value) ~= "table" then return nil, "it is not one JSON object" end
  local scored = {}
  for index, one in ipairs(dimensions) do
    local score = value[one.name]
    if type(score) ~= "number" then return nil, one.name .. " is not a number" end
    scored[index] = { name = one.name, scale_max = one.scale_max, weight = one.weight, score = score }
  end
  local overall, message = fitness.rubric(scored) -- refuses what is outside its scale
  if not overall then return nil, message end
  return scored, overall
end

local messages = {
  { role = "system", content = assert(fs.read "judge.md") },
  { role = "user", content = question(arg[1], io.read "a") },
}
local scored, overall
for _ = 1, ROUNDS do
  local answer, message = ask("judge", messages)
  if not answer then
    io.stderr:write("judge: ", message, "\n")
    os.exit(1)
  end
  scored, overall = read(answer)
  if scored then break end
  local wrong = "Your answer cannot be used: " .. overall .. ". Answer with the JSON object only."
  table.move({ { role = "assistant", content = answer }, { role = "user", content = wrong } }, 1, 2, #messages + 1,
    messages)
end
if not scored then
  io.stderr:write("judge: its answer was refused twice: ", overall, "\n")
  os.exit(1)
end
for _, one in ipairs(scored) do print(("METRIC %s=%.12g"):format(one.name, one.score)) end
print(("METRIC overall_score=%.12g"):format(overall))
