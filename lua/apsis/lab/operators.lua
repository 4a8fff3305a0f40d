-- operators: what the shipped worlds understand of a proposal beside its parents: the names of operators, and
-- notes.step. Varies nothing itself. Called by bits, reals and the worlds.
local operators = {}

-- The names that every shipped world but replay knows; any other is taken as exploitation.
operators.names = { "exploitation", "exploration", "crossover", "migration", "restart" }

local most <const> = 1e6

local function shown(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "number" then return ("%.10g"):format(value) end
  return type(value) == "table" and "a table" or tostring(value)
end

-- What a world answers if notes.step is not valid; nil if it is.
function operators.wrong_step(step)
  if type(step) ~= "number" or not (step > 0) then
    return { error = "notes.step must be a number above 0, not " .. shown(step) }
  end
  if step > most then return { error = ("notes.step must be at most 1000000, not %s"):format(shown(step)) } end
end

return operators
