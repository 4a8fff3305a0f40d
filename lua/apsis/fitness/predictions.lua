-- predictions: each item's predictions in a candidate's runs/NNNN/fitness. Called by compare, through room.lua.
local fs = require "apsis.fs"
local numbers = require "apsis.fitness.numbers"

local DEPTH = 8 -- of folders below runs/NNNN/fitness

-- Adds the rows of every predictions.csv below a folder: by the names of the folder and the question, as in the
-- journal's items.
local function read_predictions(dir, name, into, depth)
  for _, entry in ipairs(fs.list(dir) or {}) do
    local path = dir .. "/" .. entry
    local stat = fs.stat(path, { follow = false })
    if stat and stat.type == "directory" and depth > 0 then
      read_predictions(path, name and name .. "/" .. entry or entry, into, depth - 1)
    elseif stat and stat.type == "file" and entry == "predictions.csv" then
      for _, row in ipairs(numbers.csv_read(fs.read(path) or "") or {}) do
        local id = (name and name .. ":" or "") .. (row.question_id or "")
        into[id] = { prediction = row.prediction, score = tonumber(row.score) }
      end
    end
  end
end

-- { [item] = { prediction, score } } of an experiment's folder; empty if it has none.
return function(run_dir)
  local found = {}
  read_predictions(run_dir .. "/fitness", nil, found, DEPTH)
  return found
end
