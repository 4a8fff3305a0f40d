---@meta apsis.metric
-- METRIC lines: how a command that measures says its numbers. A line is
--
--     METRIC name=number
--
-- at the line's very start: the word in capitals, one or more blanks (space, tab), the name, `=`, the number, then only
-- blanks and perhaps a carriage return. A name is made of ASCII letters, digits, `_`, `.` and U+00B5 (micro sign). A
-- number is decimal (`1`, `-.5`, `+2.`, `1e-3`), of any length, and finite. No locale changes what is read; numbers are
-- correctly rounded.
--
-- Another line whose text begins `metric` in any case (after blanks, a byte order mark, escape sequences, or after any
-- carriage return within the line) is a near miss: never a value, never silent. Prose with the word further in is
-- neither.

local metric = {}

---@class apsis.metric.miss
---@field line integer the line's number, from 1
---@field text string the line's first 200 bytes; where over 100 come before a carriage return, those after it instead
---@field reason string such as `blank before =`, `not a number: 12ms`, `not finite: 1e400`, `NUL in line`,
--- `name has '-'`, `must start the line (before it: an escape sequence)`

--- Numbers are Lua integers where they are integral and nearer to zero than 2^53, however they were written
--- (`9.0` is 9), else floats; always finite. Integer arithmetic in Lua wraps around: write `x * 1.0` before multiplying
--- what may be large.
---@class apsis.metric.report
---@field metrics table<string, number> the newest value by name
---@field samples table<string, number[]> all values by name, oldest first; the first 100,000 of the stream are kept
---@field names string[] in order of first appearance; the first 10,000 (and 8 MiB of names in all) are kept
---@field near_misses apsis.metric.miss[] the first 1,000
---@field near_miss_count integer all of them
---@field dropped {names: integer, samples: integer, near_misses: integer} what was seen and not kept. `names` counts
--- the values whose name came too late to be kept; `samples` the values that are in `metrics` at most
---@field lines integer a last line without newline counts

--- Takes bytes as they come, cut anywhere; the report is the same however they were cut. Its memory is bounded whatever
--- comes. It is a sink: `process.run` and `process.start` can feed a command's output straight into it.
---@class apsis.metric.scanner
local scanner = {}

--- A new scanner.
---@return apsis.metric.scanner
function metric.scanner() end

--- Takes the next bytes. Raises where the scanner is closed.
---@param bytes string
function scanner:feed(bytes) end

--- Ends a last line that had no newline and reports all that was seen. May be called again; feeding may go on,
--- with a new line. Raises where the scanner is closed, or memory ran out at any time.
---@return apsis.metric.report
function scanner:finish() end

--- Frees what was kept. Idempotent; also done by `local s <close> = metric.scanner()` and by the collector.
function scanner:close() end

--- Scans a string.
---@param text string
---@return apsis.metric.report
function metric.scan(text) end

--- Scans a file, a pipe or a device (`/dev/stdin`) to its end, in constant memory. Raises where path holds a NUL.
---@param path string
---@return apsis.metric.report? report nil where the file cannot be read
---@return string? message `CODE: path: why`
---@return string? code such as `ENOENT`, `EISDIR`, `EACCES`
function metric.scan_file(path) end

return metric
