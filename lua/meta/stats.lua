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
--- by the number of hits. nil without a hit. (Hansen, Auger, Finck and Ros, "Real-Parameter Black-Box Optimization
--- Benchmarking 2010: Experimental Setup", as in COCO.)
---`hits`: for each run the evaluation at which it reached the target; nil or false if it did not.
---@param hits (integer|false|nil)[]
---@param evaluations integer[] for each run what it spent
---@return number?
function stats.ert(hits, evaluations) end

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
