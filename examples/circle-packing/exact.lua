-- exact: whole numbers of any size, for verifiers that must not round: +, -, *, <, <= and == as in arithmetic.
-- exact.of(number, bits) is number * 2^bits; a verifier takes all numbers of an answer by the same `bits` and compares
-- what comes of them.
local exact = {}

local Number = {}

local BASE = 1 << 24

-- A number is a list of digits, the lowest first: each from 0 to BASE - 1, but for the last one, which is 0, or -1 in a
-- negative number. Carries what is beyond, and drops leading digits that say nothing.
local function carried(digits)
  local carry, index = 0, 0
  while index < #digits or carry ~= 0 and carry ~= -1 do
    index = index + 1
    local sum = (digits[index] or 0) + carry
    digits[index], carry = sum % BASE, sum // BASE
  end
  local idle = carry % BASE
  while digits[index] == idle do
    digits[index], index = nil, index - 1
  end
  digits[index + 1] = carry
  return setmetatable(digits, Number)
end

-- of(number, bits) -> number * 2^bits; nil if that is not a whole number of less than 2^63.
function exact.of(number, bits)
  local whole = math.tointeger(math.type(number) == "integer" and bits == 0 and number or number * 2.0 ^ bits)
  return whole and carried { whole }
end

function Number.__add(a, b)
  local digits = {}
  for index = 1, math.max(#a, #b) do digits[index] = (a[index] or 0) + (b[index] or 0) end
  return carried(digits)
end

function Number.__sub(a, b)
  local digits = {}
  for index = 1, math.max(#a, #b) do digits[index] = (a[index] or 0) - (b[index] or 0) end
  return carried(digits)
end

function Number.__mul(a, b)
  local digits = {}
  for i = 1, #a do
    for k = 1, #b do
      local place = i + k - 1
      digits[place] = (digits[place] or 0) + a[i] * b[k]
    end
  end
  return carried(digits)
end

function Number.__lt(a, b)
  local difference = a - b
  return difference[#difference] < 0
end

function Number.__le(a, b) return not (b < a) end

function Number.__eq(a, b) return a <= b and b <= a end

function Number.__unm(a) return carried { 0 } - a end

-- The nearest floating-point number, or one beside it.
function exact.float(number)
  if number[#number] < 0 then return -exact.float(-number) end
  local sum = 0.0
  for index = #number, 1, -1 do sum = sum * BASE + number[index] end
  return sum
end

return exact
