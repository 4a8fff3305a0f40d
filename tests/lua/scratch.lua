-- scratch: a folder that a test of repositories works in, and a shell there. Nothing of the user's configuration is used: HOME is the
-- folder.
local tap = require "tap"
local fs = require "apsis.fs"
local git = require "apsis.git"

local scratch = {}

function scratch.quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- What a shell script says in that folder; raises, with that, where a command of it fails.
function scratch.run(dir, script)
  local quote = scratch.quote
  local env = "HOME=" .. quote(dir) .. " GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=C" ..
    " GIT_COMMITTER_EMAIL=c@d "
  local pipe = assert(io.popen("cd " .. quote(dir) .. " && " .. env .. "sh -ec " .. quote(script) .. " 2>&1"))
  local output = pipe:read "a"
  if not pipe:close() then error(script .. "\n" .. output, 2) end
  return (output:gsub("\n$", ""))
end

-- From the script that makes the folder's repo: inside(body), a test that runs body(repo, its folder, the folder around it), then
-- cleans up and looks for what was left open. undisturbed: it looks at git's own files, or its shell makes objects, which
-- git does not do reliably beside its gc; so tests/beside_gc leaves it alone.
function scratch.with(setup, undisturbed)
  return function(body)
    return function()
      local dir = assert(fs.tempdir(undisturbed and "undisturbed-" or "apsis-test-"))
      local descriptors = #assert(fs.list "/proc/self/fd")
      local apart = dir .. "/undisturbed-setup" -- the user's git may fail where another git collects
      assert(fs.mkdir(apart))
      scratch.run(apart, setup)
      for _, name in ipairs(assert(fs.list(apart))) do assert(fs.rename(apart .. "/" .. name, dir .. "/" .. name)) end
      assert(fs.remove_tree(apart))
      local ok, message = xpcall(function()
        local repo <close> = assert(git.open(dir .. "/repo"))
        body(repo, dir .. "/repo", dir)
      end, debug.traceback)
      collectgarbage()
      collectgarbage()
      assert(fs.remove_tree(dir))
      if not ok then error(message, 0) end
      tap.equal(#assert(fs.list "/proc/self/fd"), descriptors, "open descriptors")
    end
  end
end

return scratch
