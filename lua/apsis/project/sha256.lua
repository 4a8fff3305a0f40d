-- sha256: the digest of a text (FIPS 180-4): bytes, hex digits, or the form of a Content-Security-Policy. Called by
-- live/evaluator, the pages and the export.
local sha256 = {}

-- FIPS 180-4, 4.2.2 and 5.3.3.
local constants <const> = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
local beginning <const> = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

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
