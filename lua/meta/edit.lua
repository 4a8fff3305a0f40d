---@meta apsis.edit
-- The edits in a model's answer, or why there are none. SEARCH/REPLACE blocks are those of aider and OpenEvolve, as
-- lines between the markers of a merge conflict; EVOLVE-BLOCK regions are OpenEvolve's. Refuses what is ambiguous.
-- Executes, reads and writes nothing; the time is linear in the answer.

local edit = {}

---@class apsis.edit.Options
---@field blocks? boolean true: only blocks were asked for: half of a file of 1,000 bytes is not its whole (EPART)
---@field whole? boolean false: a fence without a path is never taken for the whole of the one file; default true
---@field in_part? table<string, boolean> files of which only a part was shown: they are not taken whole (EPART)
---@field writable? fun(path: string): boolean whether a file that is not among `files` may be made; default: any may

--- The files an answer changes, as their new texts. It may contain:
---  - blocks: `<<<<<<< SEARCH`, lines, `=======`, lines, `>>>>>>> REPLACE` (5 to 9 signs, all of one length if the
--- lines contain markers), applied in order. The path is on the line before the block or before its fence (plain, in
--- backticks, bold, `### path`, `path:`), or after the fence's signs. Without one the block belongs to the only file,
--- or to the only one in which SEARCH is found. An empty SEARCH makes a new file. Compares whole lines: exactly, and
--- if that fails without trailing blanks; CRLF and LF are the same, and a file keeps its own. Never guesses
--- indentation.
---  - whole files in fences with a path; or, if there is one file, one fence without a path and no block. Ignores
--- other fences (commands, examples) and the contents of `<think>`.
--- Raises for wrong types and unknown options.
---
--- Codes: ENOEDIT: the answer has no edits (prose, a refusal). ENOMATCH: SEARCH is not in the file; the message has
--- the nearest line. EAMBIGUOUS: SEARCH is in more than one place, two files could be meant, or a file is given
--- twice. EMALFORMED: a block or fence that is cut off or lacks a part, a unified diff, more than 1,000 edits. EPATH:
--- a path that is absolute, has "..", or is no file that may be edited. ENOCHANGE: the edits equal the files.
--- EREGION: a change outside a file's EVOLVE-BLOCK regions. EPART: a whole file of which only a part was shown, one
--- that is less than half of it where blocks were asked for, or a line that only stands for text left out
--- (`# ... rest unchanged ...`) and is not in the file. Messages begin with the line of the answer and the path.
---
--- Outside EVOLVE-BLOCK regions a file keeps its own bytes: if an answer differs there only in line ends, trailing
--- blanks and blank lines at the end of the text, the file's are restored, so that edit.outside(old, new) is nil.
---@param answer string
---@param files table<string, string> the current texts of those that may be edited, by path
---@param options? apsis.edit.Options
---@return table<string, string>? edits whole new texts, by path; only those that differ
---@return string? message
---@return string? code
function edit.parse(answer, files, options) end

--- The answer without the thoughts that a model wrote before it (`<think>`, `<thinking>`, also without the opening
--- tag); all of it if they do not end.
---@param answer string
---@return string
function edit.without_thoughts(answer) end

--- A text with changes applied in order, each like a block. ENOMATCH, EAMBIGUOUS. Raises if a search has no line to
--- look for.
---@param text string
---@param changes {search: string, replace: string}[]
---@return string? text
---@return string? message
---@return string? code
function edit.apply(text, changes) end

--- Whether a text has EVOLVE-BLOCK regions: from a line that contains EVOLVE-BLOCK-START to the next one that
--- contains EVOLVE-BLOCK-END, or the end of the text. A line that contains both is prose.
---@param text string
---@return boolean
function edit.has_regions(text) end

--- nil if old has no regions, or if new has the same bytes outside them, including the marker lines and all line
--- ends. Else the first difference ("line 3: only its line end differs (CRLF instead of LF)"), and the number of its
--- line in old. Exception: an EVOLVE-BLOCK-START in an unterminated last line may get a line end and the contents of
--- its region.
---@param old string
---@param new string
---@return string? message
---@return integer? line
function edit.outside(old, new) end

--- Whether a text asks for whole files, in the words of edit.instructions.
---@param text string
---@return boolean
function edit.asks_for_files(text) end

--- Instructions for a model: the form of a block, its rules, and the paths it may edit. For the end of a prompt.
---@param paths string[]
---@return string
function edit.instructions(paths, form) end

--- A text in a fence longer than any in it, for a prompt. info follows the fence's signs.
---@param text string
---@param info? string
---@return string
function edit.fence(text, info) end

return edit
