---@meta apsis.hunks
-- Takes patches in git's unified format apart (git-diff's manual page, "Generating patch text with -p"). Hunks are
-- applied and reverted only at the lines they name, so any subset of a patch can be left out. Pure.

local hunks = {}

---@class apsis.hunks.Hunk
---@field old_start integer first line in the old text, from 1; if old_count is 0, the line it comes after
---@field old_count integer
---@field new_start integer
---@field new_count integer
---The lines it replaces, context too, each with its own line end (CRLF kept; none at a text's end without one).
---@field old string[]
---@field new string[]
---@field added integer lines
---@field deleted integer lines
---@field section string the text after the second @@, "" for nothing
---@field text string its text in the patch

---@class apsis.hunks.File
---@field path string the new name; of a deleted file the old one
---@field old_path? string of a renamed or copied file
---@field status "modified"|"added"|"deleted"|"renamed"|"copied" a file that becomes a link is one deleted and one added
---@field old_mode? string "100644"; nil if the patch does not say
---@field mode? string
---@field binary boolean
---@field head string the lines before the first hunk
---@field hunks apsis.hunks.Hunk[] in order; none for a binary file, a mere rename or change of mode, or an empty file

--- The files of a patch, in order; none for an empty one. Names that git quotes are unquoted. Raises if it is no
--- string. EMALFORMED: text before the first `diff --git`, a hunk whose lines do not match its header; the message
--- has the line.
---@param patch string
---@return apsis.hunks.File[]? files
---@return string? message
---@return string? code
function hunks.parse(patch) end

--- The old text with some of its hunks applied. ENOMATCH: a hunk's old lines are not at its place, or two overlap.
---@param text string
---@param list apsis.hunks.Hunk[] of one file, in any order
---@return string? text
---@return string? message
---@return string? code
function hunks.apply(text, list) end

--- The new text with some of its hunks reverted; the others may stay. ENOMATCH as in apply.
---@param text string
---@param list apsis.hunks.Hunk[] of one file, in any order
---@return string? text
---@return string? message
---@return string? code
function hunks.revert(text, list) end

return hunks
