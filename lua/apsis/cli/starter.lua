-- starter: writes a set of first files, all or none, and never over an existing file.
local fs = require "apsis.fs"

local starter = {}

function starter.path_of(dir, name)
  return dir == "." and name or dir .. "/" .. name
end

-- The files' names, as a command takes them.
function starter.names(files)
  local names = {}
  for index, file in ipairs(files) do names[index] = file.name end
  return table.concat(names, " ")
end

-- Checks for files that may not be overwritten. true | nil, message.
function starter.check_free(dir, files, force)
  local taken = {}
  for _, file in ipairs(files) do
    local path = starter.path_of(dir, file.name)
    if fs.stat(path, { follow = false }) and (not force or fs.stat(path .. "~", { follow = false })) then
      taken[#taken + 1] = force and file.name .. "~" or file.name
    end
  end
  if #taken == 0 then return true end
  local one = #taken == 1
  return nil, ("%s%s already exist%s; nothing was written%s"):format(dir == "." and "" or dir .. ": ",
    table.concat(taken, ", "), one and "s" or "", force and " (an older one is kept there: move it away)"
    or (" (--force keeps %s as NAME~)"):format(one and "it" or "them"))
end

local function write_all(dir, files)
  for _, file in ipairs(files) do
    local path = starter.path_of(dir, file.name)
    local ok, message, kept = true, nil, fs.stat(path, { follow = false })
    if kept then ok, message = fs.rename(path, path .. "~") end
    if ok then ok, message = fs.write(path, file.text) end
    if not ok then return nil, message end
    print("wrote " .. path .. (kept and (" (the old one is %s~)"):format(path) or ""))
  end
  return true
end

-- Writes { name, text }... below dir; force: keeps an existing file as NAME~. Exit code, message.
function starter.write(dir, files, force)
  local ok, message = starter.check_free(dir, files, force)
  if not ok then return 2, message end
  ok, message = fs.mkdir(dir)
  if ok then ok, message = write_all(dir, files) end
  if not ok then return 3, message end
  return 0
end

return starter
