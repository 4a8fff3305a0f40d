-- gain: what a run has gained, measured anew when it ended, in words. Called by run and status.
local gain = {}

-- "2.3 [1.9..2.7] (4.1 %), c0031 against c0000, each measured 20 times more in random order"; best: the id of the best now.
function gain.text(told, best)
  if not told or not told.low then return nil end
  if told.exact then return ("%.10g, %s against %s, both the same when measured again"):format(told.gain, told.candidate, told.original) end
  local words = ("%.4g [%.4g..%.4g]%s, %s against %s, each measured %d times more in random order"):format(told.gain, told.low, told.high,
    told.relative and (" (%.2g %%)"):format(100 * told.relative) or "", told.candidate, told.original, told.pairs)
  return best and best ~= told.candidate and ("%s; %s was kept since"):format(words, best) or words
end

return gain
