-- stats/ert: ERT, the expected running time to a target as COCO defines it: the evaluations of all runs, each up to its
-- hit, divided by the number of hits. hits[i] is nil or false if run i had none. nil without a hit.
return function(hits, evaluations)
  local spent, successes = 0, 0
  for index = 1, #evaluations do
    spent = spent + (hits[index] or evaluations[index])
    if hits[index] then successes = successes + 1 end
  end
  if successes == 0 then return nil end
  return spent / successes
end
