-- sha256: the digest of a text (FIPS 180-4): bytes, hex digits, or the form of a Content-Security-Policy. Called by
-- live/evaluator, the pages and the export.
local sha256 = {}

-- The first 32 bits of the fractional part of x's root; x is one of the first primes.
local function fraction(root)
  return math.floor(root % 1 * 2 ^ 32)
end

local function first_primes(count)
  local primes, number = {}, 2
  while #primes < count do
    local prime = true
    for _, known in ipairs(primes) do prime = prime and number % known ~= 0 end
    if prime then primes[#primes + 1] = number end
    number = number + 1
  end
  return primes
end

-- The integer cube root of n 2^96 would not fit; a double's last bits are off, so Newton's step is taken in halves.
local function cube_fraction(prime)
  local low, high = 0, 2 ^ 32 // 1 | 0
  local whole = math.floor(prime ^ (1 / 3))
  local function reaches(bits) -- (whole + bits / 2^32)^3 <= prime, in parts that a double holds exactly
    local upper, lower = bits >> 16, bits & 0xffff
    local a, b, c = whole, upper / 2 ^ 16, lower / 2 ^ 32
    local head = a * a * a + 3 * a * a * b + 3 * a * b * b + b * b * b
    return (head - prime) + 3 * c * (a + b) * (a + b) + 3 * c * c * (a + b) <= 0
  end
  while high - low > 1 do
    local middle = (low + high) // 2
    if reaches(middle) then low = middle else high = middle end
  end
  return low
end

local primes = first_primes(64)
local constants, beginning = {}, {}
for index, prime in ipairs(primes) do
  constants[index] = cube_fraction(prime)
  if index <= 8 then beginning[index] = fraction(math.sqrt(prime)) end
end

local function block(state, w, text, at)
  w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16] =
    string.unpack(">I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4", text, at)
  for index = 17, 64 do
    local x, y = w[index - 15], w[index - 2]
    x, y = x << 32 | x, y << 32 | y -- doubled, so that a shift is a rotation
    w[index] = (w[index - 16] + w[index - 7] + ((x >> 7 ~ x >> 18 ~ (x & 0xffffffff) >> 3) & 0xffffffff)
      + ((y >> 17 ~ y >> 19 ~ (y & 0xffffffff) >> 10) & 0xffffffff)) & 0xffffffff
  end
  local a, b, c, d, e, f, g, h = table.unpack(state)
  for index = 1, 64 do
    local x, y = e << 32 | e, a << 32 | a
    local first = h + ((x >> 6 ~ x >> 11 ~ x >> 25) & 0xffffffff) + (e & f ~ ~e & g) + constants[index] + w[index]
    local second = ((y >> 2 ~ y >> 13 ~ y >> 22) & 0xffffffff) + (a & b ~ a & c ~ b & c)
    h, g, f, e, d, c, b, a = g, f, e, (d + first) & 0xffffffff, c, b, a, (first + second) & 0xffffffff
  end
  for index, value in ipairs { a, b, c, d, e, f, g, h } do state[index] = (state[index] + value) & 0xffffffff end
end

-- The 32 bytes.
function sha256.digest(text)
  local state, w = table.move(beginning, 1, 8, 1, {}), {}
  local padded = text .. "\x80" .. ("\0"):rep((55 - #text) % 64) .. string.pack(">I8", #text * 8)
  for at = 1, #padded, 64 do block(state, w, padded, at) end
  return string.pack(">I4I4I4I4I4I4I4I4", table.unpack(state))
end

-- The same as 64 hex digits.
function sha256.hex(text)
  return (sha256.digest(text):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- RFC 4648.
function sha256.base64(bytes)
  local text = bytes:gsub("..?.?", function(group)
    local a, b, c = group:byte(1, 3)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    local four = {}
    for index = 1, 4 do
      local digit = bits >> (24 - 6 * index) & 63
      four[index] = index <= #group + 1 and digits:sub(digit + 1, digit + 1) or "="
    end
    return table.concat(four)
  end)
  return text
end

return sha256
