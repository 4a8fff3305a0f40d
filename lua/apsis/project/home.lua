-- home: the user's home by HOME. A HOME that is not absolute would depend on the current folder: it counts as none.

local home = {}

-- Its path | nil if there is none.
function home.dir()
  local path = os.getenv "HOME" or ""
  return path:sub(1, 1) == "/" and path or nil
end

-- A path whose leading ~ is written out; it stays if there is no home.
function home.expand(path)
  return (path:gsub("^~%f[/%z]", function() return home.dir() end))
end

return home
