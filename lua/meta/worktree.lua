---@meta apsis.worktree
---A directory that holds one tree: brought to a tree by difference, and read back.

local worktree = {}

---A working directory of our own: `dir` is made if missing (0700; not its parents), and everything in it is ours to remove.
---What was checked out is remembered in memory with lstat's answers, so that later calls read only what may have changed.
---@param repo apsis.git.Repo
---@param dir string
---@return apsis.Worktree? worktree
---@return string? message
---@return string? code
function worktree.open(repo, dir) end

---@class apsis.Worktree
local handle = {}

---Idempotent; also `local worktree <close>`. The directory stays.
function handle:close() end

---Makes the directory exactly that tree, minus hidden paths: files 0644 or 0755 and never hard links, directories 0755,
---symlinks, submodules as empty directories; everything else is removed, however odd or deep. Symlinks are never followed.
---After a failure (ENOENT: no such rev or a missing object; EPATH: a name or link no directory can hold) it may be called
---again; until it succeeds changes and write_tree return ESTATE. Raises when the repository's handle is closed.
---@param rev string commit or tree
---@param options? {hide?: string[]} exact paths left out; a directory's path leaves out all below it
---@return {written: integer, removed: integer}? done removed counts a directory that the tree lacks as 1
---@return string? message
---@return string? code
function handle:checkout(rev, options) end

---@class apsis.worktree.DiskChange
---@field path string
---@field kind "added"|"modified"|"deleted"|"type"|"mode"|"touched"
---@field mode? "100644"|"100755"|"120000"|"other" on disk; "other": a FIFO, socket, device or a `.git`; nil when deleted
---@field size integer bytes; of a symlink's target; 0 for others
---@field target? string a symlink's
---@field old_mode? string in the tree; nil when added
---@field hidden? true a hidden path that is there again

---From now on changes{touched = true} also finds what lies in a folder of the tree that was moved, whatever is there by then.
---EMFILE, ENOSPC: the user has no instances or watches of inotify left (fs.inotify.max_user_instances, max_user_watches).
---@return true? watched
---@return string? message
---@return string? code
function handle:watch() end

---What differs on disk from what was checked out, sorted by path; empty directories and a missing submodule do not count.
---A file become a directory is "deleted" and its contents "added"; a directory become a file the other way round. A `.git`,
---anywhere, in any case, is one "added" path with mode "other", not looked into. EPATH: deeper than 4096 directories. With touched, files of the tree that were written, replaced, linked or
---changed in mode since (or after watch() moved with a folder), and have their bytes and mode again, are found too.
---@param options? { touched?: boolean }
---@return apsis.worktree.DiskChange[]? changes
---@return string? message
---@return string? code
function handle:changes(options) end

---The checked-out tree with these changes, whose contents are read from disk now; hidden paths stay as they were.
---EPATH: one of them is neither file nor symlink, or collides with a hidden path.
---@param changes? apsis.worktree.DiskChange[] of changes(), perhaps filtered (path and kind count); default all
---@return string? tree
---@return string? message
---@return string? code
function handle:write_tree(changes) end

---The id of the tree last checked out; nil before a checkout has succeeded.
---@return string? tree
function handle:tree() end

return worktree
