---@meta apsis.hunks
-- Patches in git's unified format (git-diff's manual page, "Generating patch text with -p"), taken apart. Hunks are
-- applied and taken back at the lines they name and nowhere else, so that any of them can be left out of what one patch
-- made, whatever stays. Pure.

local hunks = {}

---@class apsis.hunks.Hunk
---@field old_start integer first line in the old text, from 1; where old_count is 0 the line after which it stands
---@field old_count integer
---@field new_start integer
---@field new_count integer
---The lines it replaces, context too, each with its own line end (CRLF kept; none at a text's end without one).
---@field old string[]
---@field new string[]
---@field added integer lines
---@field deleted integer lines
---@field section string what stands behind the second @@, "" for nothing
---@field text string as it is in the patch

---@class apsis.hunks.File
---@field path string the new name; of a deleted file the old one
---@field old_path? string of a renamed or copied file
---@field status "modified"|"added"|"deleted"|"renamed"|"copied" a file that becomes a link is one deleted and one added
---@field old_mode? string "100644"; nil if the patch does not say
---@field mode? string
---@field binary boolean
---@field head string the lines before the first hunk
---@field hunks apsis.hunks.Hunk[] in order; none of a binary file, a mere rename or change of mode, or an empty file

--- The files of a patch, in its order; none of an empty one. Names that git quotes are unquoted. Raises if it is no
--- string. EMALFORMED: text before the first `diff --git`, a hunk that does not have the lines its head promises; the
--- message has the line.
---@param patch string
---@return apsis.hunks.File[]? files
---@return string? message
---@return string? code
function hunks.parse(patch) end

--- The old text with some of the hunks that lead from it. ENOMATCH: a hunk's old lines do not stand where it says, or
--- two overlap.
---@param text string
---@param list apsis.hunks.Hunk[] of one file, in any order
---@return string? text
---@return string? message
---@return string? code
function hunks.apply(text, list) end

--- The new text without some of the hunks that led to it; the others may be there. ENOMATCH as in apply.
---@param text string
---@param list apsis.hunks.Hunk[] of one file, in any order
---@return string? text
---@return string? message
---@return string? code
function hunks.revert(text, list) end

return hunks
