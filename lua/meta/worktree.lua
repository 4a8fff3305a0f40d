---@meta apsis.worktree
-- apsis.worktree: a directory that contains one tree: brought to a tree by difference, and read back.

local worktree = {}

---A working directory owned by apsis: makes `dir` if it is missing (0700; not its parents), and may remove everything
---in it. Remembers what it checked out with lstat's results, so that later calls read only what may have changed.
---@param repo apsis.git.Repo
---@param dir string
---@return apsis.Worktree? worktree
---@return string? message
---@return string? code
function worktree.open(repo, dir) end

---@class apsis.Worktree
local handle = {}

---Idempotent; also `local worktree <close>`. The directory remains.
function handle:close() end

---Makes the directory exactly that tree without hidden paths: files 0644 or 0755 and never hard links, directories
---0755, symlinks, submodules as empty directories. Removes everything else, whatever its type or depth. Never follows
---symlinks. After a failure (ENOENT: no such rev or a missing object; EPATH: an impossible name or link) it may be
---called again; until it succeeds, changes and write_tree return ESTATE. Raises if the repository's handle is closed.
---@param rev string commit or tree
---@param options? {hide?: string[], keep?: boolean} hide: exact paths to leave out; a directory's path leaves out
---everything below it. keep: writes and removes nothing, so that what differs on the disk already counts as changed
---@return {written: integer, removed: integer}? done removed counts a directory that the tree lacks as 1
---@return string? message
---@return string? code
function handle:checkout(rev, options) end

---@class apsis.worktree.DiskChange
---@field path string
---@field kind "added"|"modified"|"deleted"|"type"|"mode"|"touched"
---@field mode? "100644"|"100755"|"120000"|"other" on disk; "other": a FIFO, socket, device or a `.git`; nil when
---deleted
---@field size integer bytes; of a symlink's target; 0 for others
---@field target? string a symlink's
---@field old_mode? string in the tree; nil when added
---@field hidden? true a hidden path that exists again

---From now on changes{touched = true} also finds everything in a folder of the tree that was moved, whatever it is.
---If file times do not show every write (tmpfs: not those through a mapping), also files that were opened for writing.
---EMFILE, ENOSPC: the user has no inotify instances or watches left (fs.inotify.max_user_instances, max_user_watches).
---@return true? watched
---@return string? message
---@return string? code
function handle:watch() end

---What differs on disk from what was checked out, sorted by path; ignores empty directories and missing submodules. A
---file that became a directory is "deleted" and its contents "added"; vice versa for a directory that became a file. A
---`.git`, anywhere, in upper or lower case, is one "added" path with mode "other"; its contents are not read. EPATH:
---deeper than 4096 directories. With touched, also finds files of the tree that were written, replaced, linked or
---changed in mode (after watch() also: what it noticed) but have the same bytes and mode again; and empty directories
---that the tree does not have, "added" with mode "other".
---@param options? { touched?: boolean }
---@return apsis.worktree.DiskChange[]? changes
---@return string? message
---@return string? code
function handle:changes(options) end

---The checked-out tree with these changes, whose contents are read from disk now; hidden paths stay as they were.
---EPATH: one of them is neither a file nor a symlink, or collides with a hidden path.
---@param changes? apsis.worktree.DiskChange[] from changes(), possibly filtered (uses path and kind); default all
---@return string? tree
---@return string? message
---@return string? code
function handle:write_tree(changes) end

---The id of the tree last checked out; nil before a checkout has succeeded.
---@return string? tree
function handle:tree() end

return worktree
