---@meta apsis.fs
-- apsis.fs: files and folders. Paths are bytes; a NUL byte in one raises. Where the system refuses: nil, "CODE:
-- message", "CODE", the code being errno's name ("ENOENT"). Nothing here waits for a FIFO.

---@class apsis.fs
local fs = {}

---The bytes of a regular file (EINVAL for a FIFO, device or socket; EISDIR for a folder).
---@param path string
---@param max_bytes? integer give at most the first so many bytes
---@return string? bytes
---@return true|string|nil cut true where the file holds more than max_bytes; the message where bytes is nil
---@return string? code
function fs.read(path, max_bytes) end

---Writes the file, plainly (a crash may leave half of it; state.replace is atomic). A link at path is not followed: ELOOP.
---@param path string
---@param bytes string
---@return true? done
---@return string? message
---@return string? code
function fs.write(path, bytes) end

---Appends to the file, creating it where it is not there. A link at path is not followed: ELOOP.
---@param path string
---@param bytes string
---@return true? done
---@return string? message
---@return string? code
function fs.append(path, bytes) end

---Makes a folder and its parents; true also where it is one already.
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.mkdir(path) end

---Removes a file or link (EISDIR for a folder, ENOENT where nothing is).
---@param path string
---@return true? done
---@return string? message
---@return string? code
function fs.remove(path) end

---Removes whatever is at path: never what a link points to, also what a mode forbids, at any depth. True where nothing
---is there. Paths whose last name is "." or ".." (or "/") are refused with EINVAL.
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
---@field ino integer
---@field uid integer

---What is at path. Raises on an unknown option.
---@param path string
---@param options? {follow?: boolean} follow (default true): look at what a link points to, not at the link
---@return apsis.fs.Stat? stat
---@return string? message
---@return string? code "ENOENT" where nothing is there
function fs.stat(path, options) end

---Makes a symbolic link at path. Raises on an unknown option.
---@param target string
---@param path string
---@param options? {replace?: boolean} replace (default false): put it in the place of a file or link, in one step
---@return true? done
---@return string? message
---@return string? code
function fs.symlink(target, path, options) end

---What a symbolic link points to, as written.
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

---Copies the regular files below `from`, with their permission bits, into `to` (made where missing; no link). Links, FIFOs,
---devices, what cannot be read, what is deeper than 64 folders or beyond a limit are left out and counted. Raises on an
---unknown option.
---@param from string
---@param to string
---@param options? {max_bytes?: integer, max_files?: integer} limits for the whole copy; default none
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

---Changes the current directory, of the whole process.
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
---other is fnmatch(3) with flags 0: `*`, `?` and `[...]` match "/" and leading dots too.
---@param pattern string
---@param path string
---@return boolean
function fs.glob_match(pattern, path) end

---Bytes a user without privileges may still write on path's file system.
---@param path string
---@return integer? bytes
---@return string? message
---@return string? code
function fs.free_bytes(path) end

return fs
