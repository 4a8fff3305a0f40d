-- account: this user's home in the machine's account list, which HOME need not name.
local fs = require "apsis.fs"
local host = require "apsis.host"

local account = {}

-- Its real path; nil if there is none.
function account.home()
  local uid = tostring(host.uid)
  for line in (fs.read "/etc/passwd" or ""):gmatch "[^\n]+" do
    local id, path = line:match "^[^:]*:[^:]*:(%d+):[^:]*:[^:]*:([^:]*)"
    if id == uid then return fs.realpath(path) end
  end
end

return account
