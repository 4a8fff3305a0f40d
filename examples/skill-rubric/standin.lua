-- standin: answers in place of language models, so that this example runs without any. executor(messages) sorts the
-- lines of the notes by their words and treats them as words in the instructions request; judge(messages) compares
-- words. It understands nothing, but it shows a SKILL.md improving. Used by ask.lua if no endpoint is set.
local json = require "apsis.json"

local standin = {}

-- ---- the executor ----

-- The requests in the instructions, recognised by their words.
local ASKED = {
  title = "title of one line", steps = "number the steps", results = "expected and what actually",
  quotes = "word for word",
  version = "state the version", honest = "make nothing up", observed = "leave out every guess", calm = "stay calm",
  sections = "write sections", friendly = "greet the reader", cause = "might be the cause", filled = "fill gaps",
  pity = "how annoying",
}

local function asked_for(instructions)
  local text, asked = instructions:lower():gsub("%s+", " "), {}
  for name, words in pairs(ASKED) do asked[name] = text:find(words, 1, true) ~= nil end
  return asked
end

-- A line of notes: its kind and its text.
local function kind_of(line)
  if line:find "!" then return "feeling", line end
  if line:find "^Maybe" or line:find "^I think" or line:find "^Probably" then return "guess", line end
  if line:find "says: " then return "message", line:match 'says: (.*)$' end
  if line:find "version %d" then return "version", line:match "version (.-)%.?$" end
  if line:find "expected" or line:find "should" then return "expected", (line:gsub("^I expected ", "")) end
  if line:find "^Then I " or line:find "^I %l+ed " or line:find "^I set " or line:find "^I chose " then
    return "step", (line:gsub("^Then ", ""):gsub("^I ", ""):gsub("^%l", string.upper))
  end
  return "actual", line
end

local function sorted_notes(text)
  local notes = { feeling = {}, guess = {}, message = {}, version = {}, expected = {}, step = {}, actual = {} }
  for line in text:gmatch "[^\n]+" do
    local kind, content = kind_of(line)
    table.insert(notes[kind], content)
  end
  return notes
end

-- The section's line; if the notes do not cover it, as the instructions request: not stated, made up, or nothing.
local function section(asked, name, list, made_up)
  if #list > 0 then return name .. ": " .. table.concat(list, " ") end
  if asked.honest then return name .. ": not stated" end
  return asked.filled and name .. ": " .. made_up or nil
end

function standin.executor(messages)
  local asked = asked_for(messages[1].content)
  local notes = sorted_notes((messages[2].content:gsub("^The notes:\n+", "")))
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  if asked.friendly then add "Hello dear developers! We are terribly sorry to trouble you." end
  if asked.pity then add "It is really annoying for everybody here!" end
  if asked.title then add("Title: " .. (notes.actual[1] or "")) end
  if asked.steps then
    add "Steps:"
    for index, step in ipairs(notes.step) do add(("%d. %s"):format(index, step)) end
  end
  if asked.results then
    add(section(asked, "Expected", notes.expected, "it works"))
    add(section(asked, "Actual", notes.actual, "it does not work"))
  elseif not asked.title then add((notes.actual[1] or ""):lower()) end
  if asked.quotes then add(section(asked, "Message", notes.message, '"unknown error"'))
  elseif #notes.message > 0 then add "Some error is displayed." end
  if asked.version then add(section(asked, "Version", notes.version, "the newest one on Windows")) end
  if not asked.observed then
    for _, guess in ipairs(notes.guess) do add(guess) end
    if asked.cause then add "Presumably a race condition causes it." end
  end
  for _, feeling in ipairs(asked.calm and {} or notes.feeling) do add(feeling) end
  if not asked.sections then add "Thanks a lot for looking into this!" end
  return table.concat(lines, "\n")
end

-- ---- the judge ----

local SECTIONS = { Title = true, Steps = true, Expected = true, Actual = true, Message = true, Version = true }

-- The words of a line, cut to four letters so that "opened" is "open".
local function words_of(line)
  local words = {}
  for word in line:gsub("^(%u%l+):", function(name) return SECTIONS[name] and ""
    or nil end):lower():gmatch "[%w\128-\255]+" do
    words[#words + 1] = word:sub(1, 4)
  end
  return words
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    local words = words_of(line)
    if #words > 0 then lines[#lines + 1] = words end
  end
  return lines
end

-- The share of a line's words that occur in the other line with the most of them.
local function best_share(words, others)
  local best = 0
  for _, other in ipairs(others) do
    local known, found = {}, 0
    for _, word in ipairs(other) do known[word] = true end
    for _, word in ipairs(words) do found = found + (known[word] and 1 or 0) end
    best = math.max(best, found / #words)
  end
  return best
end

-- From 0 to 10, to one decimal: how much of the first lines is in the second.
local function covered(lines, others)
  local sum = 0
  for _, words in ipairs(lines) do sum = sum + best_share(words, others) end
  return math.floor(100 * sum / math.max(1, #lines) + 0.5) / 10
end

local function tone_of(report)
  local loud = 0
  for line in report:gmatch "[^\n]+" do
    if line:find "!" or line:find "%f[%a][Ss]orry" then loud = loud + 1 end
  end
  return math.max(0, 10 - 3 * loud)
end

function standin.judge(messages)
  local gold, report = messages[2].content:match "The reference:\n+`+\n(.-)\n`+\n+The report:\n+`+\n(.*)\n`+\n"
  local expected, written = lines_of(gold), lines_of(report)
  return json.encode { correctness = covered(written, expected), completeness = covered(expected, written),
    tone = tone_of(report),
    reason = "words were compared with words" }
end

return standin
