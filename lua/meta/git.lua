---@meta apsis.git
-- apsis.git: a git repository's objects and refs. Uses no shell, hook, filter, attribute or line-ending conversion:
-- bytes are raw both ways. Only checkout writes the user's working tree and index. Loads libgit2 at the first open. Of
-- the user's git configuration it reads only user.name, user.email and safe.directory.
--
-- Ids are 40 hex digits; a `rev` is any revision git knows ("HEAD~2", "main^{tree}", an id). Paths are raw bytes,
-- '/'-separated, relative to the repository's root. If the repository refuses: nil, "CODE: message", "CODE". The codes
-- below have a meaning; any function may also return EGIT, ENOMEM or an errno's name. ETORN: a ref's file names no
-- commit; the message has the remedy. Wrong types, unknown option keys and closed handles raise.

---@class apsis.git
local git = {}

---Opens the repository that contains path (discovered upward; symlinked paths and bare repositories too). ENOREPO:
---there is none. EOWNER: it belongs to another user; EFORMAT: libgit2 does not read its format; the messages have the
---remedies. ENOLIB: libgit2 is not installed.
---@param path string
---@return apsis.git.Repo? repo
---@return string? message
---@return string? code
function git.open(path) end

---@class apsis.git.Repo
local repo = {}

---Idempotent; also `local repo <close>`.
function repo:close() end

---@class apsis.git.Info
---@field gitdir string
---@field workdir? string real path without a trailing slash; nil if bare
---@field bare boolean
---@field head? string id of HEAD's commit; nil when unborn
---@field branch? string "main"; nil when detached
---@field detached boolean
---@field shallow boolean
---@field partial boolean a partial clone: objects may be missing
---@field sha "sha1"

---@return apsis.git.Info? info
---@return string? message
---@return string? code
function repo:info() end

---The id of a revision's object; tags are peeled. ENOENT, EAMBIGUOUS, EINVAL.
---@param rev string
---@return string? id
---@return string? message
---@return string? code
function repo:resolve(rev) end

---@class apsis.git.Commit
---@field id string
---@field tree string
---@field parents string[]
---@field subject string the message's first line
---@field message string
---@field author_name string
---@field author_email string
---@field time integer the committer's, seconds

---@param rev string
---@return apsis.git.Commit? commit
---@return string? message
---@return string? code
function repo:commit_info(rev) end

---The history of rev, newest first. The history of a shallow clone ends where it was cut.
---@param rev string
---@param options? {max?: integer, path?: string, since_rev?: string} at most max (0: all); only commits that changed
---path; without the history of since_rev
---@return apsis.git.Commit[]? commits
---@return string? message
---@return string? code
function repo:log(rev, options) end

---The bytes and mode ("100644", "100755", or "120000" and the link's target). ENOENT, EISDIR, ESUBMODULE, EPATH; EGIT:
---the object is unreadable, or a commit named by its id is missing.
---@param rev string commit or tree
---@param path string
---@return string? bytes
---@return string? mode the message, when bytes is nil
---@return string? code
function repo:read(rev, path) end

---@class apsis.git.Entry
---@field path string
---@field mode "100644"|"100755"|"120000"|"160000"
---@field id string

---All files, symlinks and submodules (160000) below prefix, sorted bytewise by whole path. A missing prefix: {}.
---@param rev string commit or tree
---@param prefix? string a directory (or one file); default all
---@return apsis.git.Entry[]? entries
---@return string? message
---@return string? code
function repo:entries(rev, prefix) end

---Whether .gitignore files and info/exclude of the working tree ignore path (a user's global ignore file is not read).
---EBARE without a working tree.
---@param path string
---@return boolean? ignored
---@return string? message
---@return string? code
function repo:is_ignored(path) end

---Whether HEAD's tree has path (a file or a directory).
---@param path string
---@return boolean? tracked
---@return string? message
---@return string? code
function repo:is_tracked(path) end

---The paths that differ between HEAD, the index and the user's working tree; ignores submodules and what a sparse
---checkout leaves out; bare: {}. EFORMAT: the index is a sparse one.
---@param options? {untracked?: boolean} untracked files too (not ignored ones)
---@return string[]? paths at most 100
---@return integer|string count of all paths; or the message
---@return boolean|string? encoded true: a path has a working-tree-encoding, for which libgit2 cannot tell; or the code
function repo:dirty(options) end

---Brings the user's working tree and index from one tree to another. Writes only what differs between the two, with
---line endings as git's attributes have them. ECONFLICT, with the paths as a fourth result, if such a path is not as
---`from` has it, or an untracked or ignored file is in its place: then nothing is written. ELOCKED: another git holds
---the index's lock. EFILTER: git's attributes name a filter program or an encoding for such a path, the
---fourth result; none is run. EFORMAT: the index is a sparse one. Moves no ref. After any other error
---some files may be written.
---@param from string commit or tree, what is there now
---@param to string commit or tree
---@param options? {dry_run?: boolean} only look for conflicts
---@return true? done
---@return string? message
---@return string? code
---@return string[]? conflicts
function repo:checkout(from, to, options) end

---The id that a ref names. ENOENT.
---@param name string full: "refs/heads/main"
---@return string? id
---@return string? message
---@return string? code
function repo:ref(name) end

---The ref that a symbolic ref names, whether it exists or not. ENOENT: there is no symbolic ref of this name.
---@param name string "HEAD", "refs/remotes/origin/HEAD"
---@return string? target "refs/remotes/origin/main"; only nil if the ref contains an id
---@return string? message
---@return string? code
function repo:symbolic_ref(name) end

---The refs whose names begin with prefix, sorted by name.
---@param prefix string "refs/apsis/run/"
---@return {name: string, id: string}[]? refs
---@return string? message
---@return string? code
function repo:refs(prefix) end

---Sets a ref by compare-and-swap, fsynced. EMOVED: it is not as expected. ELOCKED: another process holds its lock.
---EINVAL: not a full ref name ("refs/...").
---@param name string
---@param new string rev
---@param expected? string|false its current id; false: it must not exist; nil: any
---@param log_message? string for the reflog, if the repository keeps one for this ref
---@return true? done
---@return string? message
---@return string? code
function repo:set_ref(name, new, expected, log_message) end

---Deletes a ref. ENOENT: there is none.
---@param name string
---@return true? done
---@return string? message
---@return string? code
function repo:delete_ref(name) end

---Removes lock files that a killed process left: of a ref, of the refs below a directory of refs, or of packed-refs.
---@param prefix string "refs/apsis/run"; "packed-refs"
---@param age_s? integer only those at least this many seconds old; default 10
---@return integer? removed
---@return integer|string left how many are too recent; the message if removed is nil
---@return string? code
function repo:clear_locks(prefix, age_s) end

---Frees what was read of packs and packed-refs, which would otherwise stay in memory; reopens them on demand.
---@return true? done
---@return string? message
---@return string? code
function repo:renew() end

---The working tree, main or linked, in which a branch is HEAD or is being rebased.
---@param branch string "main"
---@return string? path nil: there is none
---@return string? message
---@return string? code
function repo:checked_out(branch) end

---@class apsis.git.CommitSpec
---@field tree string tree (or a rev that has one)
---@field parents? string[] revs
---@field message string without NUL bytes (EINVAL)
---@field ref? string set to the commit afterwards, unconditionally
---@field author? {name?: string, email?: string, time?: integer} default: the user
---@field time? integer seconds, for author and committer; default now. Shown as UTC

---Writes a commit, fsynced. The committer is $GIT_COMMITTER_NAME and $GIT_COMMITTER_EMAIL, else user.name and
---user.email of the repository's configuration, else of ~/.gitconfig, else of $XDG_CONFIG_HOME/git/config (of
---$GIT_CONFIG_GLOBAL in place of both, if it is set), else $EMAIL, else apsis <apsis@localhost>; the author is the
---same, after $GIT_AUTHOR_NAME and $GIT_AUTHOR_EMAIL. The same spec with the same time gives the same commit.
---@param spec apsis.git.CommitSpec
---@return string? id
---@return string? message
---@return string? code
function repo:commit(spec) end

---An edit: the new bytes (keeps mode 100755, otherwise sets 100644); false: delete (missing is fine); or a table with
---bytes or id, and mode.
---@alias apsis.git.Edit string|false|{bytes?: string, id?: string, mode?: "100644"|"100755"|"120000"|"160000"}

---The tree after edits, with directories made and removed as needed. EPATH: a path that is absolute, has an empty, ".",
---".." or ".git" component or a NUL byte, runs through a file or symlink, or names a directory.
---@param rev string? commit or tree; nil: the empty tree
---@param edits table<string, apsis.git.Edit> by path
---@return string? tree
---@return string? message
---@return string? code
function repo:edit_tree(rev, edits) end

---The patch from a to b in git's format, with renames; only names binary files and files above 64 MiB.
---@param a string commit or tree
---@param b string
---@param options? {context?: integer, paths?: string[]} lines of context (default 3); only these files and directories
---@return string? patch
---@return string? message
---@return string? code
function repo:diff(a, b, options) end

---@class apsis.git.Change
---@field path string
---@field old_path? string when renamed
---@field status "added"|"deleted"|"modified"|"renamed"|"type"
---@field mode string "000000" when deleted
---@field old_mode string "000000" when added
---@field id string of the new blob; zeros when deleted
---@field added integer lines; 0 when binary
---@field deleted integer lines

---The changes from a to b, and the number of changed lines (added and deleted; a binary file counts 1).
---@param a string commit or tree
---@param b string
---@return apsis.git.Change[]? changes
---@return integer|string changed_lines or the message
---@return string? code
function repo:changes(a, b) end

---The best common ancestor. ENOENT: the histories share nothing.
---@param a string
---@param b string
---@return string? id
---@return string? message
---@return string? code
function repo:merge_base(a, b) end

---Whether ancestor is in commit's history; true also when they are equal.
---@param commit string
---@param ancestor string
---@return boolean? yes
---@return string? message
---@return string? code
function repo:descendant_of(commit, ancestor) end

---How many commits a has that b has not, and vice versa: 0, n exactly if b descends from a. If clocks disagreed, some
---common commits may be counted too. Refuses if a commit is missing, as in a shallow clone.
---@param a string
---@param b string
---@return integer? ahead
---@return integer|string behind or the message
---@return string? code
function repo:ahead_behind(a, b) end

---The tree of a three-way merge, with renames, without attributes. ECONFLICT, with the paths as a fourth result.
---@param ours string
---@param theirs string
---@return string? tree
---@return string? message
---@return string? code
---@return string[]? conflicts
function repo:merge(ours, theirs) end

---The tree of `onto` without the changes of `commit` against its first parent. ECONFLICT as in merge.
---@param commit string
---@param onto string commit or tree
---@return string? tree
---@return string? message
---@return string? code
---@return string[]? conflicts
function repo:revert(commit, onto) end

return git
