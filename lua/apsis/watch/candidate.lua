-- candidate: the screen of one candidate: what show prints of it, its patch, what its verification printed, what the
-- provider was asked and what it answered, each read when it is looked at.
local captured = require "apsis.cli.captured"
local fs = require "apsis.fs"
local show = require "apsis.cli.table"
local terminal = require "apsis.cli.terminal"

local candidate = {}

local Page = {}
Page.__index = Page

local MOST_BYTES <const> = 1048576 -- of a file that is shown

local function lines_of(text)
  local lines = {}
  for line in (show.escape(text):gsub("\n$", "") .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = (line:gsub("\t", "    "))
  end
  return lines
end

-- What the first of these files of its folder has in it that is there; or why none is.
local function file_text(self, ...)
  local dir = self.view.reader:run_dir(self.record)
  for _, name in ipairs { ... } do
    local text = fs.read(dir .. "/" .. name, MOST_BYTES)
    if text then return text end
  end
  return self.view.reader:removed(self.record) or ("no %s in %s"):format(table.concat({ ... }, ", "), dir)
end

local texts = {}

function texts.facts(self)
  return captured(require("apsis.cli.commands.show").run, { id = self.record.id, directory = self.view.dir })
end

-- The patch against the first parent.
function texts.diff(self)
  local record = self.record
  local parent = record.parents and record.parents[1] and self.view.history:get(record.parents[1])
  if not record.commit then return ("%s has no commit (%s)"):format(record.id, record.outcome) end
  if not parent or not parent.commit then return record.id .. " changed nothing: it is where the others start" end
  local repo <close>, message = self.view.reader:repository()
  if not repo then return message end
  local text, why = repo:diff(parent.commit, record.commit)
  return text or why
end

function texts.log(self)
  local gate = self.record.outcome == "reverted_gate_failure"
  return file_text(self, gate and "gate.log" or "verifier.log")
end

function texts.prompt(self) return file_text(self, "prompt.md", "prompt.json") end

function texts.answer(self) return file_text(self, "provider_output.md", "plan.md") end

local order = { "facts", "diff", "log", "prompt", "answer" }

-- first: what is shown at first; default "facts".
function candidate.new(view, record, first)
  local self = setmetatable({ view = view, record = record, name = record.id, tab = 1, read = {}, top = {} }, Page)
  for index, name in ipairs(order) do
    if name == first then self.tab = index end
  end
  return self
end

local function shown(self, width)
  local name = order[self.tab]
  if not self.read[name] or self.width ~= width then
    self.read[name] = lines_of(texts[name](self))
  end
  return self.read[name], name
end

function Page:rows(_, width, height)
  if self.width ~= width then self.read = {} end
  self.width = width
  local lines, name = shown(self, width)
  local tabs = { { self.record.id .. "  ", "bold" } }
  for index, tab in ipairs(order) do
    local chosen = index == self.tab
    tabs[#tabs + 1] = { chosen and "[" .. tab .. "]" or " " .. tab .. " ", chosen and "reverse" or nil }
  end
  self.height, self.most = height - 1, math.max(1, #lines - height + 2)
  local top = math.max(1, math.min(self.top[name] or 1, self.most))
  self.top[name] = top
  tabs[#tabs + 1] = { ("  line %d of %d"):format(math.min(#lines, top + height - 2), #lines), "dim" }
  local rows = { tabs }
  for at = top, math.min(#lines, top + height - 2) do
    rows[#rows + 1] = { { lines[at], name == "diff" and terminal.patch_colour(lines[at]) or nil } }
  end
  return rows
end

local steps = { up = -1, k = -1, down = 1, j = 1 }

function Page:key(key)
  local name = order[self.tab]
  local top, page = self.top[name] or 1, math.max(1, (self.height or 10) - 1)
  if key == "tab" or key == "right" or key == "l" then self.tab = self.tab % #order + 1
  elseif key == "backtab" or key == "left" or key == "h" then self.tab = (self.tab - 2) % #order + 1
  elseif steps[key] then self.top[name] = top + steps[key]
  elseif key == "pageup" then self.top[name] = top - page
  elseif key == "pagedown" or key == " " then self.top[name] = top + page
  elseif key == "home" or key == "g" then self.top[name] = 1
  elseif key == "end" or key == "G" then self.top[name] = self.most
  else return false end
  return true
end

return candidate
