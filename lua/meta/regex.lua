---@meta apsis.regex
-- apsis.regex: Perl-compatible regular expressions (PCRE2), with the interface of the string library. Every match is
-- limited: a pattern that backtracks without end returns nil, "EREGEX_LIMIT: ...", "EREGEX_LIMIT".

---@class apsis.regex
local regex = {}

---@class apsis.regex.Regex
local re = {}

---Compiles a pattern. Flags: i any case; m ^ and $ also match at lines; s the dot matches newlines too; x blanks and
---comments in the pattern; u UTF-8 (invalid bytes never match). Raises on an unknown flag.
---@param pattern string
---@param flags? string of i m s x u
---@return apsis.regex.Regex? re
---@return string? message "EREGEX: ... at offset N"
---@return string? code "EREGEX"
function regex.compile(pattern, flags) end

---The captures of the first match, or the whole match if there are no groups; false for a group that took no part; nil
---if nothing matches.
---@param subject string
---@param init? integer first position to try, as in string.match; default 1
---@return string|false|nil ... or nil, message, code
function re:match(subject, init) end

---The first match's first and last position, then its captures; nil if nothing matches.
---@param subject string
---@param init? integer
---@return integer? first or nil, message, code
---@return integer|string|nil last
---@return string|false|nil ...
function re:find(subject, init) end

---Iterates over all matches; returns the same values as match. The iterator raises at a limit.
---@param subject string
---@return fun(): string|false|nil, ...
function re:gmatch(subject) end

---Replaces matches. In a string %0 is the match, %1 to %9 its groups (%1 the match if there are none), %% a %. A
---function gets the captures; nil or false keeps the match; it must not yield. Raises on a bad %, a missing group, or
---any other result of the function.
---@param subject string
---@param replacement string|fun(...): string|number|false|nil
---@param max? integer at most this many
---@return string? result
---@return integer|string count or the message if result is nil
---@return string? code
function re:gsub(subject, replacement, max) end

---The index of each named group.
---@return table<string, integer>
function re:names() end

---Frees the pattern. Idempotent; garbage collection does it too.
function re:close() end

return regex
