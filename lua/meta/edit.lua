---@meta apsis.edit
-- Edits in the text a model answered, or why there are none. SEARCH/REPLACE blocks are the form that aider and
-- OpenEvolve know, as lines between the markers of a merge conflict; EVOLVE-BLOCK regions are OpenEvolve's. What is not
-- certain is refused. Nothing here executes, reads or writes anything but its arguments; the time is linear in the
-- answer.

local edit = {}

---@class apsis.edit.Options
---@field whole? boolean false: a fence without a path is never taken for the whole of the one file; default true
---@field writable? fun(path: string): boolean whether a file that is not among `files` may be made; default: any may

--- The files an answer changes, as their new texts. It may hold:
--- - blocks: `<<<<<<< SEARCH`, lines, `=======`, lines, `>>>>>>> REPLACE` (5 to 9 signs, all of one length where the
---   lines themselves hold markers), applied in order. The path stands on the line before the block or before its fence
---   (plain, in backticks, bold, `### path`, `path:`), or after the fence's signs. Without one the block belongs to the
---   only file, or to the only one in which SEARCH is found. An empty SEARCH makes a new file. Whole lines are
---   compared: exactly, and where that fails without the blanks at their ends; CRLF and LF are the same, and a file
---   keeps its own. Indentation is never guessed.
--- - whole files in fences with a path; or, if there is one file, one fence without a path and no block. Other
---   fences (commands, examples) are passed over, and so is what is inside `<think>`. Raises for wrong types and
---   unknown options.
---
--- Codes: ENOEDIT: nothing of the kind is in it (prose, a refusal). ENOMATCH: SEARCH is not in the file; the message
--- has the nearest line. EAMBIGUOUS: SEARCH is in more places than one, two files could be meant, or a file is given
--- twice. EMALFORMED: a block or fence that is cut off or lacks a part, a unified diff, more than 1,000 edits. EPATH: a
--- path that is absolute, has "..", or is no file that may be edited. ENOCHANGE: the edits equal the files. EREGION: a
--- change outside a file's EVOLVE-BLOCK regions. Messages begin with the line of the answer and the path.
---
--- Outside EVOLVE-BLOCK regions a file keeps its own bytes: where an answer differs from it there only in line ends, in
--- blanks at the ends of lines and in blank lines at the end of the text, the file's are put back, so that
--- edit.outside(old, new) is nil.
---@param answer string
---@param files table<string, string> the current texts of those that may be edited, by path
---@param options? apsis.edit.Options
---@return table<string, string>? edits whole new texts, by path; only those that differ
---@return string? message
---@return string? code
function edit.parse(answer, files, options) end

--- A text with changes applied in order, each as a block is. ENOMATCH, EAMBIGUOUS. Raises if a search has no line to
--- look for.
---@param text string
---@param changes {search: string, replace: string}[]
---@return string? text
---@return string? message
---@return string? code
function edit.apply(text, changes) end

--- Whether a text has EVOLVE-BLOCK regions: what is between a line that contains EVOLVE-BLOCK-START and the next one
--- that contains EVOLVE-BLOCK-END, or the end of the text. A line that contains both is prose.
---@param text string
---@return boolean
function edit.has_regions(text) end

--- nil if old has no regions, or where new has the same bytes outside of them, the marker lines and all line ends
--- included. Else what differs first ("line 3: only its line end differs (CRLF instead of LF)"), and the number of its
--- line in old. Only where EVOLVE-BLOCK-START is in the last line and this has no line end, it may get one, with what
--- the region then holds.
---@param old string
---@param new string
---@return string? message
---@return integer? line
function edit.outside(old, new) end

--- What tells a model how to answer: the form of a block, its rules, and the paths it may edit. For the end of a
--- prompt.
---@param paths string[]
---@return string
function edit.instructions(paths) end

--- A text in a fence longer than any in it, for a prompt. info follows the fence's signs.
---@param text string
---@param info? string
---@return string
function edit.fence(text, info) end

return edit
