---@meta apsis.stats
-- Small statistics over lists of numbers. direction decides which value is better.

local stats = {}

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.mean(list) end

--- The middle value, or the mean of the two middle ones; nil for an empty list. The list is not changed.
---@param list number[]
---@return number?
function stats.median(list) end

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.min(list) end

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.max(list) end

--- 0 for an empty list.
---@param list number[]
---@return number
function stats.sum(list) end

--- Sample standard deviation (n - 1); nil below two values.
---@param list number[]
---@return number?
function stats.sd(list) end

--- The value below which a share of the list lies: linear between order statistics, at (n - 1) share (type 7 of
--- Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; R's and NumPy's default). nil for an empty
--- list. Does not change the list. Raises if share is not from 0 to 1.
---@param list number[]
---@param share number from 0 to 1; 0.5 is the median
---@return number?
function stats.quantile(list, share) end

--- Interquartile range: the quantile of 0.75 less that of 0.25; nil for an empty list.
---@param list number[]
---@return number?
function stats.iqr(list) end

---@class apsis.stats.Ecdf
---@field x number[] the different values, ascending
---@field y number[] the share of the total that is at most x

--- Empirical distribution. For runtimes, pass those of the runs that reached the target, and the number of all runs
--- as `total`, so that y ends at the success rate. Raises if total is less than the list's length.
---@param list number[]
---@param total? integer default: the list's length
---@return apsis.stats.Ecdf
function stats.ecdf(list, total) end

--- Expected running time to a target: the evaluations that all runs spent, up to the hit if there was one, divided
--- by the number of hits. Infinite without a hit, nil without a run. (Hansen, Auger, Finck and Ros, "Real-Parameter
--- Black-Box Optimization Benchmarking 2010: Experimental Setup", as in COCO.)
---`hits`: for each run the evaluation at which it reached the target; nil or false if it did not.
---@param hits (integer|false|nil)[]
---@param evaluations integer[] for each run what it spent
---@return number?
function stats.ert(hits, evaluations) end

---@class apsis.stats.IntervalSpec
---@field rng apsis.random.Stream the resamples are drawn from it: the same stream gives the same interval
---@field level? number default 0.95
---@field draws? integer resamples; default 2000

--- An interval for the ERT: percentiles of the ERTs of resampled runs. The upper end is infinite if too many resamples
--- have no hit. nil without a run.
---@param hits (integer|false|nil)[]
---@param evaluations integer[]
---@param spec apsis.stats.IntervalSpec
---@return number? low
---@return number? high
function stats.ert_interval(hits, evaluations, spec) end

--- Restricted runtimes: a run that did not reach the target within the budget counts as the budget. Their mean is the
--- restricted mean runtime (Royston and Parmar, 2011, of survival times); strategies with different numbers of
--- unsuccessful runs can be compared by it. `hits` needs false, not nil, for a run without a hit.
---@param hits (integer|false)[]
---@param budget integer
---@return number[]
function stats.restricted(hits, budget) end

---@class apsis.stats.AoccSpec
---@field budget integer
---@field log? boolean by the logarithm of the evaluations

--- The area under the ECDF of runtimes, from 0 to 1: 1 if every target was reached at once, 0 if none was within the
--- budget. `hits` are those of all runs and targets, false for none. By evaluations it is the mean of the ECDF at
--- evaluations 1 to the budget: IOHanalyzer's `AUC` of an ECDF from 1 to budget + 1. For targets spaced evenly by the
--- logarithm of their precision it approaches one minus the area under the convergence curve, AOCC (van Stein and Bäck,
--- 2024). With `log` it is the integral over the logarithm of the evaluations, the axis of COCO's ECDFs (Hansen et al.,
--- "Anytime Performance Assessment in Blackbox Optimization Benchmarking", 2022). nil for an empty list.
---@param hits (integer|false)[]
---@param spec apsis.stats.AoccSpec
---@return number?
function stats.aocc(hits, spec) end

--- An interval for the mean of the list's population by the studentized bootstrap, bootstrap-t (Efron, 1981; Hall,
--- "Theoretical Comparison of Bootstrap Confidence Intervals", 1988). It is longer than `bootstrap`'s for skewed lists,
--- and holds there: for 20 from an exponential distribution it covers about 95 %, BCa 91 %. p is
--- two-sided, of a mean of 0. nil below two elements.
---@param list number[]
---@param spec apsis.stats.IntervalSpec
---@return number? low
---@return number? high
---@return number? p
function stats.mean_interval(list, spec) end

--- mean x / mean y of pairs of positive numbers, with its interval by the studentized bootstrap of its logarithm; pairs
--- are resampled. Below two pairs there is the ratio without an interval; without any nil.
---@param xs number[]
---@param ys number[]
---@param spec apsis.stats.IntervalSpec
---@return number? ratio
---@return number? low
---@return number? high
---@return number? p two-sided, of a ratio of 1
function stats.ratio_interval(xs, ys, spec) end

---@class apsis.stats.BootstrapSpec
---@field rng apsis.random.Stream the resamples are drawn from it: the same stream gives the same interval
---@field statistic? fun(list: number[]): number default: the mean
---@field level? number default 0.95
---@field draws? integer resamples; default 2000

--- An interval for a statistic of the list's population, such as the mean of paired differences: bias-corrected and
--- accelerated bootstrap, BCa (Efron, "Better Bootstrap Confidence Intervals", 1987); acceleration by the jackknife,
--- ends by `quantile`. If all elements are equal the interval is that point, without draws. nil below two elements.
--- With few elements it is too short: for 10 from a normal distribution the 95 % interval covers about 90 %. Raises
--- for a level not between 0 and 1 and for draws below 1.
---@param list number[]
---@param spec apsis.stats.BootstrapSpec
---@return number? low
---@return number? high
function stats.bootstrap(list, spec) end

---@class apsis.stats.SignedRank
---@field p number two-sided; 1 if all differences are zero
---@field plus number the rank sum of the positive differences
---@field minus number the rank sum of the negative ones
---@field n integer differences that are not zero
---@field zeros integer differences that are
---@field exact boolean whether p counts every pattern of signs

--- Wilcoxon's signed-rank test of paired differences (Wilcoxon, 1945). Zeros by Pratt's rule (1959): they are ranked
--- with the others and then count for neither side. Ties share their middle rank. Up to 50 differences that are not
--- zero p is exact, given the ranks, with ties and zeros too; above, by the normal distribution with corrections for
--- ties, zeros and continuity. Raises if a difference is NaN.
---@param differences number[]
---@return apsis.stats.SignedRank
function stats.signed_rank(differences) end

--- Holm's step-down correction (Holm, 1979): p-values such that calling those below a level has at most that
--- probability of one false call among them all. In the order given.
---@param ps number[]
---@return number[]
function stats.holm(ps) end

return stats
