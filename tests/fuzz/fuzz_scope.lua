-- fuzz_scope: lines `MODE GLOB` (the manifest's rules), `prefix PATH`, and `KIND MODE PATH` with ` -> TARGET` for links (changes). The
-- globs and the strongest rule of each path as a plain reading of their documentation says; and what the judge keeps is writable,
-- below the prefix, of no name of git's, and no link out of the tree.
local fs = require "apsis.fs"
local scope = require "apsis.live.scope"

local ranks = { hidden = 1, read_only = 2, generated = 3, writable = 4 }

-- ---- fnmatch(3) with flags 0, once more ----

-- A set after its "[": whether it takes the byte, and where it ends; nil where its form is left to the C library.
local function set_at(pattern, at, byte)
  local negated = pattern:find("^[!^]", at)
  if negated then at = at + 1 end
  local form = pattern:find("^%]", at) and "^(%][^%]%[\\]*)%]()" or "^([^%]%[\\]+)%]()" -- a first "]" is one of the set
  local body, stop = pattern:match(form, at)
  if not body then return nil end
  local found, index = false, 1
  while index <= #body do
    local low, high = body:byte(index), body:byte(index)
    if body:byte(index + 1) == 45 and index + 2 <= #body then high, index = body:byte(index + 2), index + 2 end
    found = found or low <= byte and byte <= high
    index = index + 1
  end
  return found ~= (negated ~= nil), stop
end

-- One element of a pattern that is no star: whether it takes the byte (nil: there is none), and where the next one begins.
local function element(pattern, at, byte)
  local char = pattern:sub(at, at)
  if char == "?" then return byte ~= nil, at + 1 end
  if char == "[" then
    local taken, stop = set_at(pattern, at + 1, byte or 0)
    if stop == nil then error(set_at, 0) end
    return byte ~= nil and taken, stop
  end
  if char == "\\" then
    at = at + 1
    if at > #pattern then return false, at end
  end
  return byte == pattern:byte(at), at + 1
end

local function matches(pattern, text)
  local at, place, star, again = 1, 1, nil, nil
  while place <= #text or at <= #pattern do
    local taken = pattern:sub(at, at) == "*"
    if taken then
      star, again, at = at + 1, place, at + 1
    elseif at <= #pattern then
      local stop
      taken, stop = element(pattern, at, text:byte(place))
      if taken then at, place = stop, place + 1 end
    end
    if not taken then
      if not star or again >= #text + 1 then return false end
      at, place, again = star, again + 1, again + 1
    end
  end
  return true
end

local function glob(pattern, path)
  local folder = pattern:match "^(.*)/%*%*$"
  if folder and (path == folder or path:sub(1, #folder + 1) == folder .. "/") then return true end
  return matches(pattern, path)
end

-- The glob's verdict where its form is a documented one; else the C library's.
local function check_glob(pattern, path)
  local said = fs.glob_match(pattern, path)
  local ok, own = pcall(glob, pattern, path)
  if not ok and own ~= set_at then error(own, 0) end
  assert(not ok or own == said, ("glob_match says %s of %q and %q"):format(said, pattern, path))
  return said
end

-- ---- the rules ----

local function normal(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return #parts > 0 and table.concat(parts, "/") or "**"
end

local function below(path, folder)
  return path == folder or path:sub(1, #folder + 1) == folder .. "/"
end

local function applies(rule, path)
  local folder = rule:match "^([^*?[]+)/%*%*$" or rule
  if below(path, folder) then return true end
  return folder:find "[*?[]" ~= nil and check_glob(rule, path)
end

local function mode_of(rules, path)
  local strongest
  for _, rule in ipairs(rules) do
    if (not strongest or ranks[rule.mode] < ranks[strongest]) and applies(normal(rule.path), path) then strongest = rule.mode end
  end
  return strongest or "read_only", strongest ~= nil
end

-- ---- what the judge keeps ----

local function check_name(path)
  for part in (path .. "/"):gmatch "([^/]*)/" do
    assert(part ~= "" and part ~= "." and part ~= "..", "a name that is none was let through")
    local lower = part:lower()
    assert(not lower:find "^%.git" and lower ~= "git~1", "a name of git's was let through")
  end
end

local function check_link(path, target)
  assert(target and target ~= "" and target:sub(1, 1) ~= "/", "a link to anywhere was let through")
  local depth = select(2, path:gsub("/", ""))
  for part in target:gmatch "[^/]+" do
    if part == ".." then depth = depth - 1 elseif part ~= "." then depth = depth + 1 end
    assert(depth >= 0, "a link out of the tree was let through")
    assert(not part:lower():find "^%.git" and part:lower() ~= "git~1", "a link to git's own files was let through")
  end
end

local regular = { ["100644"] = true, ["100755"] = true }

local function check_kept(self, change, prefix)
  check_name(change.path)
  assert(change.path:sub(1, #prefix) == prefix, "a path outside the project was let through")
  local path = change.path:sub(#prefix + 1)
  assert(self:mode(path) == "writable", "what is not writable was let through")
  assert(path ~= "manifest.yaml" and path ~= "program.md", "the project's definition was let through")
  if change.kind == "deleted" then return end
  if change.mode == "120000" then check_link(change.path, change.target)
  else assert(regular[change.mode] and change.size <= 1048576, "no small file was let through") end
end

local function check_violations(violations)
  for _, one in ipairs(violations) do
    assert(one.reason:sub(1, #one.path) == one.path and not one.reason:find "%c" and utf8.len(one.reason))
  end
  assert(type(scope.summary(violations)) == "string")
end

-- ---- an input ----

local function read_change(kind, mode, path)
  local change = { kind = kind, mode = mode, path = path, size = #path << (#path % 24) }
  local link, target = path:match "^(.-) %-> (.*)$"
  if link then change.path, change.target = link, target end
  return change
end

local MOST = 16 -- rules, and changes: each is compared with each
local kinds = { added = true, modified = true, deleted = true, type = true, mode = true }

local function read_input(bytes)
  local rules, changes, prefix = {}, {}, ""
  for line in bytes:gmatch "[^\n]+" do
    local word, rest = line:match "^([%a_]+) (.*)$"
    if #rules == MOST or #changes == MOST then break end
    if ranks[word] then rules[#rules + 1] = { mode = word, path = rest }
    elseif word == "prefix" then prefix = rest
    elseif kinds[word] and rest:find "^%d+ ." then changes[#changes + 1] = read_change(word, rest:match "^(%d+) (.*)$") end
  end
  return rules, changes, prefix
end

return function(bytes)
  if bytes:find("\0", 1, true) then return end -- no path has one
  local rules, changes, prefix = read_input(bytes)
  local self = scope.new(rules)
  for _, change in ipairs(changes) do
    local mode, named = mode_of(rules, change.path)
    local said, said_named = self:mode(change.path)
    assert(said == mode and said_named == named, "another rule is the strongest")
    for _, rule in ipairs(rules) do check_glob(rule.path, change.path) end
  end
  local options = { prefix = prefix, max_file_mb = 1, own_git = #changes % 2 == 0, ignored = function(path) return #path % 2 == 0 end }
  local kept, violations = self:judge(changes, options)
  assert(#kept + #violations <= #changes)
  for _, change in ipairs(kept) do check_kept(self, change, scope.prefix(prefix)) end
  check_violations(violations)
end
