---@meta apsis.state
-- apsis.state: files that survive a crash. Handles close when collected; close() is explicit and idempotent. If the
-- system refuses: nil, "CODE: message", "CODE", where CODE is errno's name or LOCKED.

---@class apsis.state
local state = {}

---@class apsis.state.Lock held until close(), collection, or the end of the process, however it ends
local lock = {}

function lock:close() end

---Takes the advisory lock (flock) on a file without waiting, but up to 0.2 s for what a killed holder was starting.
---Creates the file if it is missing, writes "PID TIME" into it and never removes it. Follows no link: neither the file
---(ELOOP) nor its folder (ENOTDIR) may be one.
---@param path string
---@return apsis.state.Lock? lock
---@return string? message "LOCKED: held by pid N since 2026-05-30T23:15:00Z (PATH)"
---@return string? code "LOCKED" if another process (or handle) holds it
function state.lock(path) end

---@class apsis.state.Journal an append-only file of lines
local journal = {}

---Writes one line and its newline, and syncs them to the disk. After a failure (ENOSPC, EIO, EFBIG) nothing of the
---line remains; after a failed sync every further append fails with EIO. Raises on a newline in the line.
---@param line string
---@return true? done
---@return string? message
---@return string? code
function journal:append(line) end

---Whether the file still has its name and is as this handle left it; append checks that, too. If another program has
---removed or replaced it, what it held is saved to PATH.kept.
---@return true? done
---@return string? message
---@return string? code EOTHER: another program has removed, replaced or changed the file
function journal:check() end

---The file's length in bytes.
---@return integer? bytes
---@return string? message
---@return string? code
function journal:size() end

function journal:close() end

---Opens a journal, creating it (and syncing its folder) if it is missing. Cuts off a last line without a newline,
---including the NUL bytes that a power cut leaves. The caller must hold a lock: two writers would take each other's
---lines for torn ones. Neither the file (ELOOP) nor its folder (ENOTDIR) may be a link.
---@param path string a regular file (EINVAL otherwise)
---@return apsis.state.Journal? journal
---@return {cut_bytes: integer, text: string}|string|nil torn what was cut, text its first 200 bytes; or the message
---@return string? code
function state.journal(path) end

---Iterates over the complete lines of a file; memory is bounded by the longest one. Use it as `for line, number, offset
---in state.lines(path) do`; leaving the loop closes the file. The iterator raises if reading fails, or if a line
---exceeds 256 MiB. Neither the file (ELOOP) nor its folder (ENOTDIR) may be a link.
---@param path string
---@param offset? integer where to begin (default 0): at a line's first byte
---@param number? integer the number of the line there (default 1)
---@return (fun(): string?, integer?, integer?)? next returns a line, its number from 1, its byte offset from 0
---@return string? message
---@return string? code
function state.lines(path, offset, number) end

---Replaces a file atomically: readers see the old or the new content. A link at path is replaced, not followed.
---A process killed meanwhile may leave PATH.tmp-PID-N. Raises on an unknown option.
---@param path string
---@param bytes string
---@param options? {sync?: boolean} sync (default false): sync file and folder to the disk before returning
---@return true? done
---@return string? message
---@return string? code
function state.replace(path, bytes, options) end

---Makes a file with all of the bytes, synced to the disk with its folder, if nothing is at path. Of several writers, on
---one machine or several, the first wins; the others get EEXIST. A process killed meanwhile may leave PATH.tmp-PID-N.
---@param path string
---@param bytes string
---@return true? done
---@return string? message
---@return string? code
function state.publish(path, bytes) end

---A text's digest: 64 bits. Texts that differ in 8 bytes or fewer in a row have different ones; somebody who computes
---another text with the same digest is not kept from it.
---@param text string
---@return string digest 16 hexadecimal digits
function state.digest(text) end

return state
