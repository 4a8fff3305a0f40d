-- tools: what an agent can call through MCP: each runs one command of apsis and makes a short text of what it printed,
-- which ends with what to do next. There is no tool that begins another run or takes a new baseline: a person does.
-- Called by mcp.
local child = require "apsis.drive.child"
local fs = require "apsis.fs"
local json = require "apsis.json"
local wait = require "apsis.wait"

local tools = {}

local LONGEST = 8000 -- bytes of a result
local LONGEST_ARGUMENT <const> = 100000 -- bytes: the system gives a program at most 131072 in one
local LARGEST_LOG <const> = 16 << 20 -- bytes
local READ_S <const> = 60 -- a call that only reads may take
local WAIT_S = 45 -- a call may take: many agents give up after 60 s

local GO_ON <const> = "call next for a proposal and a checkout; or change files and call submit"

local HELD <const> = "only a person can approve it: tell the user, and go on: " .. GO_ON

local nexts = {
  kept = "it is kept; " .. GO_ON,
  rejected = "read the reason and try something else: " .. GO_ON,
  refused = "fix what the reason names and call submit again; without id it counts as a new experiment",
  pending = 'call wait with {"id": "%s"}',
  given = 'change the files in its directory, then call submit with {"dir": "that directory"}',
  over = "stop here and report the best to the user, with status; only a person begins another run, by `apsis run` or "
    .. "`apsis submit --new-run`",
}

local function text(description) return { type = "string", description = description } end

local function cut(long, where)
  if #long <= LONGEST then return long end
  return ("%s\n[%d bytes left out%s]"):format(long:sub(1, (utf8.offset(long, 0, LONGEST) or LONGEST) - 1),
    #long - LONGEST, where and "; all of it: " .. where or "")
end

-- What a command complained of; its advice about uncommitted files and the like is left out.
local function complaint(result)
  local message = result.err:gsub("^apsis: ", "")
  return message:find "%S" and message or result.out
end

-- A tool that shows what a command prints.
local function shows(words_of, next_text)
  return function(call, args)
    local words, wrong = words_of(args)
    if not words then return nil, wrong end
    local result, message = call(words)
    if not result then return nil, message end
    if result.code ~= 0 then return nil, cut(complaint(result)) end
    return cut(result.out) .. "\nnext: " .. next_text
  end
end

local function given(words, option, value)
  if value == nil or value == "" then return end
  words[#words + 1] = ("--%s=%s"):format(option, tostring(value))
end

-- What became of a submission, by its id.
local function waited(call, id, timeout_s)
  local result, message = call { "wait", "--json", "--timeout=" .. math.min(timeout_s or WAIT_S, WAIT_S), id }
  if not result then return nil, message end
  local found = json.decode(result.out, true)
  if type(found) ~= "table" then return nil, cut(complaint(result)) end
  return ("%s\nnext: %s"):format(cut(found.text), found.held and HELD
    or nexts[found.unanswered and "given" or found.result]:format(found.id))
end

local function submit(call, args)
  local words = { "submit", "--no-wait", "--json" }
  for _, option in ipairs { "id", "parent", "title" } do given(words, option, args[option]) end
  for _, name in ipairs { "hypothesis", "learned", "next_action_hint" } do
    if args[name] then words[#words + 1] = ("--asi=%s=%s"):format(name, args[name]) end
  end
  words[#words + 1] = "--"
  words[#words + 1] = args.dir or "."
  local result, message = call(words)
  if not result then return nil, message end
  local found = json.decode(result.out, true)
  if type(found) ~= "table" then return nil, cut(complaint(result)) end
  return waited(call, found.id, args.wait_s)
end

local function next_task(call)
  local result, message = call { "next", "--json", "--timeout=" .. WAIT_S }
  if not result then return nil, message end
  local task = json.decode(result.out, true)
  if type(task) ~= "table" then return nil, cut(complaint(result)) end
  if not task.directory then return ("%s\nnext: %s"):format(task.text, nexts[task.result]:format(task.id)) end
  return ("experiment %s: %s from %s (%s), until %s\ndirectory: %s\n\n%s\n\nnext: change the files in directory, then "
    .. 'call submit with {"dir": "%s", "title": "what you changed"}'):format(task.id, task.operator,
    table.concat(task.parents, " and "), task.value or "no value", task.expires, task.directory,
    cut(task.prompt, task.prompt_file), task.directory)
end

-- The path of a text, in a folder of its own | nil, message.
local function in_file(bytes, folder)
  local ok, message = fs.write(folder .. "/text", bytes)
  return ok and folder .. "/text", message
end

-- The path of a log that can be read to its end | nil, message.
local function log_at(file, dir)
  local path = file:sub(1, 1) == "/" and file or dir .. "/" .. file
  local stat, message = fs.stat(path)
  if not stat then return nil, message end
  if stat.type ~= "file" then return nil, ("file: %s is not a regular file"):format(file) end
  if stat.size <= LARGEST_LOG then return path end
  return nil, ("file: %s has %d bytes, and at most %d are read: give its METRIC lines as text"):format(file, stat.size,
    LARGEST_LOG)
end

local function metrics(call, args, dir)
  if not args.text and not args.file then return nil, "give text, or file" end
  local folder, message = fs.tempdir "apsis-mcp-"
  if not folder then return nil, message end
  local _ <close> = setmetatable({}, { __close = function() fs.remove_tree(folder) end })
  local path, result
  if args.text then path, message = in_file(args.text, folder) else path, message = log_at(args.file, dir) end
  if not path then return nil, message end
  result, message = call { "metrics", "--json", "--file=" .. path }
  if not result then return nil, message end
  if result.code ~= 0 then return nil, cut(complaint(result)) end
  return cut(result.out) .. "\nnext: if the metric is there, call submit to have the change measured"
end

tools.list = {
  { name = "status", reads = true, description = "The state of the loop: metric, baseline, best, budget.",
    run = shows(function() return { "status" } end, GO_ON) },
  { name = "next",
    description = "Ask the strategy what to change next: a parent, a prompt, and a checkout to work in.",
    run = next_task },
  { name = "submit", description = "Have the changes in a folder measured and decided; waits up to 45 s.", run = submit,
    properties = { dir = text "the folder: a checkout of next, or a git checkout (default: the project)",
      title = text "what you changed, in one line",
      id = text "the experiment of next that this answers, if dir is another",
      parent = text "the candidate that you changed, such as c0007 (default: dir's HEAD)",
      hypothesis = text "why it might be better", learned = text "what it taught you",
      next_action_hint = text "what to try next",
      wait_s = { type = "number", description = "how long to wait for the result, at most 45" } } },
  { name = "wait", reads = true, description = "Wait up to 45 s for the result of what was submitted.",
    properties = { id = text "what submit returned, such as s0003, or c0007",
      timeout_s = { type = "number", description = "at most 45" } }, required = { "id" },
    run = function(call, args) return waited(call, args.id, args.timeout_s) end },
  { name = "log", reads = true, description = "The newest experiments, one a line.",
    properties = { count = { type = "integer", description = "how many (default 15)" } },
    run = shows(function(args) return { "log", ("-n%d"):format(args.count or 15) } end,
      "call show with an id for one of them") },
  { name = "show", reads = true, description = "Everything about one candidate.",
    properties = { id = text "c0007, best (default), current or baseline" },
    run = shows(function(args) return { "show", args.id or "best" } end, "call diff with the id for its patch") },
  { name = "diff", reads = true, description = "The patch of a candidate.",
    properties = { id = text "c0007 or best (default)", other = text "compare with this one instead of its parent" },
    run = shows(function(args) return { "diff", args.id or "best", args.other } end, GO_ON) },
  { name = "direct", description = "Leave a note that the next prompts carry.",
    properties = { message = text "the note" }, required = { "message" },
    run = shows(function(args) return { "direct", "--message=" .. args.message } end, GO_ON) },
  { name = "metrics", reads = true, description = "Read METRIC lines of a text or a log, as the verification would.",
    properties = { text = text "the text", file = text "or the path of a log" }, run = metrics,
    in_file = "text" },
}

tools.by_name = {}
for _, tool in ipairs(tools.list) do tools.by_name[tool.name] = tool end

-- What a client is shown of a tool.
function tools.shown(tool)
  return { name = tool.name, description = tool.description, annotations = { readOnlyHint = tool.reads or false,
    destructiveHint = false, openWorldHint = false },
    inputSchema = { type = "object", properties = tool.properties or {}, additionalProperties = false,
      required = tool.required and json.array(tool.required) or nil } }
end

local kinds <const> = { string = "string", number = "number", integer = "number" }
local in_words <const> = { string = "text", number = "number", integer = "whole number" }

-- What is wrong with a text that becomes an argument of a program; nil if nothing is.
local function problem_of_text(value)
  if value:find("\0", 1, true) then return "has a NUL character" end
  if #value > LONGEST_ARGUMENT then
    return ("has %d bytes, and may have at most %d"):format(#value, LONGEST_ARGUMENT)
  end
end

local function names_of(properties)
  local names = {}
  for name in pairs(properties or {}) do names[#names + 1] = name end
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "none"
end

-- What is wrong with a call's arguments; nil if nothing is.
function tools.problem(tool, args)
  for name, value in pairs(args) do
    local wanted = (tool.properties or {})[name]
    if not wanted then
      return ("%s has no argument %q; it has %s"):format(tool.name, name, names_of(tool.properties))
    end
    if type(value) ~= kinds[wanted.type] or wanted.type == "integer" and math.type(value) ~= "integer" then
      return ("%s: %s must be a %s"):format(tool.name, name, in_words[wanted.type])
    end
    local wrong = type(value) == "string" and name ~= tool.in_file and problem_of_text(value)
    if wrong then return ("%s: %s %s"):format(tool.name, name, wrong) end
  end
  for _, name in ipairs(tool.required or {}) do
    if args[name] == nil then return ("%s needs %s"):format(tool.name, name) end
  end
end

-- Calls a tool: its text | nil, what went wrong.
function tools.call(tool, args, dir, stop)
  local till = tool.reads and wait.now() + READ_S
  local function is_over() return stop() or till and wait.now() > till end
  local altered
  local made, message = tool.run(function(words)
    local result, wrong = child.run(words, dir, is_over)
    altered = altered or result and (result.err:match "apsis: (logs/%w+%.json[^\n]*)" -- the journal, or the state file
      or result.err:match "apsis: (refs/apsis/[^\n]*)" or result.err:match "apsis: (branch [^\n]*: somebody[^\n]*)")
    return result, wrong
  end, args, dir)
  if not made or not altered then return made, message end
  return ("warning: %s\n%s"):format(cut(altered), made)
end

return tools
