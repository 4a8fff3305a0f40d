-- amount: what somebody else says that an answer took. A number that cannot be one of an answer is not believed: nil.
local amount = {}

local MOST_TOKENS <const>, MOST_USD <const> = 1e9, 1e6 -- of one answer

local function within(value, most) return type(value) == "number" and value >= 0 and value <= most and value or nil end

function amount.tokens(value) return within(value, MOST_TOKENS) and math.tointeger(value) end

function amount.usd(value) return within(value, MOST_USD) end

return amount
