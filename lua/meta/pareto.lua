---@meta apsis.pareto
-- Several metrics at once. `metrics` is a list of apsis.direction.Metric with names (of a run: run.metric.parts), a
-- candidate anything with `metrics`, name to value. For strategies; metric.pareto in the manifest makes the engine keep
-- what joins the front.

local pareto = {}

--- Whether `a` is at least as good as `b` in every metric and better in one, whatever their epsilons. A missing value
--- is never better and never beaten.
---@param metrics apsis.direction.Metric[]
---@param a { metrics: table<string, number> }
---@param b { metrics: table<string, number> }
---@return boolean
function pareto.dominates(metrics, a, b) end

--- Whether `new` is better than `old` in at least one metric, by more than its epsilon.
---@param metrics apsis.direction.Metric[]
---@param new { metrics: table<string, number> }
---@param old { metrics: table<string, number> }
---@return boolean
function pareto.ahead(metrics, new, old) end

--- Whether a candidate has a finite value of every metric.
---@param metrics apsis.direction.Metric[]
---@param candidate { metrics: table<string, number> }
---@return boolean
function pareto.complete(metrics, candidate) end

--- Those of a list that no other of it dominates, in its order; without those that lack a value.
---@generic T
---@param metrics apsis.direction.Metric[]
---@param candidates T[]
---@return T[]
function pareto.front(metrics, candidates) end

--- The hypervolume: how much lies between the reference and the candidates, in the product of the metrics' units. What
--- is not better than the reference in every metric adds nothing. By slabs along the last metric (While et al., 2006).
---@param metrics apsis.direction.Metric[]
---@param candidates { metrics: table<string, number> }[]
---@param reference table<string, number>
---@return number
function pareto.hypervolume(metrics, candidates, reference) end

--- The crowding distance of each candidate among the others (NSGA-II; Deb et al., 2002): how far apart its neighbours
--- are, summed over the metrics, each as a share of its range. math.huge at the ends.
---@param metrics apsis.direction.Metric[]
---@param candidates { metrics: table<string, number> }[]
---@return number[]
function pareto.crowding(metrics, candidates) end

return pareto
