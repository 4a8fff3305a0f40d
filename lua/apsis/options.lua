-- options: the rules of a strategy's options, as data: numbers within limits, one of some words, lists of different
-- texts. For a strategy's check(options), whose message the user sees.
local suggest = require "apsis.suggest"

local options = {}

local function wrong_number(value, rule)
  if rule.integer and math.type(value) ~= "integer" then return ("must be a whole number, not %s"):format(value) end
  if rule.least and not (value >= rule.least) then return ("must be %s or more, not %s"):format(rule.least, value) end
  if rule.most and not (value <= rule.most) then return ("must be %s or less, not %s"):format(rule.most, value) end
end

-- A list without holes of different texts, none empty.
local function wrong_names(list)
  local seen, count = {}, 0
  for _ in pairs(list) do count = count + 1 end
  for index = 1, count do
    local name = list[index]
    if type(name) ~= "string" or name == "" then return "must be a list of texts" end
    if seen[name] then return ("has %q twice"):format(name) end
    seen[name] = true
  end
end

local function wrong_word(value, words)
  for _, word in ipairs(words) do if word == value then return nil end end
  return ("must be %s, not %q%s"):format(table.concat(words, " or "), tostring(value), suggest.sentence(tostring(value),
    words))
end

-- The first error, by name in the order of names; nil if there is none. rules: { [name] = { integer, least, most } |
-- { one_of = {...} } | { names = true } }. Types were checked against the declared defaults before.
function options.problem(values, rules)
  for _, name in ipairs(suggest.names(rules)) do
    local value, rule = values[name], rules[name]
    local wrong
    if rule.one_of then wrong = wrong_word(value, rule.one_of)
    elseif rule.names then wrong = wrong_names(value)
    else wrong = wrong_number(value, rule) end
    if wrong then return ("option %s %s"):format(name, wrong) end
  end
end

return options
