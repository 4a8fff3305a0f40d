-- What a pilot and a node do when the shared folder fails for a moment, or when somebody takes it away.
package.path = "../?.lua;./?.lua;" .. package.path
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local node = require "apsis.cluster.node"
local pilot = require "apsis.cluster.pilot"
local state = require "apsis.state"
local tap = require "tap"
local wait = require "apsis.wait"

local JOB <const>, PILOT <const> = "00-1-00", "00-pilot-00"

-- body(shared folder) with a pilot's folder and that of one job, which answers like doctor's.
local function with(body, version)
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  assert(shared:write({ name = PILOT, slots = 1, version = host.version }, "pilot.json"))
  assert(shared:write { name = JOB, key = "00", version = version or host.version, probe = true, created = wait.time(),
    token = "t", tree = "none", manifest = { verification = { commands = {} }, sandbox = { mode = "auto" } } })
  local publish, stat, read = state.publish, fs.stat, fs.read
  local ok, message = pcall(body, shared)
  state.publish, fs.stat, fs.read = publish, stat, read
  assert(fs.remove_tree(top))
  assert(ok, message)
end

-- Makes the next `times` calls of module[name] on a file of that name fail with this code.
local function fails(module, name, file, times, code)
  local real = module[name]
  module[name] = function(path, ...)
    if path:match "[^/]*$" == file and times > 0 then
      times = times - 1
      return nil, code .. ": " .. path, code
    end
    return real(path, ...)
  end
end

-- Serves until the job has a result; how often it was begun.
local function serve(shared)
  local publish, begun = state.publish, 0
  function state.publish(path, text)
    local done, message, code = publish(path, text)
    if done and path:find "claim$" then begun = begun + 1 end
    if done and path:find "result.json$" then assert(fs.remove(shared:dir(PILOT) .. "/pilot.json")) end
    return done, message, code
  end
  tap.equal({ pilot.serve(shared:dir(PILOT)) }, { 0 })
  return begun
end

tap.test("a claim and a result that cannot be written are written a moment later", function()
  with(function(shared)
    fails(state, "publish", "claim", 2, "ENOSPC")
    fails(state, "publish", "result.json", 1, "EIO")
    tap.equal(serve(shared), 1)
    tap.equal(shared:read(JOB, "result.json").name, JOB)
  end)
end)

tap.test("a folder that cannot be looked at is not one that nobody wants", function()
  with(function(shared)
    fails(fs, "stat", JOB, 1, "ESTALE")
    tap.equal(node.unwanted(shared:dir(JOB)), nil)
    shared:remove(JOB)
    tap.matches(node.unwanted(shared:dir(JOB)), "not wanted any more")
  end)
end)

tap.test("a pilot that is started again under its name has served already", function()
  with(function(shared)
    serve(shared)
    assert(shared:write({ name = PILOT, slots = 1, version = host.version }, "pilot.json"))
    local code, message = pilot.serve(shared:dir(PILOT))
    tap.equal({ code, shared:has(PILOT, "pilot.json") }, { 3, false })
    tap.matches(message, "it has served already")
  end)
end)

tap.test("a pilot leaves a job of another version to those that come after it", function()
  with(function(shared)
    tap.matches(select(2, node.begin(shared:dir(JOB), PILOT)), "use one version everywhere")
    tap.equal(shared:has(JOB, "claim"), false)
    assert(node.begin(shared:dir(JOB)))
    assert(shared:write({ name = PILOT, slots = 1, version = "0.0.0" }, "pilot.json"))
    tap.matches(select(2, pilot.serve(shared:dir(PILOT))), "use one version everywhere")
    tap.equal(shared:has(PILOT, "serving"), false)
  end, "0.0.0")
end)

tap.test("a claim counts only if the job is there after it", function()
  with(function(shared)
    local publish = state.publish
    function state.publish(path, text)
      assert(fs.remove(shared:dir(JOB) .. "/job.json"))
      return publish(path, text)
    end
    tap.matches(select(2, node.begin(shared:dir(JOB))), "job.json")
  end)
end)

tap.test("a pilot's claim that was made though the system said that it was not is its own", function()
  with(function(shared)
    local publish = state.publish
    function state.publish(path, text)
      assert(publish(path, text))
      return nil, "EIO: " .. path, "EIO"
    end
    tap.equal(select(3, node.begin(shared:dir(JOB), PILOT)), "EIO")
    state.publish = publish
    tap.equal(node.begin(shared:dir(JOB), PILOT).name, JOB)
    tap.equal({ node.begin(shared:dir(JOB), "00-pilot-01"), (node.begin(shared:dir(JOB))) }, {})
  end)
end)

tap.test("a result that cannot be read now is read later, and a folder that cannot be listed has not lost a file", function()
  with(function(shared)
    assert(state.publish(shared:dir(JOB) .. "/result.json", json.encode { name = JOB }))
    fails(fs, "read", "result.json", 1, "EIO")
    tap.equal({ shared:read(JOB, "result.json") }, {})
    tap.equal(shared:read(JOB, "result.json").name, JOB)
    local list = fs.list
    function fs.list() return nil, "EIO: " .. JOB, "EIO" end
    local there = shared:has(JOB, "result.json")
    fs.list = list
    tap.equal(there, nil)
  end)
end)

tap.done()
