-- find: the programs of a repository: folders and Markdown files of .autoloop/programs, and manifests with `program:
-- NAME`; and whether each could run. Reads files, writes none; knows no schedule and no git.
local autoloop = require "apsis.goals.program.file"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local ref = require "apsis.project.ref"
local schema = require "apsis.goals.schema"

local programs = {}

local join = autoloop.join

local function kind_of(path, follow)
  local stat = fs.stat(path, { follow = follow })
  return stat and stat.type
end

local function is_file(path)
  return kind_of(path) == "file"
end

local function above(path)
  local dir = path:match("^(.*)/[^/]*$")
  return dir == "" and path ~= "/" and "/" or dir
end

-- The directory at or above dir that has `.autoloop`; nil if none has, or dir does not exist.
function programs.root(dir)
  local here = fs.realpath(dir)
  while here and here ~= "" do
    if kind_of(join(here, ".autoloop")) == "directory" then return here end
    if here == "/" then return nil end
    here = above(here)
  end
end

-- The value of a manifest's `program`, if readable, and its line.
local function said_program(path)
  local bytes = fs.read(path, manifest.max_bytes)
  if not bytes then return nil end
  local value, lines = manifest.decode(bytes, path)
  if type(value) == "table" then
    local text = value.program
    return type(text) == "string" and text or nil, lines[value] and lines[value].keys.program or 1
  end
  -- also in a broken manifest, so that it is reported
  local at, _, text = ("\n" .. bytes):find("\nprogram:[ \t]+[\"']?([^%s\"'#]+)")
  return text, at and select(2, bytes:sub(1, at - 1):gsub("\n", "")) + 1
end

-- The program name in the manifest at path, and its line; nil for an ordinary project.
function programs.name_of(path)
  local text, line = said_program(path)
  text = text and editline.trim(text)
  if not text or text == "" or schema.is_prose(text, above(path) or ".") then return nil end
  return text, line
end

-- Why the program of the manifest at path, or its prose, is not filled in: "FILE:LINE: ..."; nil if it is, or if the
-- manifest is an ordinary project's.
function programs.unfilled(path)
  if not programs.name_of(path) then return nil end
  for _, file in ipairs { path, join(above(path) or ".", "program.md") } do
    local bytes = is_file(file) and fs.read(file, manifest.max_bytes)
    local reason = bytes and autoloop.unfilled(bytes, manifest.display(file))
    if reason then return reason end
  end
end

-- The program file for path: the file itself, or that of its folder .autoloop/programs/NAME; nil if there is none, or
-- if a manifest.yaml is the program there.
function programs.at(path)
  local real = fs.realpath(path)
  if not real then -- NAME, where there is only NAME.md
    local dir = fs.realpath(above(path) or ".")
    real = dir and join(dir, path:match("[^/]*$"))
  end
  local root, rest = autoloop.split(real or "")
  if not root then return nil end
  local name = rest:match("^[^/]+")
  local folder = join(join(root, autoloop.folder), name)
  if rest == name and name:find("%.md$") and kind_of(folder) ~= "directory" then
    return autoloop.is_program(name) and kind_of(folder) and folder or nil
  end
  if real:match("[^/]*$") == "manifest.yaml" and kind_of(real) == "file" then return nil end
  if programs.name_of(folder .. "/manifest.yaml") == name then return nil end
  if kind_of(folder .. "/program.md", false) then return folder .. "/program.md" end
  return autoloop.is_program(name .. ".md") and kind_of(folder .. ".md", false) and folder .. ".md" or nil
end

-- The file of the program with that name in .autoloop/programs of root: a program file, or a manifest.yaml in its
-- folder; nil if there is none, or root is nil.
function programs.named(root, name)
  if not root or not ref.fits(name) then return nil end
  local folder = join(join(root, autoloop.folder), name)
  return programs.at(folder) or programs.name_of(folder .. "/manifest.yaml") == name and folder .. "/manifest.yaml"
    or nil
end

-- All names that programs.named finds, sorted.
function programs.names(root)
  local names, seen = {}, {}
  for _, entry in ipairs(root and fs.list(join(root, autoloop.folder)) or {}) do
    local name = entry:match("^(.*)%.md$") or entry
    if not seen[name] and programs.named(root, name) then seen[name], names[#names + 1] = true, name end
  end
  table.sort(names)
  return names
end

-- Their files, of the root at or above dir.
function programs.files(dir)
  local root, paths = programs.root(dir), {}
  for index, name in ipairs(programs.names(root)) do paths[index] = programs.named(root, name) end
  return paths
end

local function relative(root, path)
  local start = root == "/" and "/" or root .. "/"
  return path:sub(1, #start) == start and path:sub(#start + 1) or path
end

-- The program files of root, as { name, path, kind }; and an error if the folder cannot be read.
local function program_files(root)
  local dir, found = join(root, autoloop.folder), {}
  local names, message, code = fs.list(dir)
  if names and fs.realpath(dir) ~= dir then
    return found, (
      "%s: is in or behind a symbolic link, which apsis does not follow: put the folder itself there"):format(
      nearest.escape(dir))
  elseif not names then
    local remedy = code == "ENOTDIR" and "; it must be a folder with programs" or ""
    return found, code ~= "ENOENT" and ("%s: cannot be read: %s%s"):format(manifest.display(dir), message, remedy)
      or nil
  end
  for _, name in ipairs(names) do
    local path = join(dir, name)
    if name:sub(1, 1) == "." then goto next end
    if kind_of(path) == "directory" then
      if kind_of(path .. "/program.md", false) then
        local link = kind_of(path, false) == "link" and path
        found[#found + 1] = { name = name, path = path .. "/program.md", kind = "folder", link = link }
      end
    elseif autoloop.is_program(name) then
      found[#found + 1] = { name = name:gsub("%.md$", ""), path = path, kind = "file" }
    end
    ::next::
  end
  return found
end

-- Removes the program file of a folder in which a manifest of the same name is the program.
local function without_prose(found, dir, name)
  for index, one in ipairs(found) do
    if one.kind == "folder" and one.name == name and above(one.path) == dir then return table.remove(found, index) end
  end
end

local function add_manifests(found, paths, root)
  local seen = {}
  for _, given in ipairs(paths) do
    local path = fs.realpath(given) or given
    local name, line = programs.name_of(path)
    if name and not seen[path] then
      seen[path] = true
      if above(path) == join(join(root, autoloop.folder), name) then without_prose(found, above(path), name) end
      found[#found + 1] = { name = name, path = path, kind = "manifest", line = line }
    end
  end
end

local function judge(one, load)
  one.warnings = {}
  if one.link or kind_of(one.path, false) == "link" then
    one.status, one.reason = "invalid", ("%s:1: program: %sis a symbolic link, which apsis does not follow: put the "
      .. "%s itself there"):format(nearest.escape(one.path), one.link and "its folder " or "", one.link and "folder"
      or "file")
    return
  end
  if one.kind ~= "manifest" then
    local layer = autoloop.layer(one.path)
    one.warnings = layer.warnings
    if layer.unconfigured then
      one.status, one.reason = "unconfigured", layer.unconfigured
      return
    end
  elseif not ref.fits(one.name) then
    one.status, one.reason = "invalid", ("%s:%d: program: %s"):format(manifest.display(one.path), one.line,
      autoloop.bad_name(one.name))
    return
  else
    one.reason = programs.unfilled(one.path)
    one.status = one.reason and "unconfigured"
    if one.reason then return end
  end
  local config, errors = load(one.path)
  one.config, one.status = config, config and "ready" or "invalid"
  if not config then one.reason, one.errors = errors[1], errors end
end

local function refuse_twins(found)
  local by_name = {}
  for _, one in ipairs(found) do
    by_name[one.name] = by_name[one.name] or {}
    table.insert(by_name[one.name], one)
  end
  for name, twins in pairs(by_name) do
    for _, one in ipairs(#twins > 1 and twins or {}) do
      local others = {}
      for _, other in ipairs(twins) do
        if other ~= one then others[#others + 1] = manifest.display(other.path) end
      end
      one.status, one.config, one.errors = "invalid", nil, nil
      one.reason = ("%s:%d: program: %s is also the name of %s; rename one of them"):format(manifest.display(one.path),
        one.line or 1, nearest.show(name), table.concat(others, " and "))
    end
  end
end

-- The programs of root, by name: { name, file (relative to root), path, kind = "folder"|"file"|"manifest", status =
-- "ready"|"unconfigured"|"invalid", reason, errors, warnings, config }; and an error if .autoloop/programs cannot be
-- read. manifests: absolute paths of manifest.yaml files; load: config.load.
function programs.list(root, manifests, load)
  root = fs.realpath(root) or root
  local found, message = program_files(root)
  add_manifests(found, manifests or {}, root)
  for _, one in ipairs(found) do
    one.file = relative(root, one.path)
    judge(one, load)
  end
  refuse_twins(found)
  table.sort(found, function(a, b)
    if a.name ~= b.name then return a.name < b.name end
    return a.file < b.file
  end)
  return found, message
end

return programs
