-- headline(metric, history, experiments, unit): "8.2x faster than the baseline's 150 (-88 %), in 30 experiments"; nil
-- if nothing was gained, or if the gain was measured again. experiments: how many since the baseline, Fold.since.
return function(metric, history, experiments, unit)
  local baseline = history.baseline
  if history.gain or not (baseline and baseline.value and metric:better(history.best, baseline)) then return nil end
  return ("%s, in %d experiment%s"):format(metric:gained_text(history.best, baseline, unit), experiments,
    experiments == 1 and "" or "s")
end
