-- common: shared by the importers: which files are copied, YAML text, and the report on every setting. Reads the
-- imported directory; writes and runs nothing, knows no git.
local fs = require "apsis.fs"
local json = require "apsis.json"
local keys = require "apsis.import.keys"
local nearest = require "apsis.project.nearest"
local secrets = require "apsis.project.secrets"
local suggest = require "apsis.suggest"

local common = {}

common.max_mb = 200 -- total size, unless --max-mb is given
local MOST_FILES, DEEPEST = 20000, 32
local LONGEST_TEXT = 4 * 1024 * 1024 -- of a file that is read

common.ignored = { "/logs/", "/runs/", "/.apsis/" }

-- Not copied.
local caches = { [".git"] = true, [".hg"] = true, [".svn"] = true, __pycache__ = true, [".venv"] = true, venv = true,
  node_modules = true, [".mypy_cache"] = true, [".pytest_cache"] = true, [".ruff_cache"] = true,
  [".ipynb_checkpoints"] = true, [".tox"] = true, [".DS_Store"] = true, [".apsis"] = true }

function common.join(dir, name)
  return dir == "" and name or dir .. "/" .. name
end

-- A file's text; nil and a message that names the file.
function common.read_text(path)
  local text, cut = fs.read(path, LONGEST_TEXT)
  if not text then return nil, ("%s: cannot be read: %s"):format(nearest.escape(path), cut) end
  if cut then
    return nil, ("%s: is larger than %d MB, too large to read"):format(nearest.escape(path), LONGEST_TEXT // 2 ^ 20)
  end
  text = text:gsub("^\u{FEFF}", "")
  local ok, bad = utf8.len(text)
  if ok and not text:find("\0", 1, true) then return text end
  local at = ok and text:find("\0", 1, true) or bad
  local _, lines = text:sub(1, at):gsub("\n", "")
  return nil, ("%s:%d: is not UTF-8 text"):format(nearest.escape(path), lines + 1)
end

function common.is_file(path)
  local stat = fs.stat(path)
  return stat ~= nil and stat.type == "file"
end

function common.is_directory(path)
  local stat = fs.stat(path)
  return stat ~= nil and stat.type == "directory"
end

-- The place of a key in a decoded YAML file, "NAME:LINE".
function common.place(label, lines, table_, key)
  local known = lines and lines[table_]
  return ("%s:%d"):format(label, known and (known.keys[key] or known.at) or 1)
end

-- ---- files ----

-- Whether a path is in a directory once links are followed: a stranger's link may lead to a file of the user's.
function common.is_inside(root, path)
  local real, top = fs.realpath(path), fs.realpath(root)
  return real ~= nil and top ~= nil and real:sub(1, #top + 1) == top .. "/"
end

local Collection = {}
Collection.__index = Collection

function Collection:leave(path, why)
  self.left_out[#self.left_out + 1] = { path = path, why = why }
end

-- Follows a link to a regular file inside the directory; nil for any other.
local function resolved(self, full)
  local real = fs.realpath(full)
  local inside = real and real:sub(1, #self.root + 1) == self.root .. "/"
  local stat = inside and fs.stat(real)
  return stat and stat.type == "file" and stat or nil
end

-- The line with an API key in a file; nil if there is none.
function Collection:key_in(path, full)
  return keys.find_in_file(path, fs.read(full, LONGEST_TEXT) or "", self.literals)
end

function Collection:file(path, full, stat)
  if stat.type == "link" then
    stat = resolved(self, full)
    if not stat then return self:leave(path, "a link that leaves the directory or leads to a folder") end
  end
  if stat.type ~= "file" then return self:leave(path, "neither a file nor a folder") end
  if self.bytes + stat.size > self.limit then
    return self:leave(path, ("%.1f MB, over the total limit of %g MB (--max-mb); copy it by hand if it is needed")
      :format(stat.size / 2 ^ 20, self.limit / 2 ^ 20))
  end
  local line = self:key_in(path, full)
  if line then
    return self:leave(path, ("line %d looks like an API key; read it from the environment instead"):format(line))
  end
  if #self.files >= MOST_FILES then return self:leave(path, ("more than %d files"):format(MOST_FILES)) end
  self.bytes = self.bytes + stat.size
  -- 0111; 0755 or 0644
  self.files[#self.files + 1] = { path = path, from = full, mode = stat.mode & 73 ~= 0 and 493 or 420 }
end

function Collection:folder(dir, depth)
  local names, message = fs.list(self.root .. (dir == "" and "" or "/" .. dir))
  if not names then return self:leave(dir, message) end
  for _, name in ipairs(names) do
    local path = common.join(dir, name)
    local full = self.root .. "/" .. path
    local stat = fs.stat(full, { follow = false })
    local why = caches[name] or name:find("%.py[co]$") or full == self.into or not stat or self.skip
      and self.skip(path, name)
    why = why or name:find("^%.env") and "may hold secrets"
    if type(why) == "string" then self:leave(path, why)
    elseif why then goto next
    elseif stat.type ~= "directory" then self:file(path, full, stat)
    elseif depth >= DEEPEST then self:leave(path, ("deeper than %d folders"):format(DEEPEST))
    else self:folder(path, depth + 1) end
    ::next::
  end
end

-- The files below dir, in order: { {path, from, mode}... }, and those left out: { {path, why}... }. options: into (the
-- import's directory), max_mb, skip(path, name) -> why (shown) or true, literals (keys; files with one are left out).
function common.collect(dir, options)
  local root = fs.realpath(dir)
  local self = setmetatable({ root = root, into = options.into, skip = options.skip, literals = options.literals,
    files = {}, left_out = {}, bytes = 0, limit = math.floor((options.max_mb or common.max_mb) * 2 ^ 20) }, Collection)
  self:folder("", 1)
  return self.files, self.left_out
end

-- skip() for apsis's own files in a project; kept: names to copy all the same.
function common.own(kept)
  return function(path)
    if kept and kept[path] then return nil end
    if path == "logs" or path == "runs" then return "apsis uses that name" end
    if path == "manifest.yaml" or path == "program.md" then return "apsis uses that name" end
  end
end

-- The project's .gitignore: the directory's own and apsis's lines.
function common.gitignore(root)
  local path = root .. "/.gitignore"
  local text = common.is_inside(root, path) and fs.read(path, LONGEST_TEXT) or ""
  local present = {}
  for line in text:gmatch("[^\r\n]+") do present[line] = true end
  if text ~= "" and text:sub(-1) ~= "\n" then text = text .. "\n" end
  for _, line in ipairs(common.ignored) do
    if not present[line] then text = text .. line .. "\n" end
  end
  return { path = ".gitignore", text = text }
end

-- The files with `more` in place of those of the same path.
function common.replaced(files, more)
  local made, ours = {}, {}
  for _, file in ipairs(more) do ours[file.path] = true end
  for _, file in ipairs(files) do
    if not ours[file.path] then made[#made + 1] = file end
  end
  table.move(more, 1, #more, #made + 1, made)
  table.sort(made, function(a, b) return a.path < b.path end)
  return made
end

-- ---- YAML ----

-- A value in one line of YAML.
function common.scalar(value)
  if type(value) == "string" then
    local plain = value:find("^[A-Za-z_][%w_./-]*$") and not ({ ["true"] = 1, ["false"] = 1, null = 1 })[value:lower()]
    return plain and value or json.encode(value)
  end
  if type(value) ~= "table" or value == json.null then return json.encode(value) end
  local parts = {}
  if #value > 0 or next(value) == nil then
    for index, item in ipairs(value) do parts[index] = common.scalar(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for index, name in ipairs(suggest.names(value)) do
    parts[index] = common.scalar(name) .. ": " .. common.scalar(value[name])
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- {a: 1, b: 2} in the order of { {name, value}... }; without those whose value is nil.
function common.flow(fields)
  local parts = {}
  for _, field in ipairs(fields) do
    if field[2] ~= nil then parts[#parts + 1] = field[1] .. ": " .. common.scalar(field[2]) end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- A path as a rule of `files` that matches it alone.
function common.rule(path, mode)
  return ("  - {path: %s, mode: %s}"):format(common.scalar((path:gsub("[%[*?]", "[%0]"))), mode)
end

-- A name for a project from a directory's.
function common.name_of(dir)
  local real = fs.realpath(dir) or dir
  return (real:match("([^/]+)/*$") or "imported"):gsub("[%c\127]", "-")
end

-- ---- the provider asked for on the command line ----

-- The provider's lines that --base-url, --api-key-env and --model ask for; nil where --model was not given.
function common.chat_provider(options)
  if not options.model then return nil end
  local lines = { "provider:", "  kind: chat", "  base_url: "
    .. common.scalar(options.base_url or "https://api.openai.com/v1") }
  lines[#lines + 1] = "  api_key_env: " .. common.scalar(options.api_key_env or "OPENAI_API_KEY")
  lines[#lines + 1] = "  models: [" .. common.flow { { "name", options.model } } .. "]"
  return lines
end

-- ---- the report ----

local Report = {}
Report.__index = Report

-- The report on settings: report:add(state, key, about[, place]); states in the order of printing.
common.states = { "mapped", "other_meaning", "other_selection", "not_taken_over", "not_needed", "unknown" }

function common.report()
  return setmetatable({ entries = {}, notes = {} }, Report)
end

function Report:add(state, key, about, place)
  self.entries[#self.entries + 1] = { state = state, key = key, about = about, place = place }
end

-- Changes the report on a key; without a state the old one stays.
function Report:amend(key, about, state)
  for _, entry in ipairs(self.entries) do
    if entry.key == key then entry.about, entry.state = about, state or entry.state end
  end
end

function Report:note(format, ...)
  self.notes[#self.notes + 1] = select("#", ...) > 0 and format:format(...) or format
end

-- Reports an unknown key by name only, because its value may be a secret. hint: from nearest.hint.
function common.unknown(report, key, hint, place)
  report:add("unknown", key, hint == "" and "(its value is not shown)" or (hint:gsub("^[; ]+", "")), place)
end

-- A value as a report shows it: short, and without secrets.
function common.shown(key, value)
  if secrets.is_setting(key:match "[^.]*$", value) then return "(not shown)" end
  local ok, text = pcall(json.encode, value, { sorted = true })
  if not ok then return tostring(value) end -- a number that JSON has not
  if #text <= 120 then return text end
  return text:sub(1, 117):gsub("[\194-\244][\128-\191]*$", "") .. "..."
end

return common
