-- keys: what a terminal sends, as keys by name: "up", "enter", "esc", or the character itself.
local keys = {}

local named = { A = "up", B = "down", C = "right", D = "left", H = "home", F = "end", Z = "backtab", ["1~"] = "home",
  ["4~"] = "end", ["5~"] = "pageup", ["6~"] = "pagedown", ["7~"] = "home", ["8~"] = "end" }
local controls = { ["\r"] = "enter", ["\n"] = "enter", ["\t"] = "tab", ["\127"] = "backspace", ["\8"] = "backspace",
  ["\3"] = "ctrl-c", ["\12"] = "ctrl-l", ["\21"] = "ctrl-u" }

-- The sequence at a place (ECMA-48, 5.4): its key (false if it is unknown) and where it ends; nil if more of it may
-- come. What cannot be one is "esc", and what follows it.
local function sequence(bytes, at)
  local console = bytes:match("^\27%[%[%a?()", at) -- the Linux console's function keys
  if console == at + 3 then return nil end
  if console then return false, console end
  local given, final, stop = bytes:match("^\27[%[O]([0-?]*)[ -/]*([@-~])()", at)
  if final then return named[final == "~" and (given:match "^%d*") .. "~" or final] or false, stop end
  if bytes:find("^[%[O][ -?]*$", at + 1) then return nil end
  return "esc", at + 1
end

-- How many bytes a character has that begins with this one.
local function length_of(byte)
  return (byte < 0xC2 or byte > 0xF4) and 1 or byte >= 0xF0 and 4 or byte >= 0xE0 and 3 or 2
end

-- The key at a place and where it ends; nil if more of it may come.
local function key_at(bytes, at)
  local byte = bytes:byte(at)
  if byte == 27 then
    if bytes:find("^[%[O]", at + 1) then return sequence(bytes, at) end
    if at == #bytes then return nil end
    return "esc", at + 1
  end
  local stop, good = at + length_of(byte), bytes:match("^[\x80-\xBF]*()", at + 1)
  if stop > good and good <= #bytes then return false, good end -- a character that breaks off
  if stop - 1 > #bytes then return nil end
  local character = bytes:sub(at, stop - 1)
  return controls[character] or byte >= 32 and utf8.len(character) and character or false, stop
end

-- The keys that were sent, and the bytes of one of which more may come.
function keys.read(bytes)
  local list, at = {}, 1
  while at <= #bytes do
    local key, stop = key_at(bytes, at)
    if key == nil then break end
    if key then list[#list + 1] = key end
    at = stop
  end
  return list, bytes:sub(at)
end

return keys
