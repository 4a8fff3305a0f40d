---@meta apsis.fs
-- apsis.fs: files and folders. Paths are bytes; a NUL byte in one raises. If the system refuses: nil, "CODE: message",
-- "CODE", where CODE is errno's name ("ENOENT"). Nothing here blocks on a FIFO.

---@class apsis.fs
local fs = {}

---The bytes of a regular file (EINVAL for a FIFO, device or socket; EISDIR for a folder).
---@param path string
---@param max_bytes? integer return at most this many bytes
---@return string? bytes
---@return true|string|nil cut true if the file has more than max_bytes; the message if bytes is nil
---@return string? code
function fs.read(path, max_bytes) end

---Writes the file, not atomically (a crash may leave half of it; state.replace is atomic). Refuses a link: ELOOP.
---@param path string
---@param bytes string
---@return true? done
---@return string? message
---@return string? code
function fs.write(path, bytes) end

---Appends to the file, or creates it. Refuses a link: ELOOP.
---@param path string
---@param bytes string
---@return true? done
---@return string? message
---@return string? code
function fs.append(path, bytes) end

---Makes a folder and its parents; true also if it exists.
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.mkdir(path) end

---Removes a file or link (EISDIR for a folder, ENOENT if nothing is there).
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.remove(path) end

---Removes whatever is at path, at any depth, even against its mode; never a link's target. True also if nothing is
---there. Refuses paths whose last name is "." or ".." (or "/") with EINVAL.
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.remove_tree(path) end

---rename(2): replaces what is at `to`, within one file system.
---@param from string
---@param to string
---@return true? done
---@return string? message
---@return string? code
function fs.rename(from, to) end

---The names in a folder, in byte order, hidden ones included, without "." and "..".
---@param path string
---@return string[]? names
---@return string? message
---@return string? code
function fs.list(path) end

---@class apsis.fs.Stat
---@field type "file"|"directory"|"link"|"other"
---@field size integer bytes
---@field mode integer permission bits (0 to 4095)
---@field mtime number seconds since 1970
---@field ctime number seconds since 1970: when contents, mode or names last changed; nobody can set it
---@field ino integer
---@field uid integer

---What is at path. Raises on an unknown option.
---@param path string
---@param options? {follow?: boolean} follow (default true): look at a link's target, not at the link
---@return apsis.fs.Stat? stat
---@return string? message
---@return string? code "ENOENT" if nothing is there
function fs.stat(path, options) end

---Makes a symbolic link at path. Raises on an unknown option.
---@param target string
---@param path string
---@param options? {replace?: boolean} replace (default false): atomically replace a file or link
---@return true? done
---@return string? message
---@return string? code
function fs.symlink(target, path, options) end

---The target of a symbolic link, as written.
---@param path string
---@return string? target
---@return string? message
---@return string? code
function fs.readlink(path) end

---The absolute path without links; everything on it must exist.
---@param path string
---@return string? path
---@return string? message
---@return string? code
function fs.realpath(path) end

---Copies the regular files below `from`, with their permission bits, into `to` (made if missing; not a link). Skips and
---counts links, FIFOs, devices, and what is unreadable, deeper than 64 folders or beyond a limit. Raises on an unknown
---option.
---@param from string
---@param to string
---@param options? {max_bytes?: integer, max_files?: integer} limits for the whole copy; default: no limit
---@return {files: integer, bytes: integer, skipped: integer}? copied
---@return string? message
---@return string? code
function fs.copy_tree(from, to, options) end

---Sets the permission bits. Raises on a mode outside 0 to 4095 (octal 7777).
---@param path string
---@param mode integer
---@return true? done
---@return string? message
---@return string? code
function fs.chmod(path, mode) end

---The current directory.
---@return string? path
---@return string? message
---@return string? code
function fs.cwd() end

---Changes the current directory of the whole process.
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.chdir(path) end

---Makes a new private folder in $TMPDIR, or /tmp. Raises on a prefix with "/".
---@param prefix? string beginning of its name; default "apsis-"
---@return string? path
---@return string? message
---@return string? code
function fs.tempdir(prefix) end

---Whether a goalseek glob matches a path. "dir/**" matches dir and everything below it (dir/a, dir/a/b; not dirx); any
---other pattern is fnmatch(3) with flags 0: `*`, `?` and `[...]` match "/" and leading dots too.
---@param pattern string
---@param path string
---@return boolean
function fs.glob_match(pattern, path) end

---Bytes that an unprivileged user may still write on path's file system.
---@param path string
---@return integer? bytes
---@return string? message
---@return string? code
function fs.free_bytes(path) end

return fs
