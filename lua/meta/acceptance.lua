---@meta apsis.acceptance
-- Is a candidate better if the metric is noisy? A screen that can only reject, then a confirmation by blinded labels.
-- Values are the metric's own, in either direction; the metric decides which is better, and candidates must be better
-- by more than its epsilon. Pure: draws only from the stream passed in.

local acceptance = {}

--- The two presets: `default` and `sensitive`, each max_repeats, reject, memory, refresh, n_screen, futility; found by
--- simulation.
---@type table<string, table<string, number>>
acceptance.presets = {}

---@class apsis.acceptance.Settings
---@field preset "default"|"sensitive" default "default"
---@field confidence number 1 - the chance that a run without any effect keeps something; 0.5 to 0.9999, default 0.95
---@field baseline integer measurements of the baseline; 5 or more, default 20
---@field final integer pairs of the final comparison; default 20, 0: none
--- Most measurements of either arm in a confirmation; 8 to 10,000. The screen looks for an improvement of 8 / sqrt of
--- it, in spreads.
---@field max_repeats integer
---@field reject number the screen rejects at minus this evidence
---@field memory integer over how many measurements a level is averaged; 2 or more
---@field refresh integer the best is measured once after this many measurements of candidates in screens
---@field n_screen integer most measurements of a candidate in its screen
---@field futility number a confirmation gives up at this capital; above 0, at most 0.99

--- All settings, completed from the given ones; nil, what is wrong, and the key.
---@param given? table<string, any>
---@return apsis.acceptance.Settings?
---@return string? message
---@return string? key
function acceptance.settings(given) end

---@class apsis.acceptance.State
---@field ready boolean whether there was a baseline: then `judge` may be asked
---@field ref number? the level of the best, robust against outliers
---0.8862 times the mean absolute difference of successive measurements of one arm: the standard deviation, for gaussian
---noise.
---@field spread number
---@field n integer how many measurements `ref` counts as
local state = {}

--- The state before any measurement. Raises if settings are not from acceptance.settings.
---@param settings apsis.acceptance.Settings
---@param metric apsis.direction.Metric
---@return apsis.acceptance.State
function acceptance.new(settings, metric) end

--- The state from `save`, also after JSON. Raises if one of its numbers is missing.
---@param settings apsis.acceptance.Settings
---@param metric apsis.direction.Metric
---@param saved table<string, number>
---@return apsis.acceptance.State
function acceptance.restore(settings, metric, saved) end

--- At most seven numbers, for a journal line.
---@return table<string, number>
function state:save() end

--- The measurements of the incumbent in order; false, or one that is not finite, is left out. Returns `ready`: false
--- below 5 measurements. Replaces level and spread; the spent error of the run stays spent.
---@param values (number|false)[]
---@return boolean ready
function state:baseline(values) end

---For a metric without noise so far: the best's recorded value is its level.
---@param value number
function state:level(value) end

--- Goes back to what `save` returned before, also for decisions that go on.
---@param saved table<string, number>
function state:take_back(saved) end

--- A decision about one candidate against the best. It changes nothing until its verdict. Raises before there is a
--- baseline.
---@param rng apsis.random.Stream a separate stream: the coins of the confirmation, one draw each
---@param beside? boolean true: others screen at the same time, and all change the same numbers; one at a time confirms
---@return apsis.acceptance.Decision
function state:judge(rng, beside) end

---@class apsis.acceptance.Decision
---@field next "candidate"|"best"|nil what to measure next; first the candidate; nil once there is a verdict
---@field verdict "kept"|"rejected"|nil
---@field why string? in words, with the numbers
---@field promoted boolean whether there was a confirmation
---@field exhausted boolean? true: a confirmation ended because it ran out of measurements, not as hopeless
--- Its measurements of the candidate in the confirmation; the screen's were used to choose.
---@field candidate_samples number[]
---@field best_samples number[] and of the best
---@field measured integer all measurements fed
local decision = {}

--- Takes the measurement of `next`. nil, or a value that is not finite, rejects. Without a spread the first value
--- decides, by metric:better. Screen: the sum of clipped log likelihood ratios for an improvement of 8 /
--- sqrt(max_repeats) spreads. Confirmation: a capital bet on a fair coin (Ville, 1939; betting in Shafer, 2021), kept
--- at 1 / level, where level is (1 - confidence) * 6 / (pi k)^2 and k - 1 confirmations of the run have kept nothing.
--- Raises once there is a verdict.
---@param value number?
function decision:feed(value) end

--- Ends it without more measurements: rejected, unless there is a verdict. A confirmation then spends its level.
---@param why string
function decision:stop(why) end

--- The order of a comparison by pairs: random within each pair.
---@param pairs_wanted integer
---@param rng apsis.random.Stream
---@return ("best"|"original")[] order twice as many
function acceptance.order(pairs_wanted, rng) end

---@class apsis.acceptance.Gain
---@field gain number? the mean paired difference, positive if the best is better
---@field low number? Student's t interval (Student, 1908); nil below two pairs
---@field high number?
---@field pairs integer those with two finite values
---@field relative number? gain over the originals' mean; nil if that is not positive

--- The gain of the best over the original, from measurements in pairs. A pair with a false or a value that is not
--- finite is left out. Raises if the lists differ in length.
---@param best_values (number|false)[]
---@param original_values (number|false)[]
---@param metric? apsis.direction.Metric default: higher is better
---@param level? number the interval's, default 0.95
---@return apsis.acceptance.Gain
function acceptance.gain(best_values, original_values, metric, level) end

--- By simulation with gaussian noise: how often an improvement of the given standard deviations is kept, and the mean
--- number of measurements of both arms, including rejected candidates. Takes about 0.2 ms a trial.
---@param settings apsis.acceptance.Settings
--- `spec`: default {0, 0.5, 1, 1.5, 2, 3}, 300, 1; spent: earlier confirmations that kept nothing, default 0.
---@param spec? {effects: number[], trials: integer, seed: integer, spent: integer}
---@return {effect: number, kept: number, measurements: number}[]
function acceptance.power(settings, spec) end

--- For a strategy's init: sets up run.memory.acceptance. Raises if `given` is wrong.
---@param run apsis.Run
---@param given? table<string, any> as for acceptance.settings
function acceptance.init(run, given) end

--- For its learn: takes the baseline's samples, then what `accept` left in the notes of each line.
---@param run apsis.Run
---@param line apsis.Candidate
function acceptance.learn(run, line) end

--- For its accept, whose results it returns. If the baseline had fewer than 5 samples, first measures the best
--- `baseline` times. The coins come from random.stream(run.seed, candidate.experiment, "acceptance").
---@param run apsis.Run
---@param candidate apsis.Candidate
---@return boolean|"measure"
---@return string|apsis.Request why
---@return apsis.Extra?
function acceptance.accept(run, candidate) end

return acceptance
