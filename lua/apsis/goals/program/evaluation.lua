-- evaluation: parses a program's section Evaluation: the command, the metric's name, and how to read its value from the
-- output. Only reads text; builds a regular expression, never runs it. Called by file.lua.
local editline = require "apsis.edit.line"
local json = require "apsis.json"
local nearest = require "apsis.project.nearest"

local evaluation = {}

local shells = { [""] = "sh", sh = "sh", shell = "sh", console = "sh", ["shell-session"] = "sh", text = "sh",
  txt = "sh", plaintext = "sh", posix = "sh", bash = "bash", zsh = "zsh" }

local function is_json(fence)
  if fence.language:find("^json") then return true end
  return fence.text:find("^%s*{") ~= nil and type(json.decode(fence.text, true)) == "table"
end

-- Whether a block shows output (only METRIC lines), not a command.
local function is_output(fence)
  local any = false
  for line in fence.text:gmatch("[^\n]+") do
    if line:find("%S") and not line:find("^%s*METRIC%s") then return false end
    any = any or line:find("%S") ~= nil
  end
  return any
end

-- The name in { "NAME": 1 }, also over several lines; or in METRIC NAME=1.
local function name_in(text)
  return text:match('^%s*{%s*"([^"\n]+)"%s*:') or text:match("^%s*METRIC%s+([^%s=]+)=")
end

local trim = editline.trim

local function named(word)
  return name_in(word) or trim(word)
end

-- The metric's name: "The metric is `NAME`", else the first name in backquotes after the word, else the JSON's.
local function metric_name(said, shown)
  for _, pattern in ipairs { "%f[%w][Mm]etric[*_]* is[^`\n]-`([^`\n]+)`", "%f[%w][Mm]etric[*_]*:[^`\n]-`([^`\n]+)`",
    "%f[%w][Mm]etric[^`\n]-`([^`\n]+)`" } do
    local word = said:match(pattern)
    if word and word:find("%S") then return named(word) end
  end
  return shown and shown:match('"([^"\n]+)"%s*:') or said:match('`%s*{%s*"([^"\n]+)"%s*:')
    or said:match("`METRIC%s+([^%s=`]+)=")
end

-- How to read the value: from a JSON file that the prose names after the metric; else from a METRIC line or, without
-- one, from JSON on stdout. The prose may mention both, so it does not decide.
function evaluation.extractor(name, said)
  local quoted = "`" .. name:gsub("%p", "%%%0") .. "`"
  local path = said:match(quoted .. "%s+[fi][rn]o?m?%s+`([^`%s]+%.json)`")
  if path then
    return { type = "json_file", path = path, json_pointer = "/" .. name:gsub("~", "~0"):gsub("/", "~1"):gsub("%.",
      "/") }
  end
  return { type = "metric_lines", json = name }
end

-- The command of a block: text for sh -c, or for the shell that the block names.
local function command_of(fence)
  local shell = shells[fence.language]
  if not shell then
    local what = nearest.show(fence.language)
    return nil, ("is a block of %s, not a shell command; write a command that runs it, such as: python3 FILE"):format(
      what)
  end
  local text = trim(fence.text)
  if text:find("^[$%%>] ") then
    return nil, ("shows a prompt; write the command without '%s'"):format(text:sub(1, 2))
  end
  return shell == "sh" and text or { shell, "-c", text }, nil, text
end

-- Sorts the blocks: the command, the JSON, and further commands.
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

-- Parses the section (see project/prose.lua): { run, text, metric, extractor, number, unused }, where number is the
-- command's line and unused has those of further commands; and a list of { key, number, message } errors.
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
      message = "has no command between two lines of ```; write the measuring command there" }
  end
  for index, fence in ipairs(more) do made.unused[index] = fence.number end
  made.metric = metric_name(said, shown)
  if not made.metric then
    wrong[#wrong + 1] = { key = "metric", number = section.number, message = "names no metric; write: The "
      .. "metric is `NAME`." }
  else
    made.extractor = evaluation.extractor(made.metric, said)
  end
  return made, wrong
end

return evaluation
