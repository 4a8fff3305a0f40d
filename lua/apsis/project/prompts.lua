-- prompts: a project's templates, prompts/NAME.md, read and checked before a run: invalid templates, unknown fields,
-- files that nothing reads. Returns the problems; prints nothing. Called by session, setup, strategies.
local contract = require "apsis.core.strategy"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local host = require "apsis.host"
local own_files = require "apsis.core.shipped"
local prompt = require "apsis.prompt"
local suggest = require "apsis.suggest"
local template = require "apsis.template"

local prompts = {}

local MOST_BYTES = 1048576

-- The fields needed in templates that ask for a change; two of them by a chat model only.
local needed = { { "directions", "`apsis direct` reaches no prompt of it" },
  { "answer", "the model does not learn how to answer", chat = true },
  { "parent_files", "the model does not see the files it is to change", chat = true } }
local asks = { mutation = true, crossover = true, migration = true }

-- The names of the shipped templates; README.md is none.
function prompts.shipped()
  local names = {}
  for _, file in ipairs(own_files.list "strategies/prompts/") do names[#names + 1] = file:match "([%l_]+)%.md$" end
  table.sort(names)
  return names
end

function prompts.source(name)
  return host.read("strategies/prompts/" .. name .. ".md")
end

-- The project's own templates by name.
function prompts.read(dir)
  local found = {}
  for _, file in ipairs(fs.list(dir .. "/prompts") or {}) do
    local name = file:match "^([%w_]+)%.md$"
    if name then found[name] = fs.read(dir .. "/prompts/" .. file, MOST_BYTES) end
  end
  return found
end

-- The files of the manifest's prompt.include as text, each under its path; and what is wrong with them, a list.
function prompts.included(dir, paths)
  local parts, errors, root = {}, {}, fs.realpath(dir)
  for _, path in ipairs(paths or {}) do
    local real = fs.realpath(dir .. "/" .. path)
    local text, message = nil, "leads out of the project"
    if not real then message = "there is no such file"
    elseif real:sub(1, #root + 1) == root .. "/" then text, message = fs.read(real, MOST_BYTES) end
    if text then parts[#parts + 1] = ("## %s\n\n%s"):format(path, editline.trim_end(text))
    else errors[#errors + 1] = ("prompt.include: %s: %s"):format(path, message) end
  end
  return table.concat(parts, "\n\n"), errors
end

-- The fields that templates may use under a strategy, nil if it does not declare them; and whether its prompt is the
-- library's, which reads no template.
local function fields_of(strategy)
  local names, told, untold = table.move(prompt.field_names, 1, #prompt.field_names, 1, {}), false, false
  local all, plain = { strategy.hooks }, contract.defaults().prompt
  for _, sub in ipairs(strategy.subs) do all[#all + 1] = sub.hooks end
  for _, hooks in ipairs(all) do
    local fields = hooks.fields
    if fields then table.move(fields, 1, #fields, #names + 1, names) end
    told, untold = told or fields ~= nil, untold or not fields and hooks.prompt ~= plain
  end
  return told and not untold and names or nil, not told and not untold
end

-- reads(name): whether the strategy uses that template; if it does not declare its fields, its source is searched.
local function reader_of(strategy, names)
  local shipped = {}
  for _, name in ipairs(prompts.shipped()) do shipped[name] = true end
  local source = strategy.name:find "%.lua$" and fs.read(strategy.where) or ""
  return function(name)
    return names and shipped[name] or source:find("[\"']" .. name .. "[\"']") ~= nil or source:find("[\"']" .. name
      .. "%.md[\"']") ~= nil
  end
end

-- What a template that asks for a change lacks. used: the fields of each template, by name; system.md goes before all.
local function lacking(warnings, name, used, reads_answers)
  for _, need in ipairs(asks[name] and needed or {}) do
    local field = need[1]
    if not used[name][field] and not (used.system or {})[field] and (reads_answers or not need.chat) then
      warnings[#warnings + 1] = ("prompts/%s.md has no {{%s}}: %s"):format(name, field, need[2])
    end
  end
end

-- Whether an unread file looks as if it were meant as a template.
local function unread(warnings, file, strategy, plain)
  local known = {}
  for index, name in ipairs(prompts.shipped()) do known[index] = name .. ".md" end
  local nearest = suggest.nearest(file, known)
  if not nearest then return end
  if nearest ~= file then
    warnings[#warnings + 1] = ("prompts/%s is not read; did you mean prompts/%s?"):format(file, nearest)
  elseif plain then
    warnings[#warnings + 1] = ("prompts/%s is not read: strategy %s asks with no template"):format(file, strategy.name)
  end
end

-- The project's templates under a loaded strategy: { errors, warnings, read = names }, each a list of texts.
-- reads_answers: from the provider's kind.
function prompts.check(dir, strategy, reads_answers)
  local found = { errors = {}, warnings = {}, read = {} }
  local names, plain = fields_of(strategy)
  local reads = reader_of(strategy, names)
  local files = fs.list(dir .. "/prompts") or {}
  table.sort(files)
  local used = {}
  for _, file in ipairs(files) do
    local name, shown = file:match "^([%w_]+)%.md$", "prompts/" .. file
    if name and reads(name) then
      local text, message = fs.read(dir .. "/" .. shown, MOST_BYTES)
      if text then used[name], message = template.check(text, names, shown) end
      if used[name] then
        found.read[#found.read + 1] = name
      else
        found.errors[#found.errors + 1] = message
      end
    else
      unread(found.warnings, file, strategy, plain)
    end
  end
  for _, name in ipairs(found.read) do lacking(found.warnings, name, used, reads_answers) end
  return found
end

return prompts
