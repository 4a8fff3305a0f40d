-- pieces: the difference of two commits as numbered pieces that can be reverted one by one: hunks of texts, else the
-- whole file (new, deleted, binary, link, rename, mode). Makes trees without some of them; sets no ref.
-- Called by the rooms compare and deliver.
local hunks = require "apsis.hunks"

local pieces = {}

local regular = { ["100644"] = true, ["100755"] = true }
local SUBMODULE = "160000"

local Pieces = {}
Pieces.__index = Pieces

-- What was at a path: { bytes, mode } or { id, mode }. nil, message.
local function entry_at(repo, rev, path, mode)
  if mode == SUBMODULE then
    for _, entry in ipairs(repo:entries(rev, path) or {}) do
      if entry.path == path then return { id = entry.id, mode = mode } end
    end
    return nil, path .. ": no such submodule"
  end
  local bytes, found = repo:read(rev, path)
  if not bytes then return nil, found end
  return { bytes = bytes, mode = found }
end

-- Whether a file's hunks can be reverted separately: both sides are text, and nothing else differs.
local function is_divisible(change, section, old, new)
  if not section or #section.hunks == 0 or not regular[change.old_mode] or not regular[change.mode] then
    return false
  end
  return old ~= nil and new ~= nil and hunks.revert(new, section.hunks) == old
end

local function kind_of(change, sections)
  if change.mode == SUBMODULE or change.old_mode == SUBMODULE then return "submodule" end
  if change.status == "type" then return "change of type" end
  local link = change.mode == "120000" or change.old_mode == "120000"
  if link then
    return change.status == "added" and "new link" or change.status == "deleted" and "deleted link" or "link"
  end
  local binary = sections[1] and sections[1].binary and "binary file" or "file"
  if change.status == "added" then return "new " .. binary end
  if change.status == "deleted" then return "deleted " .. binary end
  return change.status == "renamed" and "renamed " .. binary or binary
end

-- How many pieces a change has, and what each is.
local function add_divided(self, file)
  local change = file.change
  local function add(kind, more)
    more.kind, more.file, more.path, more.old_path = kind, file, change.path, change.old_path
    table.insert(self, more)
  end
  if change.status == "renamed" then
    add("rename", { text = ("rename from %s\nrename to %s\n"):format(change.old_path, change.path), added = 0,
      deleted = 0 })
  end
  if change.mode ~= change.old_mode then
    add("mode", { text = ("old mode %s\nnew mode %s\n"):format(change.old_mode, change.mode), added = 0, deleted = 0 })
  end
  for _, hunk in ipairs(file.divisible and file.section.hunks or {}) do
    add("text", { hunk = hunk, text = hunk.text, added = hunk.added, deleted = hunk.deleted })
  end
end

local function add_whole(self, file, sections)
  local change, texts = file.change, {}
  for _, section in ipairs(sections) do
    texts[#texts + 1] = section.head
    for _, hunk in ipairs(section.hunks) do texts[#texts + 1] = hunk.text end
  end
  table.insert(self, { kind = kind_of(change, sections), file = file, path = change.path, old_path = change.old_path,
    text = table.concat(texts), added = change.added, deleted = change.deleted })
end

-- Adds a change as a file of the list, with its pieces. true | nil, message.
local function add_change(self, change, sections)
  local file = { change = change, section = sections[1] }
  local message
  if change.status ~= "added" then
    file.old, message = entry_at(self.repo, self.from, change.old_path or change.path, change.old_mode)
    if not file.old then return nil, message end
  end
  local both = change.status == "modified" or change.status == "renamed"
  local new = both and regular[change.mode] and self.repo:read(self.to, change.path) or nil
  file.divisible = both and is_divisible(change, sections[1], file.old.bytes, new)
  -- only renamed or only another mode
  file.same_text = both and file.old.bytes == new and new ~= nil and regular[change.old_mode]
  file.new = new
  if file.divisible or file.same_text then add_divided(self, file) else add_whole(self, file, sections) end
  return true
end

-- If a file replaced a folder or the reverse, neither can come back without the other: their numbers go together.
local function join(self)
  local holder = {} -- [old or new path] = numbers
  for number, piece in ipairs(self) do
    for _, path in ipairs { piece.path, piece.old_path } do
      holder[path] = holder[path] or {}
      table.insert(holder[path], number)
    end
  end
  local root = {}
  for number in ipairs(self) do root[number] = number end
  local function find(number)
    while root[number] ~= number do number = root[number] end
    return number
  end
  for path, numbers in pairs(holder) do
    for folder in path:gmatch "()/" do
      for _, above in ipairs(holder[path:sub(1, folder - 1)] or {}) do
        for _, number in ipairs(numbers) do
          local a, b = find(above), find(number)
          root[math.max(a, b)] = math.min(a, b)
        end
      end
    end
  end
  self.groups = {}
  local place = {}
  for number in ipairs(self) do
    local first = find(number)
    if not place[first] then
      self.groups[#self.groups + 1] = {}
      place[first] = #self.groups
    end
    table.insert(self.groups[place[first]], number)
  end
end

-- of(repo, from, to) -> pieces: a list of { kind, path, old_path, text, added, deleted, hunk (of a text) }, with
-- groups: lists of numbers that only go together. nil, message if git cannot read it.
function pieces.of(repo, from, to)
  local changes, message = repo:changes(from, to)
  local patch, files
  if changes then patch, message = repo:diff(from, to, { context = 0 }) end -- keeps close changes separate
  if patch then files, message = hunks.parse(patch) end
  if not files then return nil, message end
  local sections = {}
  for _, file in ipairs(files) do
    sections[file.path] = sections[file.path] or {}
    table.insert(sections[file.path], file)
  end
  local self = setmetatable({ repo = repo, from = from, to = to }, Pieces)
  for _, change in ipairs(changes) do
    local ok
    ok, message = add_change(self, change, sections[change.path] or {})
    if not ok then return nil, message end
  end
  join(self)
  return self
end

-- A file without some of its pieces, as edits of the tree: { [path] = edit }.
local function edit_file(file, taken, edits)
  local change = file.change
  if not file.divisible and not file.same_text then
    edits[change.path] = file.old or false
    if change.old_path then edits[change.path], edits[change.old_path] = false, file.old end
    return true
  end
  local path, mode, gone = change.path, change.mode, {}
  for _, piece in ipairs(taken) do
    if piece.kind == "rename" then path = change.old_path
    elseif piece.kind == "mode" then mode = change.old_mode
    else gone[#gone + 1] = piece.hunk end
  end
  local bytes, message = hunks.revert(file.new, gone)
  if not bytes then return nil, message end
  if path ~= change.path then edits[change.path] = false end
  edits[path] = { bytes = bytes, mode = mode }
  return true
end

-- The tree of the newer commit without the pieces of these numbers. id | nil, message.
function Pieces:without(numbers)
  local by_file, order = {}, {}
  for _, number in ipairs(numbers) do
    local piece = self[number]
    if not by_file[piece.file] then
      by_file[piece.file] = {}
      order[#order + 1] = piece.file
    end
    table.insert(by_file[piece.file], piece)
  end
  local edits = {}
  for _, file in ipairs(order) do
    local ok, message = edit_file(file, by_file[file], edits)
    if not ok then return nil, ("%s: %s"):format(file.change.path, message) end
  end
  local gone, put = {}, {}
  for path, edit in pairs(edits) do
    if edit == false then gone[path] = false else put[path] = edit end
  end
  local tree, message = self.repo:edit_tree(self.to, gone) -- deletions first: a folder may replace a file
  if tree then tree, message = self.repo:edit_tree(tree, put) end
  return tree, message
end

-- The pieces for JSON.
function pieces.plain(list)
  local out = {}
  for number, piece in ipairs(list) do
    out[number] = { number = number, kind = piece.kind, path = piece.path, old_path = piece.old_path,
      added = piece.added, deleted = piece.deleted, text = piece.text }
  end
  return out
end

-- "hunk 2", "hunks 1, 3 and 4", "nothing".
function pieces.words(numbers)
  if #numbers == 0 then return "nothing" end
  if #numbers == 1 then return "hunk " .. numbers[1] end
  return ("hunks %s and %d"):format(table.concat(numbers, ", ", 1, #numbers - 1), numbers[#numbers])
end

-- A piece's name for people: "lua/a.lua @@ -1,3 +1,4 @@ name", "new file a.txt".
function pieces.title(piece)
  if piece.hunk then return ("%s %s"):format(piece.path, piece.hunk.text:match "^[^\r\n]*") end
  local old = piece.kind == "rename" and piece.old_path .. " to " or ""
  return ("%s %s%s"):format(piece.kind, old, piece.path)
end

-- Whether a text contains a file name as a whole word; then the line after it ("a.lua:12", "a.lua line 12"), or true. A
-- whole path may have folders before it.
local function stands_in(text, name, is_path)
  if not name:find "[./]" then return nil end -- else an ordinary word would match
  local from, stop = text:find(name, 1, true)
  while from do
    local before, after = text:sub(from - 1, from - 1), text:sub(stop + 1, stop + 2)
    if from == 1 then before = "" end
    local begins = not before:find "[%w_./-]" or is_path and before == "/"
    if begins and not after:find "^[%w_/-]" and not after:find "^%.%w" then
      return math.tointeger(tonumber(text:match("^:(%d+)", stop + 1) or text:match("^[\"')]?,? line (%d+)", stop + 1)))
        or true
    end
    from, stop = text:find(name, from + 1, true)
  end
end

local function named_in(text, path)
  return stands_in(text, path, true) or stands_in(text, path:match "[^/]+$", false)
end

local NEAR = 3 -- lines: an error may be reported at the next statement

-- How many lines a line of the newer text is from a hunk.
local function distance(hunk, line)
  return math.max(hunk.new_start - line, line - (hunk.new_start + math.max(hunk.new_count, 1) - 1), 0)
end

-- The numbers of the pieces whose files a text names; if it has a line number, only the nearest ones, if near.
local function named_by(self, text)
  local nearest, least, whole = {}, NEAR, {}
  for number, piece in ipairs(self) do
    local line = named_in(text, piece.path) or piece.old_path and named_in(text, piece.old_path)
    local far = line and line ~= true and piece.hunk and distance(piece.hunk, line) or math.huge
    if line then whole[number] = true end
    if far < least then nearest, least = {}, far end
    if far == least then nearest[number] = true end
  end
  return next(nearest) and nearest or whole
end

-- The numbers of the pieces that some texts name.
function Pieces:named(texts)
  local found, list = {}, {}
  for _, text in ipairs(texts) do
    for number in pairs(named_by(self, text)) do found[number] = true end
  end
  for number in pairs(found) do list[#list + 1] = number end
  table.sort(list)
  return list
end

return pieces
