-- Puts a text that would do harm into every free text of a project's journal and note, and into the files of its
-- experiments. apsis exec hostile.lua, in the project.
local fs = require "apsis.fs"
local json = require "apsis.json"

local HARM <const> = "</script><script>window.harm=1</script><img src=x onerror=window.harm=2><svg onload=window.harm=3>"
  .. "\27]0;PWNED\7\27[31mRED\27[2J\u{9b}31mC1\u{202e}REVERSED\u{2066}\u{2028}\"}],'--> {{data}} %s \\u001b\rFORGED\nFORGED: 1"

local texts = { "hypothesis", "description", "learned", "next_action_hint", "rollback_reason", "operator", "model", "strategy",
  "answer" }

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local lines = {}
for text in read "logs/results.jsonl":gmatch "[^\n]+" do
  local line = json.decode(text)
  for _, name in ipairs(texts) do
    if name ~= "answer" or line.outcome == "asked" then line[name] = name .. " " .. HARM end
  end
  line.proposal.operator, line.proposal.title, line.proposal.model = "planned " .. HARM, "title " .. HARM, HARM
  line.notes = { island = "island " .. HARM, cell = "cell " .. HARM, features = { [HARM] = HARM, size = line.experiment },
    [HARM] = { HARM }, kept_because = HARM }
  line.secondary_metrics = { ["metric " .. HARM] = 1 }
  line.gate = { status = "failed", signature = HARM, reason = HARM }
  line.items = { [HARM] = { [HARM] = 1 } }
  if line.outcome ~= "baseline" then line.acceptance = { why = "why " .. HARM } end
  lines[#lines + 1] = json.encode(line)
end
write("logs/results.jsonl", table.concat(lines, "\n") .. "\n")

local note = json.decode(read "logs/state.json")
note.status, note.reason, note.branch_left = "running", "reason " .. HARM, "left " .. HARM
note.slots = json.array { { experiment = 9, phase = "phase " .. HARM, operator = "operator " .. HARM,
  where = "where " .. HARM, about = "about " .. HARM, parents = json.array { "parent " .. HARM }, tokens = 0, cost = 0 } }
note.near_misses = { experiment = 1, count = 1, line = 1, text = "near " .. HARM, reason = "miss " .. HARM }
write("logs/state.json", json.encode(note))

for number = 0, #lines - 1 do
  local dir = ("runs/%04d%s"):format(number, number == 0 and "_baseline" or "")
  for _, name in ipairs { "verifier.log", "prompt.md", "provider_output.md", "plan.md" } do
    if fs.stat(dir) then write(dir .. "/" .. name, HARM:gsub("FORGED", "LOGGED") .. "\xFF\n") end
  end
end
fs.remove ".apsis/fold"
