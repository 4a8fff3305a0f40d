-- home: a throwaway home for an agent. Of the user's settings only what a login needs is copied into it; afterwards
-- only refreshed tokens return; the rest is removed, so that nothing that an agent writes there (hooks, memory,
-- transcripts) is read at its next start. Variables such as CLAUDE_CONFIG_DIR lead the agent to it.
local fs = require "apsis.fs"
local json = require "apsis.json"
local user = require "apsis.project.home"

local home = {}

local PRIVATE_FOLDER, PRIVATE_FILE = 448, 384 -- 0700, 0600
local LONGEST_TOKEN = 65536 -- bytes

-- The members of a login file that a refresh changes. All else stays as the user has it: a key may be a command there.
local refreshed = {}
for name in ([[accessToken refreshToken expiresAt refreshTokenExpiresAt access_token refresh_token id_token expiry_date
  last_refresh access refresh expires]]):gmatch "%S+" do
  refreshed[name] = true
end

local function is_token(value)
  if type(value) == "number" then return value - value == 0 end
  return type(value) == "string" and #value <= LONGEST_TOKEN and value:find "^[%w%-._~+/=:|]+$" ~= nil
end

-- Takes refreshed tokens over into a login file's value: members that are there already, of the same type. Whether
-- there were any.
local function take_over(before, after)
  local changed = false
  for key, value in pairs(before) do
    local new = after[key]
    if type(value) == "table" and type(new) == "table" then
      changed = take_over(value, new) or changed
    elseif refreshed[key] and new ~= value and math.type(new) == math.type(value) and type(new) == type(value)
      and is_token(new) then
      before[key], changed = new, true
    end
  end
  return changed
end

local function written_out(path)
  return (path:gsub("^~", function() return user.dir() or "/nonexistent" end))
end

-- The user's folder that a part of a preset's home stands for.
local function source_of(part)
  local own = os.getenv(part.variable)
  if own and own ~= "" then return own .. (part.below or "") end
  return written_out(part.from)
end

-- A JSON file with only these members; nil if it is none.
local function only(text, names)
  local value = json.decode(text)
  if type(value) ~= "table" then return nil end
  local kept = {}
  for _, name in ipairs(names) do kept[name] = value[name] end
  return json.encode(kept)
end

local function copy(self, source, target, names)
  local text = fs.read(source)
  local given = text and names and only(text, names) or not names and text
  if not given then return end
  self.world:need(fs.mkdir(target:match "^(.*)/[^/]*$"))
  self.world:need(fs.write(target, given))
  self.world:need(fs.chmod(target, PRIVATE_FILE))
  return text
end

-- Makes the parts of a preset's home in a folder, for one command. env: the variables that lead to them. A part whose
-- variable the user's `env` sets is left to the user.
function home.open(world, parts, folder, chosen)
  local self = { world = world, env = {}, logins = {} }
  world:need(fs.mkdir(folder))
  world:need(fs.chmod(folder, PRIVATE_FOLDER))
  for index, part in ipairs(parts) do
    if not chosen[part.variable] then
      local root = ("%s/%d"):format(folder, index)
      local target, source = root .. (part.below or ""), source_of(part)
      world:need(fs.mkdir(target))
      self.env[part.variable] = root
      for name, names in pairs(part.files) do
        local from = source .. "/" .. name
        if not fs.stat(from) and part.beside and part.beside[name] then from = written_out(part.beside[name]) end
        local text = copy(self, from, target .. "/" .. name, type(names) == "table" and names or nil)
        if text and part.login == name then
          self.logins[#self.logins + 1] = { user = fs.realpath(from), own = fs.realpath(target .. "/" .. name),
            text = text }
        end
      end
    end
  end
  return setmetatable(self, { __index = home })
end

-- Writes a user's login file again, at once or not at all.
local function replace(path, value)
  local beside = path .. ".apsis-new"
  fs.remove(beside)
  local ok = fs.write(beside, "") and fs.chmod(beside, PRIVATE_FILE)
    and fs.write(beside, json.encode(value, { pretty = true }) .. "\n")
  if not ok or not fs.rename(beside, path) then fs.remove(beside) end
end

-- After the command: brings refreshed tokens back, unless somebody else has changed the user's file meanwhile.
function home:close()
  for _, login in ipairs(self.logins) do
    local stat = fs.stat(login.own, { follow = false })
    local plain = stat and stat.type == "file" and fs.realpath(login.own) == login.own -- no link on the way
    local after = plain and stat.size < 1048576 and json.decode(fs.read(login.own) or "")
    local before = json.decode(login.text)
    if type(before) == "table" and type(after) == "table" and take_over(before, after)
      and fs.read(login.user) == login.text then
      replace(login.user, before)
    end
  end
end

return home
