-- scope: which of a candidate's changes may be committed. Owns the rules of the manifest's `files` and the names no
-- candidate may touch; sees only the list of changes, never the disk or git. Called by the live world.
local fs = require "apsis.fs"

local scope = {}

local Scope = {}
Scope.__index = Scope

local by_precedence = { "hidden", "read_only", "generated", "writable" }
local rank_of = { hidden = 1, read_only = 2, generated = 3, writable = 4 }
local unnamed = 5

local LONGEST = 200 -- bytes of a path that are shown

-- A name in one line: control characters and bytes that are not UTF-8 are escaped, the middle of a long one is left
-- out.
function scope.show(path)
  local shown = path:gsub("[%c\\]", function(char)
    if char == "\n" then return "\\n" elseif char == "\t" then return "\\t" elseif char == "\r" then return "\\r" end
    return char == "\\" and "\\\\" or ("\\x%02x"):format(char:byte())
  end)
  if #shown > LONGEST then shown = shown:sub(1, LONGEST // 2) .. "..." .. shown:sub(-LONGEST // 2) end
  if utf8.len(shown) then return shown end
  return (shown:gsub("[\128-\255]", function(char) return ("\\x%02x"):format(char:byte()) end))
end

local function normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return #parts > 0 and table.concat(parts, "/") or "**"
end

-- files: the manifest's list of {path, mode}. options: program, the path of the project's instructions (program.md);
-- elsewhere: apsis's own files are in another folder. A rule without wildcards (or `dir/**`) goes into `whole`, by
-- path: it covers that path and everything below it.
function scope.new(files, options)
  local program = normal((options or {}).program or "program.md")
  local self = setmetatable({ whole = {}, globs = {}, folders = {}, known = 0, program = program,
    own_top = not (options or {}).elsewhere }, Scope)
  for _, rule in ipairs(files) do
    local rank = rank_of[rule.mode]
    if not rank then error("no such mode: " .. tostring(rule.mode), 2) end
    local path = normal(rule.path)
    local folder = path:match("^([^*?[]+)/%*%*$") or path
    self.whole[folder] = math.min(rank, self.whole[folder] or unnamed)
    if folder:find("[*?[]") then self.globs[#self.globs + 1] = { glob = path, rank = rank } end
  end
  table.sort(self.globs, function(a, b) return a.rank < b.rank end)
  return self
end

-- The strongest rule for a folder or one above it; cached, because a folder has many files.
local function folder_rank(self, folder)
  local rank = self.folders[folder]
  if rank then return rank end
  local above = folder:match("^(.*)/[^/]*$")
  rank = math.min(self.whole[folder] or unnamed, above and folder_rank(self, above) or unnamed)
  if self.known >= 10000 then self.folders, self.known = {}, 0 end
  self.folders[folder], self.known = rank, self.known + 1
  return rank
end

-- "writable", "read_only" (the default), "generated" or "hidden", and whether a rule names the path.
function Scope:mode(path)
  local rank, folder = self.whole[path] or unnamed, path:match("^(.*)/[^/]*$")
  if folder then rank = math.min(rank, folder_rank(self, folder)) end
  for _, rule in ipairs(self.globs) do
    if rule.rank >= rank then break end
    if fs.glob_match(rule.glob, path) then rank = rule.rank end
  end
  return by_precedence[rank] or "read_only", rank < unnamed
end

-- The paths with this mode among a repository's entries ({path = , ...}, relative to its root) in the project at prefix
-- ("" or "sub/dir"), in their order.
function Scope:paths(entries, mode, prefix)
  local found = {}
  local start = scope.prefix(prefix)
  for _, entry in ipairs(entries) do
    if entry.path:sub(1, #start) == start and self:mode(entry.path:sub(#start + 1)) == mode then
      found[#found + 1] = entry.path
    end
  end
  return found
end

function Scope:hidden_paths(entries, prefix)
  return self:paths(entries, "hidden", prefix)
end

-- "" or "sub/dir/".
function scope.prefix(prefix)
  if not prefix or prefix == "" or prefix == "." then return "" end
  return prefix:sub(-1) == "/" and prefix or prefix .. "/"
end

-- `.git`, `.gitmodules`, ...: git reads them. Case is ignored, because some file systems ignore it; Windows parts names
-- at a backslash, too, and has short names for them.
local function is_git_name(path)
  for part in path:gmatch("[^/\\]+") do
    local lower = part:lower()
    if lower:sub(1, 4) == ".git" or lower:find "^git%l*~%d" or lower:find "^gi7%x*~%d" then return true end
  end
  return false
end

-- Whether a part of the path is "", "." or "..".
local function has_no_name(path)
  return ("/" .. path .. "/"):find("/%.?%.?/") ~= nil
end

-- Why a link at path (relative to the repository's root) may not have this target, else nil. ".." is only resolved as
-- text, so it may only come first: after a name it could climb from another link's target.
local function link_reason(path, target)
  if not target or target == "" then return "is a symlink whose target cannot be read" end
  local shown = scope.show(target)
  if target:sub(1, 1) == "/" then return ("is a symlink out of the tree (to %s)"):format(shown) end
  local depth, named = select(2, path:gsub("/", "")), false
  for part in target:gmatch("[^/]+") do
    if part == ".." then
      depth = depth - 1
      if depth < 0 then return ("is a symlink out of the tree (to %s)"):format(shown) end
      if named then return ("is a symlink whose target has '..' after a name (%s); write it without"):format(shown) end
    elseif part ~= "." then
      named, depth = true, depth + 1
    end
  end
  if is_git_name(target) then return ("is a symlink to git's own files (%s)"):format(shown) end
end

-- Why a change may not be committed though its path is writable, else nil.
local function content_reason(change, limit_mb)
  if change.kind == "deleted" then return nil end
  if change.mode == "120000" then return link_reason(change.path, change.target) end
  if change.mode ~= "100644" and change.mode ~= "100755" then
    return "is not a file (a pipe, socket, device or repository); only files and symlinks are committed"
  end
  if (change.size or 0) > limit_mb * 1024 * 1024 then
    return ("has %.1f MB, above max_file_mb: %g"):format(change.size / 1024 / 1024, limit_mb)
  end
end

local verbs = { added = "created", modified = "changed", deleted = "deleted", type = "replaced",
  mode = "given another mode" }

local own_folders = { logs = true, runs = true, [".apsis"] = true }

-- The files that define a repository's standing goals, and apsis's files on them.
local function is_goals(path)
  local below = path:match("^%.autoloop/(.*)$")
  if not below then return false end
  local rest = below:match("^programs/[^/]+/(.*)$")
  return below == "config.yaml" or below:find("^programs/[^/]+%.md$") ~= nil or below:find("^memory/") ~= nil
    or rest ~= nil and (rest == "program.md" or own_folders[rest:match("^[^/]*")] ~= nil)
end

-- "keep", "drop", or "violation" and a reason that continues the path's name.
local function verdict(self, change, path, options)
  local verb = verbs[change.kind] or "changed"
  local mode, named = self:mode(path)
  local hidden = change.hidden or mode == "hidden"
  if is_git_name(path) then
    if options.own_git and change.path == ".git" then return "drop" end
    return "violation", ("was %s; a candidate may not touch .git*"):format(verb)
  elseif path == "manifest.yaml" or path == self.program or is_goals(path) then
    return "violation", ("was %s; it defines the project and is never writable"):format(verb)
  elseif hidden then
    return "violation", ("was %s; it is hidden"):format(verb)
  elseif mode == "generated" then
    return "drop"
  elseif not named and change.kind == "added" and options.ignored and options.ignored(change.path) then
    return "drop"
  elseif self.own_top and own_folders[path:match("^[^/]*")] then
    return "violation", ("was %s; logs/, runs/ and .apsis/ are apsis's own"):format(verb)
  elseif mode ~= "writable" then
    local because = named and "it is read_only" or "no rule of the manifest's files names it, so it is read_only"
    return "violation", ("was %s; %s"):format(verb, because)
  elseif has_no_name(path) then
    return "violation", ("was %s; it is no path of a file inside the project"):format(verb)
  end
  local reason = content_reason(change, options.max_file_mb or 100)
  return reason and "violation" or "keep", reason
end

-- changes: {path (relative to the repository's root), kind = added|modified|deleted|type|mode, mode, size, target,
-- hidden}. options: prefix (the project in the repository, "" or "sub/dir"), max_file_mb (100), ignored(path) (does git
-- ignore this new path?), own_git (the workspace has apsis's throwaway .git). Returns the changes to commit, in their
-- order, and violations {path (in the project, shown), reason (a sentence)}. Generated paths, and new ignored ones
-- without a rule, are neither.
function Scope:judge(changes, options)
  options = options or {}
  local start = scope.prefix(options.prefix)
  local kept, violations = {}, {}
  for _, change in ipairs(changes) do
    local path, what, reason = change.path
    if path:sub(1, #start) == start then
      path = path:sub(#start + 1)
      what, reason = verdict(self, change, path, options)
    elseif change.kind == "added" and not is_git_name(path) and options.ignored and options.ignored(path) then
      what = "drop"
    elseif options.own_git and path == ".git" then
      what = "drop"
    else
      what, reason = "violation", ("was %s; it is outside the project"):format(verbs[change.kind] or "changed")
    end
    if what == "keep" then
      kept[#kept + 1] = change
    elseif what == "violation" then
      local shown = scope.show(path)
      violations[#violations + 1] = { path = shown, reason = ("%s %s"):format(shown, reason) }
    end
  end
  return kept, violations
end

-- One line for the journal's rollback_reason: the first few, and the count of the rest.
function scope.summary(violations, most)
  most = most or 3
  local texts = {}
  for index = 1, math.min(#violations, most) do texts[index] = violations[index].reason end
  local text = table.concat(texts, ". ")
  return #violations > most and ("%s. And %d more"):format(text, #violations - most) or text
end

return scope
