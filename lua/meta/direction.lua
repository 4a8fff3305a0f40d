---@meta apsis.direction
-- The only place that compares two metric values. A value below is a number, or a candidate (a table with `value`,
-- and `retained` if a kept tie inherited a better one). A value that is not finite never wins, is never reached and
-- ties with nothing.

local direction = {}

--- The spellings that `parse` accepts, in any case: higher, lower, maximize, minimize, higher_is_better,
--- lower_is_better.
---@type string[]
direction.allowed = {}

---@class apsis.direction.Spec
---@field direction? string one of direction.allowed; default "higher"
---@field name? string
---@field epsilon? number better means better by more than this; default 0. Exactly epsilon apart is a tie
---@field target? number
---@field min_pass? number values below fail, whatever the direction
---@field max_pass? number values above fail
---@field medians? boolean each value is made of medians of several measurements, though samples do not show them

---@class apsis.direction.Metric
---@field name string?
---@field direction "higher"|"lower"
---@field target number?
---@field parts apsis.direction.Metric[]? with metric.pareto: the metrics that make up the value
local metric = {}

--- "higher" or "lower" for any accepted spelling; nil, message, "EDIRECTION" for anything else. nil is "higher".
---@param text string?
---@return "higher"|"lower"|nil
---@return string? message
---@return string? code
function direction.parse(text) end

--- Raises if spec.direction is no accepted spelling.
---@param spec apsis.direction.Spec
---@return apsis.direction.Metric
function direction.new(spec) end

--- "+0.25", "-0.2": a signed difference with six significant digits; "" for nil.
---@param delta number?
---@return string
function direction.delta_text(delta) end

---How far a value is from a base: "-88 %", "+0.4 %"; nil if the base is not positive, where a share means nothing.
---@param value number
---@param base number
---@return string?
function direction.percent_text(value, base) end

--- Whether a value is a number, and neither NaN nor infinite.
---@param value any
---@return boolean
function direction.finite(value) end

--- Whether `new` beats `old` by more than epsilon. The first finite value beats nil.
---@param new number|apsis.Candidate|nil
---@param old number|apsis.Candidate|nil
---@return boolean
function metric:better(new, old) end

--- The same for two finite numbers, unchecked: whether `a` beats `b` by more than epsilon. If either may be nil, a
--- candidate or not finite, use `better`.
---@param a number
---@param b number
---@return boolean
function metric:beats(a, b) end

--- Whether both are finite and neither beats the other.
---@param new number|apsis.Candidate|nil
---@param old number|apsis.Candidate|nil
---@return boolean
function metric:tied(new, old) end

--- new - old: negative is an improvement if lower is better. nil without two finite values, or if their difference is
--- not finite.
---@param new number|apsis.Candidate|nil
---@param old number|apsis.Candidate|nil
---@return number?
function metric:delta(new, old) end

---How a value stands against a baseline's, for people: "8.2x faster than the baseline's 150 (-88 %)" for a time that
---should be lower, "-88 % against the baseline's 150", or the difference where a share means nothing.
---@param value number
---@param base number
---@param unit? string
---@param which string what the base is: "baseline"
---@return string
function metric:against_text(value, base, unit, which) end

---Why a gain over a baseline may be luck: "measured once", "by the measurements that chose it"; nil if it was measured
---several times, or if the baseline's values are all equal.
---@param best apsis.Candidate
---@param baseline apsis.Candidate
---@return string?
function metric:doubt_text(best, baseline) end

---against_text of two candidates, and the doubt.
---@param best apsis.Candidate
---@param baseline apsis.Candidate
---@param unit? string
---@param which? string default: "baseline"
---@return string
function metric:gained_text(best, baseline, unit, which) end

--- delta and better at once, for two values that are finite or nil.
---@param new number?
---@param old number?
---@return number? delta
---@return boolean better
function metric:change(new, old) end

--- The difference with improvement positive, whatever the direction. nil without two finite values.
---@param new number|apsis.Candidate|nil
---@param old number|apsis.Candidate|nil
---@return number?
function metric:gain(new, old) end

--- The better of two values, whatever epsilon is; the finite one, or nil.
---@param a number|apsis.Candidate|nil
---@param b number|apsis.Candidate|nil
---@return number?
function metric:better_of(a, b) end

--- Whether the target is met: value >= target (higher) or value <= target (lower). false without a target.
---@param value number|apsis.Candidate|nil
---@return boolean
function metric:reached(value) end

--- Whether a value is at least as good as a threshold: value >= threshold (higher) or value <= threshold (lower);
--- exactly so, whatever epsilon is.
---@param value number|apsis.Candidate|nil
---@param threshold number
---@return boolean
function metric:reaches(value, threshold) end

--- How a candidate stands among others: two numbers, higher is better, the first counts first. One with `stopped` (the
--- stage at which it was stopped, or would have been, and its value there) stands below all that got further, and among
--- those of its stage by that value; others stand by `value`. nil without either.
---@param candidate { value?: number, stopped?: { stage: integer, value: number } }
---@return number?
---@return number?
function metric:standing(candidate) end

--- Whether the value lies within min_pass and max_pass.
---@param value number|apsis.Candidate|nil
---@return boolean passes
---@return string? why if not
function metric:passes(value) end

--- The best element of a list (the first of equals) and its index; nil if none has a finite value.
---@generic T
---@param list T[]
---@return T?
---@return integer?
function metric:best_of(list) end

--- Sorts in place, best first; stable; elements without a finite value last. Returns the list.
---@generic T
---@param list T[]
---@return T[]
function metric:sort(list) end

--- The metric that strategies see if candidates are judged under noise (apsis.acceptance): `better(candidate, best)`
--- is what was shown (candidate.confirmed), and such a candidate never ties with the best; everything else is
--- compared by values.
---@param metric apsis.Metric
---@param leader fun(): apsis.Candidate? which candidate is the best now
---@return apsis.Metric
function direction.judged(metric, leader) end

--- "higher is better" or "lower is better".
---@return string
function metric:words() end

--- A count or a sum for people, without exponent: whole numbers whole, else four decimal places; below 0.1 four
--- significant digits: 0.00004.
---@param number number
---@return string
function direction.amount(number) end

return direction
