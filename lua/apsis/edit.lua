-- edit: turns a model's answer into edits of files, or reports precisely why not: SEARCH/REPLACE blocks, whole files in
-- fences, EVOLVE-BLOCK regions. Refuses what is ambiguous; never guesses, executes nothing, reads only its arguments.
local editline = require "apsis.edit.line"
local editpath = require "apsis.edit.path"
local elision = require "apsis.edit.elision"
local evolve_block = require "apsis.edit.evolve_block"
local search_replace = require "apsis.edit.search_replace"
local suggest = require "apsis.suggest"
local thoughts = require "apsis.edit.thoughts"

local edit = { outside = evolve_block.outside, has_regions = evolve_block.has, fence = search_replace.fence,
  without_thoughts = thoughts.cut }

local is_blank, text_of = search_replace.is_blank, search_replace.text

-- The state of one parse: the given files and their sorted paths, texts being edited, new paths, how each path was
-- written.
local Parse = {}
Parse.__index = Parse

local function names(paths)
  if #paths == 0 then return "none" end
  return table.concat(paths, ", ", 1, math.min(#paths, 10)) .. (#paths > 10 and (" and %d more"):format(#paths - 10)
    or "")
end

-- "line 12 of the answer: a.lua: what"
local function refuse(piece, path, message, code)
  return nil, ("line %d of the answer: %s%s"):format(piece.line, path and path .. ": " or "", message), code
end

-- A text for a path that may not be among the files; nil, message, code.
function Parse:text(path)
  local text = self.texts[path]
  if not text and self.files[path] then
    text = text_of(self.files[path])
    self.texts[path] = text
  end
  return text
end

-- Why a new file may not be at path; nil if it may.
function Parse:creation_problem(path)
  for _, list in ipairs { self.paths, self.created } do
    for _, known in ipairs(list) do
      if path:sub(1, #known + 1) == known .. "/" then return ("%s is a file, not a folder"):format(known) end
      if known:sub(1, #path + 1) == path .. "/" then return "is a folder" end
    end
  end
  if self.options.writable and not self.options.writable(path) then
    return ("is no file that may be edited; those are: %s"):format(names(self.paths))
  end
end

function Parse:create(piece, path, lines)
  local problem = self:creation_problem(path)
  if problem then return refuse(piece, path, problem, "EPATH") end
  local text = text_of("")
  for index = 1, #lines do text.lines[index], text.ends[index] = lines[index], "\n" end
  self.texts[path] = text
  self.created[#self.created + 1] = path
  return true
end

-- The only file that a block without a path can mean; nil, message, code.
function Parse:path_of(block)
  if #self.paths == 1 then return self.paths[1] end
  local found
  for _, path in ipairs(self.paths) do
    local places = self:text(path):find(block.search)
    if #places > 0 then
      if found then
        return refuse(block, nil,
          ("SEARCH is in %s and in %s: write the path on the line before the block"):format(found, path), "EAMBIGUOUS")
      end
      found = path
    end
  end
  if found then return found end
  return refuse(block, nil,
    ("SEARCH is in none of the files (%s), and no path is given on the line before the block; it begins %s")
    :format(names(self.paths), editline.quote(block.search[1])), "ENOMATCH")
end

-- Resolves a path for a piece: it is valid, and is edited by blocks or given whole, once. true, or nil, message, code.
function Parse:claim(piece, path)
  local problem = editpath.problem(path)
  if problem then return refuse(piece, path, problem, "EPATH") end
  local before = self.kinds[path]
  if before and (before == "whole" or piece.kind == "whole") then
    return refuse(piece, path,
      "the answer gives this file whole and also edits it, or gives it twice: unclear which is meant", "EAMBIGUOUS")
  end
  self.kinds[path] = piece.kind
  return true
end

-- Whether lines that take the place of a file's, or become one, leave nothing out. true, or nil, message, code.
function Parse:complete(piece, path, lines)
  local line = elision.find(lines, (self:text(path) or text_of("")).lines)
  if not line then return true end
  return refuse(piece, path, ("%s stands for text that the answer leaves out, and would be taken for that text: "
    .. "write all of it, or change only some lines, with SEARCH/REPLACE blocks"):format(editline.quote(line)), "EPART")
end

function Parse:fill(block, path)
  local text = self:text(path)
  if not text then return self:create(block, path, block.replace) end
  if #text.lines > 0 then
    return refuse(block, path,
      "an empty SEARCH is for new files, and this one exists: put the lines to change into SEARCH", "EMALFORMED")
  end
  text:put(1, {}, block.replace)
  return true
end

function Parse:unknown(block, path)
  local meant = #path <= 100 and #self.paths <= 100 and suggest.sentence(path, self.paths) or ""
  return refuse(block, path, ("is no file that may be edited%s; those are: %s"):format(meant, names(self.paths)),
    "EPATH")
end

function Parse:block(block)
  local path, empty = block.path or #self.paths == 1 and self.paths[1], is_blank(block.search)
  local ok, message, code
  if not path and empty then
    return refuse(block, nil, "an empty SEARCH makes a new file: write its path on the line before the block", "EPATH")
  elseif not path then
    path, message, code = self:path_of(block)
    if not path then return nil, message, code end
  end
  ok, message, code = self:claim(block, path)
  if ok then ok, message, code = self:complete(block, path, block.replace) end
  if not ok then return nil, message, code end
  if empty then return self:fill(block, path) end
  local text = self:text(path)
  if not text then return self:unknown(block, path) end
  ok, message, code = text:replace(block.search, block.replace)
  if not ok then return refuse(block, path, message, code) end
  return true
end

local function is_diff(piece)
  local info = piece.info:lower():match("^%a*")
  if info == "diff" or info == "patch" then return true end
  local first = piece.lines[1] or ""
  return first:find("^diff %-%-git ") ~= nil or first:find("^%-%-%- ") ~= nil
    and (piece.lines[2] or ""):find("^%+%+%+ ") ~= nil
end

local NO_DIFFS = "this is a unified diff, which is not taken"

local function whole_problem(piece, path)
  if not piece.closed then return "the fence is cut off: it is not closed" end
  local ending = path:match("%.(%a+)$")
  if ending ~= "diff" and ending ~= "patch" and is_diff(piece) then return NO_DIFFS end
  if piece.bare_after and (ending == "md" or ending == "markdown") then
    return ("the fence may end here or beyond line %d: put the file into a fence longer than "
      .. "those in it"):format(piece.bare_after)
  end
end

local LONG <const> = 1000 -- bytes of a file that is rather given in part than shortened by half

-- A whole file. Its lines end as the file's own do, and so does the last.
function Parse:whole(piece)
  local path = piece.path
  local ok, message, code = self:claim(piece, path)
  if not ok then return nil, message, code end
  local problem = whole_problem(piece, path)
  if problem then return refuse(piece, path, problem, "EMALFORMED") end
  local text = self:text(path)
  if text and (self.options.in_part or {})[path] then
    return refuse(piece, path, "you were not shown the whole file, so it cannot be given whole: answer with "
      .. "SEARCH/REPLACE blocks", "EPART")
  end
  local before = text and self.options.blocks and #self.files[path] or 0
  if before >= LONG and 2 * #table.concat(piece.lines, "\n") < before then
    return refuse(piece, path, "as the whole file this would leave out more than half of it: change only some lines, "
      .. "with SEARCH/REPLACE blocks", "EPART")
  end
  ok, message, code = self:complete(piece, path, piece.lines)
  if not ok then return nil, message, code end
  if not text then return self:create(piece, path, piece.lines) end
  if is_blank(piece.lines) and #text.lines > 0 then return refuse(piece, path, "the fence is empty", "EMALFORMED") end
  text:put(1, text.lines, piece.lines)
  return true
end

-- The fence that gives the whole of the only file; nil, message, code.
function Parse:lone_fence(loose, answer, start)
  local fitting = {}
  for _, piece in ipairs(loose) do
    if is_diff(piece) then return refuse(piece, nil, NO_DIFFS, "EMALFORMED") end
    if #self.paths == 1 and editpath.fits(piece.info, self.paths[1]) then fitting[#fitting + 1] = piece end
  end
  if #fitting == 1 and self.options.whole ~= false then
    fitting[1].path = self.paths[1]
    return fitting[1]
  elseif #fitting > 1 and self.options.whole ~= false then
    return refuse(fitting[2], nil,
      ("a second code fence without a path: which is %s is not clear"):format(self.paths[1]), "EAMBIGUOUS")
  elseif #loose > 0 then
    return nil, ("the answer has no edit: its code fence at line %d has no path on the line before it "
      .. "(files: %s)"):format(loose[1].line, names(self.paths)), "ENOEDIT"
  end
  local first = editline.trim(answer:match("%S[^\n]*", start) or "")
  return nil, "the answer has no edit: " .. (first == "" and "it is empty"
    or "it has no SEARCH/REPLACE block and no file in a fence; it begins " .. editline.quote(first)), "ENOEDIT"
end

-- The texts that changed, by path; nil, message, code.
function Parse:results()
  local edits = {}
  for path, text in pairs(self.texts) do
    local old, new = self.files[path], text:whole()
    if new ~= old then edits[path] = new end
  end
  for _, path in ipairs(self.paths) do
    local old, new = self.files[path], edits[path]
    if new then
      local text, message = evolve_block.restored(old, new)
      if not text then
        return nil, ("%s: %s: give a whole file with the rest as it is"):format(path, message), "EREGION"
      end
      edits[path] = text ~= old and text or nil
    end
  end
  if next(edits) == nil then
    return nil, "the answer changes nothing: its edits equal the files as they are", "ENOCHANGE"
  end
  return edits
end

local known_options = { blocks = true, in_part = true, whole = true, writable = true }

local function checked(answer, files, options)
  if type(answer) ~= "string" then error("edit.parse: the answer must be a string, not a " .. type(answer), 3) end
  if type(files) ~= "table" then
    error("edit.parse: files must be a table of texts by path, not a " .. type(files), 3)
  end
  for key in pairs(options or {}) do
    if not known_options[key] then
      error(("edit.parse: unknown option %q; options: blocks, in_part, whole, writable"):format(tostring(key)), 3)
    end
  end
  local paths = {}
  for path, text in pairs(files) do
    if type(path) ~= "string" or type(text) ~= "string" then error("edit.parse: files must be texts by path", 3) end
    paths[#paths + 1] = path
  end
  table.sort(paths)
  return setmetatable({ files = files, paths = paths, created = {}, options = options or {}, texts = {}, kinds = {} },
    Parse)
end

function edit.parse(answer, files, options)
  local self = checked(answer, files, options)
  local pieces, loose, start = search_replace.read(answer, files)
  if not pieces then return nil, loose, "EMALFORMED" end
  for _, piece in ipairs(#pieces > 0 and loose or {}) do
    if piece.path and is_diff(piece) then return refuse(piece, piece.path, NO_DIFFS, "EMALFORMED") end
  end
  if #pieces == 0 then
    local lone, message, code = self:lone_fence(loose, answer, start)
    if not lone then return nil, message, code end
    pieces = { lone }
  end
  for _, piece in ipairs(pieces) do
    local ok, message, code = self[piece.kind](self, piece)
    if not ok then return nil, message, code end
  end
  return self:results()
end

-- changes: { { search =, replace = }... }, in order, as blocks of one file.
function edit.apply(text, changes)
  local edited = text_of(text)
  for index, change in ipairs(changes) do
    if type(change.search) ~= "string" or type(change.replace) ~= "string" then
      error(("edit.apply: changes[%d] must have search and replace, strings"):format(index), 2)
    end
    local search, replace = editline.split(change.search), editline.split(change.replace)
    if is_blank(search) then error(("edit.apply: changes[%d].search is empty"):format(index), 2) end
    local ok, message, code = edited:replace(search, replace)
    if not ok then return nil, ("change %d: %s"):format(index, message), code end
  end
  return edited:whole()
end

-- ---- how to answer ----

local in_blocks = [[
%s
<<<<<<< SEARCH
the lines to change, exactly as they are in the file
=======
the lines that take their place
>>>>>>> REPLACE

- SEARCH must be whole lines copied exactly, blanks and indentation included, and be in the file exactly once: add lines
  around it until it is.
- Several blocks are applied in order. An empty REPLACE deletes the lines.
- An empty SEARCH makes a new file at that path.
- Finish every block with its REPLACE line.]]

local as_whole = [[
%s
```
the whole file, from its first line to its last
```

- Leave nothing out: what is not in the fence will not be in the file.
- Around a file that has such a fence in it, use longer ones.
- A file that you do not give stays as it is; one that is not there yet is made.]]

local regions = [[
In a file with EVOLVE-BLOCK-START and EVOLVE-BLOCK-END lines, change only what is between them, not these lines.]]

local WHOLE <const> = "Answer with the whole new text of each file"

local forms = {
  diff = "Answer with one or more SEARCH/REPLACE blocks. Each begins with the path of its file on a line of its own:"
    .. "\n\n" .. in_blocks,
  rewrite = WHOLE .. " that you change, in a fence under its path:\n\n" .. as_whole,
  either = "Answer in one of two forms. To change a few lines, with SEARCH/REPLACE blocks, each under the path of its "
    .. "file:\n\n" .. in_blocks .. "\n\nTo rewrite a file, give its whole text in a fence under its path:\n\n"
    .. as_whole,
}

edit.forms = { "diff", "rewrite", "either" }

-- Whether a prompt asks for whole files, in the words of edit.instructions.
function edit.asks_for_files(text) return text:find(WHOLE, 1, true) ~= nil end

-- How to answer, for a model: as SEARCH/REPLACE blocks (diff, the default), as whole files (rewrite), or either.
function edit.instructions(paths, form)
  local path = paths[1] or "path/of/the/file"
  local how = forms[form or "diff"]:format(path, path) -- twice in "either"
  return ("%s\n- %s\n\nNothing else is applied. You may edit: %s.\n"):format(how, regions, names(paths))
end

return edit
