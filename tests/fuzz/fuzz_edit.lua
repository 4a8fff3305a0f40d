-- fuzz_edit: files under lines `@@@ PATH` and a model's answer under `@@@` (an input without them is an answer about two files of ours).
-- Whatever it is, edit.parse gives texts of files that may be edited or refuses with a documented code; regions hold; a block is
-- applied as a plain search through the lines says.
local edit = require "apsis.edit"
local editline = require "apsis.edit.line"
local search_replace = require "apsis.edit.search_replace"

local codes = { ENOEDIT = true, ENOMATCH = true, EAMBIGUOUS = true, EMALFORMED = true, EPATH = true, ENOCHANGE = true, EREGION = true }
local ours = { ["src/a.lua"] = "local a = 1\n\n-- EVOLVE-BLOCK-START\nreturn a\n-- EVOLVE-BLOCK-END\nprint(a)\n",
  ["notes.txt"] = "one\r\ntwo\r\nthree" }

local function read_input(bytes)
  local files, path, rest = {}, bytes:match "^@@@ ([^\n]*)\n(.*)$"
  while path do
    local text, next_path, after = rest:match "^(.-)@@@ ?([^\n]*)\n(.*)$"
    if not text or path:find "%c" then return ours, bytes end
    files[path] = text
    if next_path == "" then return files, after end
    path, rest = next_path, after
  end
  return ours, bytes
end

local function check_new_path(path)
  assert(path ~= "" and not path:find "%c" and path:sub(1, 1) ~= "/", "a path that is none")
  for part in path:gmatch "[^/]*" do assert(part ~= ".." and part ~= "." and part ~= "", "a path that is not normal") end
end

local function check_edits(edits, files, may_make)
  assert(next(edits) ~= nil)
  for path, text in pairs(edits) do
    local old = files[path]
    assert(type(text) == "string" and text ~= old)
    if old then
      assert(edit.outside(old, text) == nil, "a change outside the regions")
    else
      check_new_path(path)
      assert(may_make(path), "a file that may not be made")
    end
  end
end

local function check_parse(answer, files, may_make)
  local edits, message, code = edit.parse(answer, files, { writable = may_make })
  if edits then
    check_edits(edits, files, may_make)
  else
    assert(codes[code] and type(message) == "string" and message ~= "" and not message:find "[%z\n]", "a refusal without a reason")
  end
  return edits
end

-- Where wanted stands in lines, the slow way.
local function places_of(lines, wanted, form)
  local places = {}
  for at = 1, #lines - #wanted + 1 do
    local same = true
    for index = 1, #wanted do same = same and form(lines[at + index - 1]) == form(wanted[index]) end
    if same then places[#places + 1] = at end
  end
  return places
end

local function as_it_is(line) return line end
local function without_blanks(line) return (line:reverse():gsub("^[ \t\r]+", ""):reverse()) end

-- One block applied by edit.apply and by hand: the same lines, or the same refusal.
local function check_block(text, search, replace)
  local lines = editline.split(text)
  local places = places_of(lines, search, as_it_is)
  if #places == 0 then places = places_of(lines, search, without_blanks) end
  local function whole(list) return table.concat(list, "\n") .. "\n" end
  local new, _, code = edit.apply(text, { { search = whole(search), replace = #replace > 0 and whole(replace) or "" } })
  if #places ~= 1 then
    assert(new == nil and code == (#places == 0 and "ENOMATCH" or "EAMBIGUOUS"), "another refusal than expected")
    return
  end
  assert(new, "a block that is there once is refused")
  local made, at = editline.split(new), places[1]
  local is_last = at + #search - 1 == #lines and text:sub(-1) ~= "\n" -- whose end is no newline: then an empty line there is none
  assert(#made == #lines - #search + #replace - (is_last and replace[#replace] == "" and 1 or 0))
  for index = 1, #made do
    local expected = index < at and lines[index] or replace[index - at + 1] or lines[index - #replace + #search]
    assert(made[index] == expected or without_blanks(made[index]) == without_blanks(expected), "a line that was not meant")
  end
end

-- A file that is searched whole, and put back, is what it was.
local function check_identity(text)
  if not text:find "%S" then return end
  assert(edit.apply(text, { { search = text, replace = text } }) == text)
  local changes = { { search = text, replace = "x\n" .. text } }
  assert(editline.split(assert(edit.apply(text, changes)))[1] == "x")
end

return function(bytes)
  local files, answer = read_input(bytes)
  local before = {}
  for path, text in pairs(files) do before[path] = text end
  check_parse(answer, files, function() return true end)
  local strict = check_parse(answer, files, function() return false end)
  for path in pairs(strict or {}) do assert(files[path], "a file that was not given") end
  local pieces = search_replace.read(answer, files)
  for index, piece in ipairs(pieces or {}) do
    if piece.kind == "block" and index <= 4 and table.concat(piece.search):find "%S" then
      for _, text in pairs(files) do check_block(text, piece.search, piece.replace) end
    end
  end
  for path, text in pairs(files) do
    check_identity(text)
    assert(edit.outside(text, text) == nil and before[path] == text)
    edit.outside(text, answer)
    assert(edit.fence(text, path):find(text, 1, true))
  end
end
