---@meta apsis.fitness
-- The numbers of judging by domains. A score is from 0 to 1 and higher is better; one outside is kept as measured,
-- with a warning. Pure: runs nothing, reads no file. The pattern of domains, staged evaluation and scores, and the
-- formulas of tests, lint, typecheck, benchmark, composite and staged are those of HyperAgents
-- (github.com/facebookresearch/HyperAgents, utils/gl_utils.py) and of its plugin
-- (github.com/Zpankz/hyperagents-plugin, skills fitness-eval and staged-eval). "Finite" below: neither NaN nor
-- infinite.

local fitness = {}

-- ---- one domain's score ----

--- passed / total. nil, message if total is 0 (no test ran: neither a pass nor a failure) or less than passed.
--- Raises if either is not a finite number of at least 0.
---@param passed number
---@param total number
---@return number? score
---@return string? message
function fitness.tests(passed, total) end

--- 1 - current / baseline, for a count of which less is better: findings of a linter, errors of a type checker. More
--- than the baseline's is 0, with a warning; with a baseline of 0, 0 is 1 and anything else 0. Raises if either is
--- not a finite number of at least 0.
---@param current number
---@param baseline number
---@param name? string for the warning; default "count"
---@return number score
---@return string? warning
function fitness.reduction(current, baseline, name) end

--- value / baseline if higher is better, baseline / value if lower is. Above 1 it is kept as measured, and the
--- warning names the manifest line that reduces it (`scale: N`, instead of the baseline). nil, message if there is no
--- ratio: a value or a baseline that is not finite, is below 0, or is a divisor of 0. Raises on an unknown direction.
---@param value number?
---@param baseline number? the baseline's value, or a value that is worth 1
---@param way? string one of apsis.direction.allowed; default "higher"
---@param name? string for messages; default "benchmark"
---@return number? score
---@return string? warning or the message, if there is no score
function fitness.benchmark(value, baseline, way, name) end

--- The warning for a score: nil for one from 0 to 1 (and if there is none), else a text that names the score and the
--- manifest line that divides it by the next power of ten, or, below 0, sets the values worth 0 and 1.
---@param name string
---@param score number?
---@return string? text
function fitness.warning(name, score) end

-- ---- several scores, one number ----

---@class apsis.fitness.Component
---@field score number? from 0 to 1; nil if it has none
---@field weight? number above 0; default 1
---@field name? string for messages

--- The sum of score times weight. Weights that do not sum to 1 are divided by their sum, with a warning that shows
--- the result. If a component has no finite score, there is none: nil, and a message that names it. Raises on a
--- weight that is not above 0.
---@param components apsis.fitness.Component[]
---@return number? score
---@return string? message if there is no score
---@return string[] warnings
function fitness.composite(components) end

--- The mean over domains; nil if any has no finite score (such a candidate is no valid parent), and for an empty
--- list. A list with holes gives its length as `n`; apsis.json's null is a hole too.
---@param list (number|userdata|nil)[]|{n: integer}
---@return number? mean
function fitness.aggregate(list) end

---@class apsis.fitness.Dimension
---@field name? string for messages
---@field score number? on its own scale
---@field scale_max number above 0: the best raw score
---@field weight? number above 0; default 1

--- The sum of score / scale_max times weight, with weights as in composite. nil, message if a score is missing or not
--- from 0 to scale_max: a judge that leaves the scale is refused, never clamped. Raises on a weight or a scale_max
--- that is not above 0.
---@param dimensions apsis.fitness.Dimension[]
---@return number? overall
---@return string? message if there is no score
---@return string[] warnings
function fitness.rubric(dimensions) end

-- ---- staged evaluation ----

--- The number of items in the first stage: a tenth (rounded up) or 10, whichever is larger, and never more than there
--- are. 10 items are cheap and enough to detect a broken candidate.
---@param items integer
---@param options? {share?: number, least?: integer} defaults 0.1 and 10
---@return integer
function fitness.staged_size(items, options) end

--- The score of a candidate that stopped after the first stage: raw * staged / full, so that few easy items do not
--- look like many. nil without a finite raw score. Raises if full is below 1 or staged above it.
---@param raw number?
---@param staged number items measured
---@param full number items there are
---@return number? score
function fitness.staged(raw, staged, full) end

--- "full" if the first stage's score is above the threshold; "stop" if it is not, or if there is none.
---@param score number?
---@param threshold? number default 0
---@return "full"|"stop"
function fitness.staged_gate(score, threshold) end

-- ---- normalisation ----

--- The kinds `normalize` takes: score, game, error, baseline.
---@type string[]
fitness.kinds = {}

--- A raw value as a score. kind "score": as it is. "game": value / scale (default 100). "error": 1 - value /
--- baseline, as reduction. "baseline": as benchmark. A warning for a score outside 0 to 1; nil, message if there is
--- none. Raises on an unknown kind.
---@param spec {kind: string, value: number?, scale?: number, baseline?: number, direction?: string, name?: string}
---@return number? score
---@return string? warning or the message, if there is no score
function fitness.normalize(spec) end

--- Makes a function that turns a value into its place in the span of the initial generation: 0 at its worst, 1 at its
--- best, by direction. Values outside are kept as measured, with a warning that names the manifest line with a wide
--- enough span. nil, message if the generation has no two different finite values. The function returns nil, message
--- for a value that is not finite.
---@param values (number|userdata|nil)[]|{n: integer}
---@param way? string one of apsis.direction.allowed; default "higher"
---@param source? string what the values are, for the warning; default "the initial generation"
---@return (fun(value: number?, name?: string): number?, string?)|nil
---@return string? message
function fitness.minmax(values, way, source) end

-- ---- outputs of test runners ----

---@class apsis.fitness.Item
---@field id string unique among the items: the second of a name is NAME#2
---@field passed boolean
---@field message? string output of a failing test, at most 1000 bytes

---@class apsis.fitness.Tests
---@field format string which format it was read as
---@field passed integer
---@field failed integer errors too
---@field skipped integer what is expected to fail, and still to do, too; not in total
---@field total integer passed + failed; may be 0, which fitness.tests refuses
---@field items apsis.fitness.Item[] those that the output names; may be fewer than total
---@field warnings string[] what may be missing in the counts, with the remedy

--- The formats `parse` takes: auto, tap, junit, pytest, go, cargo, node, maven, jest, vitest, mocha, unittest, rspec,
--- phpunit, dotnet, ctest, busted, bats.
---@type string[]
fitness.formats = {}

--- The results in a test runner's output. nil, message for one that is cut off, contradicts itself, or reports a
--- failed build: that is never a score. "auto" takes the only format that matches (an ambiguous output is refused).
--- Raises on an unknown format. An output cut between two packages, binaries or streams looks complete, and tests may
--- print text like results: the caller must check how the command ended.
---
--- tap: versions 12 to 14 (testanything.org), points of subtests belong to their parent; several streams may follow
--- one another. junit: testsuites, testsuite, testcase, several documents in one text; entities other than XML's five
--- and numbers are refused. Items: CLASS.NAME. pytest: its last line counts, items from -v or the short summary; an
--- error is a failure, xfail counts as skipped, xpass as passed. go: `go test -v` or `-json`, every test and subtest;
--- a package that panicked has no score. cargo: all binaries' results; warns if --no-fail-fast is missing. node:
--- `node --test`, reporters tap and spec. maven: surefire's totals, summed over modules; items are classes.
---
--- jest, vitest, mocha, rspec: their JSON (an object that begins its line), else the text they print for people; the
--- others: that text. Several summaries are added up. A file that does not load, and a set-up that fails, is a failure.
--- Passed tests are items if the output names them (JSON; jest --verbose; mocha's spec; unittest -v; phpunit --testdox;
--- ctest; bats --pretty; bats without it prints TAP).
---@param format string one of fitness.formats
---@param text string
---@return apsis.fitness.Tests?
---@return string? message
---@return boolean? absent nothing in the text is of that format (of any, with auto)
function fitness.parse(format, text) end

-- ---- outputs of linters ----

---@class apsis.fitness.Finding
---@field id string FILE:LINE:RULE, as far as they are known; unique (the second is #2)
---@field message? string
---@field file? string
---@field line? string
---@field rule? string
---@field text? string the finding without its place, at most 1000 bytes
---@field level? "error"|"warning"|"note" of SARIF

--- The number of a linter's findings. By `pattern` (PCRE2): lines that match; the groups file, line and rule name the
--- finding, else the usual forms are recognised. By `json_pointer` (RFC 6901; `*` means all elements of a list, as in
--- "/*/messages"): a number, or a list whose elements are findings. format "sarif" (2.1.0): results that are
--- failures, without suppressed ones (unless the suppression was rejected) and those gone since a baseline; `levels`
--- selects which count (default all three). nil, message if the output has another format, a pattern does not
--- compile, or a SARIF run reports its own failure. Raises on an unknown format or level. A linter that crashed may
--- print nothing: the caller must check whether it ran.
---@param how {format?: "pattern"|"json"|"sarif", pattern?: string, json_pointer?: string, levels?: string[]}
---@param text string
---@return number? count
---@return apsis.fitness.Finding[]|string|nil items of a number in JSON none; the message, if there is no count
---@return table<string, integer>? levels of SARIF, how many of each
function fitness.count(how, text) end

-- ---- predictions.csv ----

--- RFC 4180 but for its line ends, which are LF. nil is an empty field; numbers come back exactly; raises on tables and
--- functions.
---@param rows table<string, any>[]
---@param columns string[]
---@param options? {header?: boolean} header (true): the columns' names come first
---@return string text
function fitness.csv_write(rows, columns, options) end

--- The rows of a table with a header, every value a text; LF or CRLF, with or without a byte order mark; blank lines
--- are skipped. Drops an unterminated last line and reports it in the second result: make that row again (write the
--- rows back before appending). nil, message if a line has another number of fields than the header, text follows a
--- closing quote, or a column occurs twice.
---@param text string
---`options`: whole (false): the writer is known to have finished, so a last line without its end counts.
---@param options? {whole?: boolean}
---@return table<string, string>[]? rows
---@return string? message what was dropped; or what is wrong
---@return string[]? columns nil if there was no header
function fitness.csv_read(text, options) end

return fitness
