-- evaluation: what a program's section Evaluation says: the command that measures, the metric's name, and how its value
-- is read from what the command prints. Only reads text; a regular expression is made, never run. Called by file.lua
-- and by the importer of the same name.
local json = require "apsis.json"
local nearest = require "apsis.project.nearest"

local evaluation = {}


local shells = { [""] = "sh", sh = "sh", shell = "sh", console = "sh", ["shell-session"] = "sh", text = "sh", txt = "sh", plaintext = "sh",
  posix = "sh", bash = "bash", zsh = "zsh" }

local function is_json(fence)
  if fence.language:find("^json") then return true end
  return fence.text:find("^%s*{") ~= nil and type(json.decode(fence.text, true)) == "table"
end

-- Whether a block shows what is printed, and no command: METRIC lines and nothing else.
local function is_output(fence)
  local any = false
  for line in fence.text:gmatch("[^\n]+") do
    if line:find("%S") and not line:find("^%s*METRIC%s") then return false end
    any = any or line:find("%S") ~= nil
  end
  return any
end

-- The name in { "NAME": 1 }, also of several lines; or in METRIC NAME=1.
local function name_in(text)
  return text:match('^%s*{%s*"([^"\n]+)"%s*:') or text:match("^%s*METRIC%s+([^%s=]+)=")
end

local function trim(text)
  local first = text:find("%S")
  return first and text:match(".*%S", first) or ""
end

local function named(word)
  return name_in(word) or trim(word)
end

-- The metric's name: "The metric is `NAME`", else the first name in backquotes behind the word, else the JSON's.
local function metric_name(said, shown)
  for _, pattern in ipairs { "%f[%w][Mm]etric[*_]* is[^`\n]-`([^`\n]+)`", "%f[%w][Mm]etric[*_]*:[^`\n]-`([^`\n]+)`",
    "%f[%w][Mm]etric[^`\n]-`([^`\n]+)`" } do
    local word = said:match(pattern)
    if word and word:find("%S") then return named(word) end
  end
  return shown and shown:match('"([^"\n]+)"%s*:') or said:match('`%s*{%s*"([^"\n]+)"%s*:') or said:match("`METRIC%s+([^%s=`]+)=")
end

-- How the value is read: a file of JSON that the prose names behind the metric; else a METRIC line, and where none
-- names the metric, the JSON on standard output: which of the two is printed is not guessed from the prose, for it may
-- speak of both.
function evaluation.extractor(name, said)
  local quoted = "`" .. name:gsub("%p", "%%%0") .. "`"
  local path = said:match(quoted .. "%s+[fi][rn]o?m?%s+`([^`%s]+%.json)`")
  if path then return { type = "json_file", path = path, json_pointer = "/" .. name:gsub("~", "~0"):gsub("/", "~1"):gsub("%.", "/") } end
  return { type = "metric_lines", json = name }
end

-- The command of a block: text for sh -c, or for the shell that the block names.
local function command_of(fence)
  local shell = shells[fence.language]
  if not shell then
    local what = nearest.show(fence.language)
    return nil, ("is a block of %s, not of a shell; write a command that runs it, such as: python3 FILE"):format(what)
  end
  local text = trim(fence.text)
  if text:find("^[$%%>] ") then return nil, ("shows a prompt; write the command without '%s'"):format(text:sub(1, 2)) end
  return shell == "sh" and text or { shell, "-c", text }, nil, text
end

-- Chooses among the blocks: the command's, the JSON's, and the lines of further commands.
local function sorted(fences)
  local command, shown, more = nil, nil, {}
  for _, fence in ipairs(fences) do
    if is_json(fence) then shown = shown or fence.text
    elseif not is_output(fence) and fence.text:find("%S") then
      if command then more[#more + 1] = fence else command = fence end
    end
  end
  return command, shown, more
end

-- What the section (as project/prose.lua gives it) says: { run, text, metric, extractor, number, unused }, number being
-- the command's line and unused those of further commands; and a list of { key, number, message } for what is wrong.
function evaluation.read(section)
  local said, wrong, made = section:text(), {}, { unused = {} }
  local command, shown, more = sorted(section:fences())
  made.number = command and command.number or section.number
  if command then
    local reason
    made.run, reason, made.text = command_of(command)
    if reason then wrong[#wrong + 1] = { key = "run", number = command.number, message = reason } end
  else
    wrong[1] = { key = "run", number = section.number,
      message = "holds no command between two lines of ```; write the command that measures there" }
  end
  for index, fence in ipairs(more) do made.unused[index] = fence.number end
  made.metric = metric_name(said, shown)
  if not made.metric then
    wrong[#wrong + 1] = { key = "metric", number = section.number, message = "names no metric; write: The metric is `NAME`." }
  else
    made.extractor = evaluation.extractor(made.metric, said)
  end
  return made, wrong
end

return evaluation
