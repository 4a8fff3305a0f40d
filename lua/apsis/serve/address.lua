-- address: who may ask what: a request needs the token in its path, must be meant for this machine, and comes from no
-- page of another site. The token is new each time.
local address = {}

local Address = {}
Address.__index = Address

local BYTES <const> = 16

local function random_token()
  local file <close> = assert(io.open("/dev/urandom", "rb"))
  return (assert(file:read(BYTES)):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

function address.new(port, token)
  local hosts = {}
  for _, name in ipairs { "127.0.0.1", "localhost" } do hosts[("%s:%d"):format(name, port)] = true end
  return setmetatable({ token = token or random_token(), hosts = hosts, root = "http://127.0.0.1:" .. port }, Address)
end

-- The address of a path below the token.
function Address:of(path) return ("%s/%s/%s"):format(self.root, self.token, path) end

-- Whether two texts are the same; takes as long for each text of a length.
local function same(given, wanted)
  local difference = #given ~ #wanted
  for at = 1, #given do difference = difference | given:byte(at) ~ (wanted:byte(at) or 0) end
  return difference == 0
end

-- The rest of a request's path; nil and why it is refused.
function Address:path(request)
  local host, origin = request.headers.host or "", request.headers.origin
  if not self.hosts[host] then return nil, "this server answers to 127.0.0.1 and localhost only" end
  if origin and origin ~= "http://" .. host then return nil, "pages of other sites may not ask" end
  local token, rest = request.path:match "^/([^/]*)/(.*)$"
  if not token or not same(token, self.token) then
    return nil, "the address lacks the right token: open the whole address that `apsis report --serve` printed"
  end
  return rest
end

return address
