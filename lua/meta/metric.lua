---@meta apsis.metric
-- METRIC lines: how a measuring command reports its numbers. A line is
--
--     METRIC name=number
--
-- at the very start of the line: the word in capitals, one or more blanks (space, tab), the name, `=`, the number, then
-- only blanks and optionally a carriage return. A name consists of ASCII letters, digits, `_`, `.` and U+00B5 (micro
-- sign). A number is decimal (`1`, `-.5`, `+2.`, `1e-3`), of any length, and finite. Numbers are correctly rounded.
--
-- Any other line whose text begins with `metric` in any case (after blanks, a byte order mark, escape sequences, or any
-- carriage return in the line) is a near miss: never a value, always reported. Prose with the word further in is
-- neither.

local metric = {}

---@class apsis.metric.miss
---@field line integer the line's number, from 1
---@field text string the line's first 200 bytes; or those after a carriage return that is preceded by over 100
---@field reason string such as `blank before =`, `not a number: 12ms`, `not finite: 1e400`, `NUL in line`,
--- `name has '-'`, `must start the line (before it: an escape sequence)`

--- Numbers are Lua integers if integral and nearer to zero than 2^53, however they are written (`9.0` is 9), else
--- floats; always finite. Integer arithmetic in Lua wraps around: write `x * 1.0` before multiplying large numbers.
---@class apsis.metric.report
---@field metrics table<string, number> the newest value by name
---@field samples table<string, number[]> all values by name, oldest first; the first 100,000 of the stream are kept
---@field names string[] in order of first appearance; the first 10,000 (and 8 MiB of names in all) are kept
---@field near_misses apsis.metric.miss[] the first 1,000
---@field near_miss_count integer all of them
---@field not_finite table<string, integer> the line, of names whose newest METRIC line has no finite number
---@field dropped {names: integer, samples: integer, near_misses: integer} what was seen but not kept. `names` counts
--- the values whose name came too late; `samples` the values that are at most in `metrics`
---@field lines integer a last line without newline counts

--- Reads bytes cut anywhere; the same bytes always give the same report. Its memory is bounded for any input. It is a
--- sink: `process.run` and `process.start` can feed a command's output directly into it.
---@class apsis.metric.scanner
local scanner = {}

--- A new scanner.
---@return apsis.metric.scanner
function metric.scanner() end

--- Reads the next bytes. Raises if the scanner is closed.
---@param bytes string
function scanner:feed(bytes) end

--- Ends a last line without a newline and reports everything so far. May be called again; feeding may continue, with
--- a new line. Raises if the scanner is closed, or if memory ran out at any time.
---@return apsis.metric.report
function scanner:finish() end

--- Frees the scanner. Idempotent; also done by `local s <close> = metric.scanner()` and by the collector.
function scanner:close() end

--- Scans a string.
---@param text string
---@return apsis.metric.report
function metric.scan(text) end

--- Scans a file, a pipe or a device (`/dev/stdin`) to its end, in constant memory. Raises if path contains a NUL.
---@param path string
---@return apsis.metric.report? report nil if the file cannot be read
---@return string? message `CODE: path: why`
---@return string? code such as `ENOENT`, `EISDIR`, `EACCES`
function metric.scan_file(path) end

return metric
