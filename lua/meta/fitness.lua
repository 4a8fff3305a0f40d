---@meta apsis.fitness
-- The numbers of judging by domains. A score lies from 0 to 1 and higher is better; what lies outside is kept as
-- measured, with a warning. Pure: nothing is run, no file is read. The pattern of domains, staged evaluation and
-- scores, and the formulas of tests, lint, typecheck, benchmark, composite and staged are those of HyperAgents
-- (github.com/facebookresearch/HyperAgents, utils/gl_utils.py) and of its plugin (github.com/Zpankz/hyperagents-plugin,
-- skills fitness-eval and staged-eval). "Finite" below: neither NaN nor infinite.

local fitness = {}

-- ---- one domain's score ----

--- passed / total. nil, message if total is 0 (no test ran: neither a pass nor a failure) or less than passed.
--- Raises if either is not a finite number of at least 0.
---@param passed number
---@param total number
---@return number? score
---@return string? message
function fitness.tests(passed, total) end

--- 1 - current / baseline, of a count of which less is better: findings of a linter, errors of a type checker. More
--- than the baseline's is 0, with a warning; where the baseline is 0, 0 stays 1 and anything else is 0. Raises where
--- either is not a finite number of at least 0.
---@param current number
---@param baseline number
---@param name? string for the warning; default "count"
---@return number score
---@return string? warning
function fitness.reduction(current, baseline, name) end

--- value / baseline where higher is better, baseline / value where lower is. Above 1 it is kept as measured, and the
--- warning names the line of the manifest that brings it down (`scale: N`, in the baseline's place). nil, message where
--- no ratio can be had: a value or a baseline that is not finite, is below 0, or would be divided by although it is 0.
--- Raises on an unknown direction.
---@param value number?
---@param baseline number? the baseline's value, or a value that is worth 1
---@param way? string one of apsis.direction.allowed; default "higher"
---@param name? string for messages; default "benchmark"
---@return number? score
---@return string? warning or the message, if there is no score
function fitness.benchmark(value, baseline, way, name) end

--- What to say of a score: nil for one from 0 to 1 (and if there is none), else a text that names the score, and the
--- line of the manifest that divides it by the next power of ten, or, below 0, the one that says which values are worth
--- 0 and 1.
---@param name string
---@param score number?
---@return string? text
function fitness.warning(name, score) end

-- ---- several scores, one number ----

---@class apsis.fitness.Component
---@field score number? from 0 to 1; nil if it has none
---@field weight? number above 0; default 1
---@field name? string for messages

--- The sum of score times weight. Weights that do not sum to 1 are divided by their sum, with a warning that says what
--- they became. A component without a finite score leaves none: nil, and a message that names it. Raises on a weight
--- that is not above 0.
---@param components apsis.fitness.Component[]
---@return number? score
---@return string? message if there is no score
---@return string[] warnings
function fitness.composite(components) end

--- The mean over domains; nil if any has no finite score (such a candidate is no valid parent), and of an empty
--- list. A list with holes says its length as `n`; apsis.json's null is a hole too.
---@param list (number|userdata|nil)[]|{n: integer}
---@return number? mean
function fitness.aggregate(list) end

---@class apsis.fitness.Dimension
---@field name? string for messages
---@field score number? on its own scale
---@field scale_max number above 0: the best raw score
---@field weight? number above 0; default 1

--- The sum of score / scale_max times weight, with weights as composite takes them. nil, message if a score is
--- missing or does not lie from 0 to scale_max: a judge that leaves the scale is refused, never clamped. Raises on a
--- weight or a scale_max that is not above 0.
---@param dimensions apsis.fitness.Dimension[]
---@return number? overall
---@return string? message if there is no score
---@return string[] warnings
function fitness.rubric(dimensions) end

-- ---- staged evaluation ----

--- How many items the first stage has: a tenth (rounded up) or 10, whichever is larger, and never more than there are.
--- 10 items are few enough to be cheap and enough to tell a broken candidate; a tenth keeps that so for large sets.
---@param items integer
---@param options? {share?: number, least?: integer} defaults 0.1 and 10
---@return integer
function fitness.staged_size(items, options) end

--- What a candidate that was stopped after the first stage has: raw * staged / full, so that few easy items do not look
--- like many. nil without a finite raw score. Raises if full is below 1 or staged above it.
---@param raw number?
---@param staged number items measured
---@param full number items there are
---@return number? score
function fitness.staged(raw, staged, full) end

--- "full" where the first stage's score is above the threshold; "stop" where it is not, and if there is none.
---@param score number?
---@param threshold? number default 0
---@return "full"|"stop"
function fitness.staged_gate(score, threshold) end

-- ---- normalisation ----

--- The kinds `normalize` takes: score, game, error, baseline.
---@type string[]
fitness.kinds = {}

--- A raw value as a score. kind "score": as it is. "game": value / scale (default 100). "error": 1 - value / baseline,
--- as reduction. "baseline": as benchmark. A warning where the score lies outside 0 to 1; nil, message if there is
--- none. Raises on an unknown kind.
---@param spec {kind: string, value: number?, scale?: number, baseline?: number, direction?: string, name?: string}
---@return number? score
---@return string? warning or the message, if there is no score
function fitness.normalize(spec) end

--- Makes a function that turns a value into its place in the span of the initial generation: 0 at its worst, 1 at its
--- best, by direction. Values beyond are kept as measured, with a warning that names the manifest's line with a span
--- that holds them. nil, message if the generation has no two different finite values. The function gives nil,
--- message for a value that is not finite.
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
---@field message? string what a failing test said, at most 1000 bytes

---@class apsis.fitness.Tests
---@field format string which format it was read as
---@field passed integer
---@field failed integer errors too
---@field skipped integer what is expected to fail, and still to do, too; not in total
---@field total integer passed + failed; may be 0, which fitness.tests refuses
---@field items apsis.fitness.Item[] those the output names; where it names fewer than it counts, fewer than total
---@field warnings string[] what may be missing in the counts, with the remedy

--- The formats `parse` takes: auto, tap, junit, pytest, go, cargo, node, maven.
---@type string[]
fitness.formats = {}

--- What a test runner's output says. nil, message for one that is cut off, contradicts itself, or tells of a build that
--- failed: that is never a score. "auto" takes the one format whose signs stand in the text (what several could be is
--- refused). Raises on an unknown format. What ends between two packages, binaries or streams shows no cut, and what
--- tests print may look like results: how the command ended is the caller's to check.
---
--- tap: versions 12 to 14 (testanything.org), points of subtests are their parent's matter; several streams may follow
--- one another. junit: testsuites, testsuite, testcase, several documents in one text; entities beyond XML's five and
--- numbers are refused. Items: CLASS.NAME. pytest: its last line counts, items from -v or the short summary; an error
--- is a failure, xfail counts as skipped, xpass as passed. go: `go test -v` or `-json`, every test and subtest; a
--- package that panicked has no score. cargo: all binaries' results; warns where --no-fail-fast is missing. node: `node
--- --test`, reporters tap and spec. maven: surefire's totals, summed over modules; items are classes.
---@param format string one of fitness.formats
---@param text string
---@return apsis.fitness.Tests?
---@return string? message
function fitness.parse(format, text) end

-- ---- outputs of linters ----

---@class apsis.fitness.Finding
---@field id string FILE:LINE:RULE, as far as they are known; unique (the second is #2)
---@field message? string
---@field file? string
---@field line? string
---@field rule? string
---@field text? string what it says beside where it is, at most 1000 bytes
---@field level? "error"|"warning"|"note" of SARIF

--- How much a linter found. By `pattern` (PCRE2): lines that match; the groups named file, line and rule name the
--- finding, else what most tools write is recognised. By `json_pointer` (RFC 6901; `*` goes through all elements of a
--- list, as in "/*/messages"): a number, or a list whose elements are findings. format "sarif" (2.1.0): results that
--- are failures, without suppressed ones (but for rejected suppressions) and those gone since a baseline; `levels` says
--- which count (default all three). nil, message if the output is not what was said, a pattern does not compile, or
--- a SARIF run says that it did not succeed. Raises on an unknown format or level. A linter that crashed may print
--- nothing: whether it ran is the caller's to check.
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
--- are skipped. A last line without its end is dropped, and the second result says so: the row is to be made again
--- (write the rows back before appending). nil, message if a line has another number of fields than the header, text
--- follows a closing quote, or a column occurs twice.
---@param text string
---`options`: whole (false): the writer is known to have finished, so a last line without its end counts.
---@param options? {whole?: boolean}
---@return table<string, string>[]? rows
---@return string? message what was dropped; or why there are none
---@return string[]? columns nil if there was no header
function fitness.csv_read(text, options) end

return fitness
