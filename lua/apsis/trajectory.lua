-- trajectory: best of K answers, after SRLM (arXiv:2603.15653): which of several answers to one proposal to evaluate.
-- Reads only the answers; never evaluates, asks or compares metric values. Drops answers that failed or are empty, then
-- those that differ from the intent of the strict majority. Of the rest the joint score of stated confidence and length
-- wins, or if a confidence is missing the shortest. Also how many answers to request.
local editline = require "apsis.edit.line"
local finite = require("apsis.direction").finite
local json = require "apsis.json"

local trajectory = {}

local TOKEN_BYTES = 4 -- of usual text, if no provider counted
local LEAST_FOR_MAJORITY = 3 -- of two different ones none is the majority
local SLACK = 1e-9 -- sums of dollars are inexact
local LONGEST_REASON = 200

-- ---- the numbers ----

-- Verbalised confidence: the sum of ln(c / 100), each c within 1 to 100; nil if there is none or one is no number.
function trajectory.vc(confidences)
  if type(confidences) ~= "table" or #confidences == 0 then return nil end
  local sum = 0.0
  for index = 1, #confidences do
    local confidence = confidences[index]
    if not finite(confidence) then return nil end
    sum = sum + math.log(math.min(100, math.max(1, confidence)) / 100)
  end
  return sum
end

-- VC x Len: the closer to 0 the better.
function trajectory.score(confidences, tokens)
  local vc = trajectory.vc(confidences)
  return vc and vc * tokens
end

-- For each intent whether it stays: if more than half of three or more are equal, only that one does. false: not known.
function trajectory.consistent(intents)
  local counts, kept, total = {}, {}, #intents
  local majority
  for index = 1, total do
    local intent = intents[index]
    if intent then
      counts[intent] = (counts[intent] or 0) + 1
      if total >= LEAST_FOR_MAJORITY and 2 * counts[intent] > total then majority = intent end
    end
  end
  for index = 1, total do kept[index] = majority == nil or intents[index] == majority end
  return kept, majority and counts[majority]
end

-- How many answers to request: k if they fit into the remainder less the margin, else one if that fits, else none.
function trajectory.budget(spec)
  local k, cost, remaining, margin = spec.k, spec.cost, spec.remaining, spec.margin or trajectory.defaults.margin
  if remaining <= 0 then return 0 end
  local slack = remaining < math.huge and SLACK * remaining or 0
  if k * cost <= remaining * (1 - margin) + slack then return k end
  return cost <= remaining + slack and 1 or 0
end

-- k for complex tasks, else one.
function trajectory.gate(spec)
  for _, name in ipairs(spec.gate or trajectory.defaults.complexity_gate) do
    if name == spec.complexity then return spec.k end
  end
  return 1
end

-- The defaults; the manifest's trajectory: has the same.
trajectory.defaults = { enabled = false, k_candidates = 2, complexity_gate = { "complex", "epic" }, margin = 0.2 }

-- ---- confidence and intent of an answer ----

local c_like, hash, dashes = { "//" }, { "#" }, { "--" }
local comments = { lua = dashes, sql = dashes, hs = dashes, c = c_like, h = c_like, cc = c_like, cpp = c_like,
  hpp = c_like, cs = c_like,
  java = c_like, js = c_like, mjs = c_like, ts = c_like, tsx = c_like, jsx = c_like, go = c_like, rs = c_like,
  swift = c_like,
  kt = c_like, scala = c_like, zig = c_like, php = { "//", "#" }, py = hash, sh = hash, bash = hash, rb = hash,
  pl = hash, r = hash,
  jl = hash, yaml = hash, yml = hash, toml = hash }

-- A file's text without what has no meaning: trailing blanks, blank lines, and lines with only a line comment (by the
-- path's ending). Indentation, comments after code and /* */ stay.
local function meaning_of(path, text)
  local marks, lines = comments[(path:match("%.(%w+)$") or ""):lower()] or {}, {}
  for line in text:gmatch("[^\r\n]+") do
    line = editline.trim_end(line)
    local start, comment = line:match("^%s*(.*)$"), false
    for _, mark in ipairs(marks) do comment = comment or start:sub(1, #mark) == mark and start:sub(1, 2) ~= "#!" end
    if start ~= "" and not comment then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

local function by_name(map)
  local names = {}
  for name in pairs(map) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- Each file with its result; nil if an edit is neither text nor a removal.
local function intent_of_edits(edits)
  local parts = {}
  for index, path in ipairs(by_name(edits)) do
    local text = edits[path]
    if type(text) == "table" and type(text.bytes) == "string" then text = text.bytes end
    if text == false then parts[index] = "delete " .. path
    elseif type(text) == "string" then parts[index] = ("file %s\n%s"):format(path, meaning_of(path, text))
    else return nil end
  end
  return table.concat(parts, "\0")
end

-- The name and the arguments with sorted keys; arguments may be JSON.
local function intent_of_call(call)
  local arguments = call.arguments
  if type(arguments) == "string" then
    local decoded = json.decode(arguments)
    if decoded ~= nil then arguments = decoded end
  end
  local ok, text = pcall(json.encode, arguments, { sorted = true })
  return ("call %s %s"):format(tostring(call.name), ok and text or tostring(arguments))
end

-- The intent of an answer, by its steps and not its words; nil if unknown. Two answers have the same intent if they
-- leave the same files, up to text without meaning, and call the same tools in the same order.
function trajectory.intent(answer)
  if type(answer.intent) == "string" then return answer.intent end
  local parts, edits = {}, type(answer.edits) == "table" and next(answer.edits) ~= nil and answer.edits
  if edits then
    local text = intent_of_edits(edits)
    if not text then return nil end
    parts[1] = text
  elseif type(answer.tree) == "string" then
    parts[1] = "tree " .. answer.tree
  end
  for _, call in ipairs(type(answer.tool_calls) == "table" and answer.tool_calls or {}) do
    if type(call) == "table" then parts[#parts + 1] = intent_of_call(call) end
  end
  if #parts == 0 and type(answer.text) == "string" and answer.text:find("%S") then
    parts[1] = "text " .. answer.text:gsub("%s+", " "):match("^ ?(.-) ?$")
  end
  return #parts > 0 and table.concat(parts, "\0") or nil
end

-- Adds the confidences in a text's JSON objects. A value that is no number is a step without one; a bare letter, as
-- in the prompt's own example, is ignored.
local function add_steps(steps, text)
  for object in text:gmatch("%b{}") do
    local said = object:match('"confidence"%s*:%s*(.-)%s*[,}]')
    local number = said and tonumber(said:match('^"(%d+%.?%d*)"$') or said) -- models quote it, too
    if finite(number) then steps[#steps + 1] = { confidence = number }
    elseif said and said:find('^["tfn]') then steps[#steps + 1] = {} end
  end
end

-- Whether a fence contains only such objects: otherwise it is a program.
local function only_confidences(body)
  local rest = body:gsub("%b{}", function(object) return object:find('"confidence"', 1, true) and "" or nil end)
  return not rest:find("[^%s,%[%]]")
end

-- { { confidence = } ... } of the {"confidence": 80} in a text, outside code; nil if there is none.
function trajectory.steps(text)
  if not text:find('"confidence"', 1, true) then return nil end
  local steps, fence, body, in_block = {}, nil, nil, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local opens = line:match("^%s*(```+)") or line:match("^%s*(~~~+)")
    if in_block then in_block = not line:find("^>>>>>>>+ REPLACE")
    elseif fence and opens and opens:sub(1, #fence) == fence and not line:find("[%w{]") then
      local whole = table.concat(body, " ")
      if only_confidences(whole) then add_steps(steps, whole) end
      fence = nil
    elseif fence then body[#body + 1] = line
    elseif line:find("^<<<<<<<+ SEARCH") then in_block = true
    elseif opens then fence, body = opens, {}
    elseif line:find('"confidence"', 1, true) then add_steps(steps, line) end
  end
  return #steps > 0 and steps or nil
end

-- Added to a prompt whose answer is one of several.
trajectory.request = [[
For each step of your work, say how sure you are that it is right: on a line of its own, outside of any code, write
{"confidence": N} with a whole number N from 0 (surely wrong) to 100 (certain). At least one; do not flatter yourself.]]

-- ---- which one ----

-- The confidences of an answer's steps; nil if one is missing.
local function confidences_of(answer)
  if answer.confidences ~= nil then return answer.confidences end
  local list = {}
  for index, step in ipairs(type(answer.steps) == "table" and answer.steps or {}) do
    list[index] = type(step) == "table" and step.confidence or false
  end
  return list
end

local function tokens_of_steps(steps)
  local sum = 0
  for _, step in ipairs(type(steps) == "table" and steps or {}) do
    if type(step) ~= "table" or not finite(step.tokens) then return nil end
    sum = sum + step.tokens
  end
  return sum > 0 and sum or nil
end

-- Bytes of an answer's text, or else of its files.
local function bytes_of(answer)
  if type(answer.text) == "string" and answer.text:find("%S") then return #answer.text end
  local bytes = 0
  for _, text in pairs(type(answer.edits) == "table" and answer.edits or {}) do
    bytes = bytes + (type(text) == "string" and #text or 1)
  end
  return bytes
end

-- The tokens of an answer: its provider's count, else the sum of its steps, else its total, else a guess from its
-- bytes.
local function length_of(answer)
  if finite(answer.output_tokens) then return answer.output_tokens end
  local took = tokens_of_steps(answer.steps) or finite(answer.tokens) and answer.tokens > 0 and answer.tokens
  return took or math.max(math.ceil(bytes_of(answer) / TOKEN_BYTES), answer.tree and 1 or 0)
end

local function holds_nothing(answer)
  local calls = answer.tool_calls
  return type(answer.edits) == "table" and next(answer.edits) == nil and not (type(calls) == "table" and calls[1])
end

-- The pool's entry of an answer: { confidences, tokens, intent, error }. refused: why it is not allowed.
local function entry_of(answer, refused)
  return { confidences = confidences_of(answer), intent = trajectory.intent(answer) or false, error = answer.error
    or refused
    or answer.violation or nil, tokens = holds_nothing(answer) and 0 or length_of(answer) }
end

local function shortened(text)
  text = tostring(text):gsub("%s+", " ")
  return #text > LONGEST_REASON and text:sub(1, (utf8.offset(text, 0, LONGEST_REASON) or LONGEST_REASON + 1) - 1)
    .. "..." or text
end

-- The entries that neither failed nor are empty, and their data.
local function usable(pool)
  local left, details = {}, {}
  for index, entry in ipairs(pool) do
    if not finite(entry.tokens) then error(("trajectory.select: pool[%d].tokens must be a number"):format(index), 3) end
    local vc = trajectory.vc(entry.confidences)
    details[index] = { vc = vc, length = entry.tokens, score = vc and vc * entry.tokens or nil }
    if entry.error then details[index].lost = "failed: " .. shortened(entry.error)
    elseif entry.tokens <= 0 then details[index].lost = "empty: it holds nothing"
    else left[#left + 1] = index end
  end
  return left, details
end

-- Those with the majority's intent.
local function of_majority(pool, left, details)
  local intents, kept = {}, {}
  for place, index in ipairs(left) do intents[place] = pool[index].intent or false end
  local stays, count = trajectory.consistent(intents)
  for place, index in ipairs(left) do
    if stays[place] then kept[#kept + 1] = index
    else details[index].lost = ("of another intent than the majority (%d of %d)"):format(count, #left) end
  end
  return kept
end

-- The first without a confidence; nil if all have one.
local function unsure(left, details)
  for _, index in ipairs(left) do
    if not details[index].vc then return index end
  end
end

local function loss_of(own, winner, missing)
  local lengths = ("%.10g tokens against %.10g"):format(own.length, winner.length)
  local because = missing and ("; answer %d states no confidence, so only length decides"):format(missing) or ""
  if not missing and own.score ~= winner.score then
    return ("score %.4g against %.4g"):format(own.score, winner.score)
  end
  if own.length == winner.length then return "equal, and later" .. because end
  return (missing and "" or "an equal score, and ") .. "longer: " .. lengths .. because
end

-- The index of the answer to take, nil if all failed or are empty; and for each { vc, length, score, lost = why it
-- lost }.
function trajectory.select(pool)
  if #pool == 0 then error("trajectory.select: the pool is empty", 2) end
  local left, details = usable(pool)
  left = of_majority(pool, left, details)
  local missing, chosen = unsure(left, details), left[1]
  for place = 2, #left do
    local own, first = details[left[place]], details[chosen]
    local nearer, level = false, true
    if not missing then -- joint scores of the answers, at most 0; no metric values
      local joint, least = own.score, first.score
      nearer, level = joint > least, joint == least
    end
    if nearer or level and own.length < first.length then chosen = left[place] end
  end
  for _, index in ipairs(left) do
    if index ~= chosen then details[index].lost = loss_of(details[index], details[chosen], missing) end
  end
  return chosen, details
end

-- One answer leaves no choice; skip the work, as it may be one of very many.
local function only_one(answer, refuse)
  if not answer then return nil, {} end
  local problem = answer.error or refuse and refuse(answer, 1)
  if problem then return nil, { { lost = "failed: " .. shortened(problem) } } end
  return 1, { {} }
end

-- The same for a provider's answers. refuse(answer, index): why an answer that did not fail is not allowed, or nil.
-- If none remains, takes the first that is at least an answer (without a change, or with a forbidden one), so that
-- its line reports it.
function trajectory.choose(answers, refuse)
  if not answers[2] then return only_one(answers[1], refuse) end
  local pool, refused = {}, {}
  for index, answer in ipairs(answers) do
    refused[index] = not answer.error and refuse and refuse(answer, index) or nil
    pool[index] = entry_of(answer, refused[index])
  end
  local chosen, details = trajectory.select(pool)
  for index = 1, chosen and 0 or #pool do
    if not answers[index].error and not refused[index] then
      chosen, details[index].lost = index, nil
      break
    end
  end
  return chosen, details
end

-- The same proposal with the reason why its answer was refused, in notes.again: for one more request.
function trajectory.again(proposal, refused)
  local notes = { again = refused }
  for key, value in pairs(proposal.notes or {}) do notes[key] = value end
  return { operator = proposal.operator, parents = proposal.parents, inspirations = proposal.inspirations,
    model = proposal.model, notes = notes }
end

return trajectory
