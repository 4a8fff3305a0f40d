-- The folder that this machine and the nodes share.
package.path = "../?.lua;./?.lua;" .. package.path
local evaluations = require "apsis.cluster.evaluations"
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local node = require "apsis.cluster.node"
local tap = require "tap"
local wait = require "apsis.wait"

tap.test("a job that is being removed is not claimed once more", function()
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  local name = "00-1-00"
  assert(shared:write { name = name })
  local dir = shared:dir(name)
  tap.equal(node.begin(dir).name, name)
  tap.equal(node.begin(dir), nil, "twice")
  local remove_tree, begun = fs.remove_tree, "not tried"
  function fs.remove_tree(path)
    tap.equal(fs.stat(path .. "/job.json"), nil, "it goes first")
    fs.remove(path .. "/claim")
    begun = node.begin(dir)
    return remove_tree(path)
  end
  shared:remove(name)
  fs.remove_tree = remove_tree
  tap.equal(begun, nil)
  tap.equal(fs.list(shared.root), {})
  assert(remove_tree(top))
end)

tap.test("who is killed while the store is removed leaves no half of one", function()
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  assert(shared:carry { ["a.txt"] = "a" })
  local remove_tree = fs.remove_tree
  function fs.remove_tree(path)
    if path == shared.root then
      assert(fs.remove(fs.stat(path .. "/store.git/HEAD") and path .. "/store.git/HEAD" or path .. "/store.git.new/HEAD"))
      error "killed"
    end
    return remove_tree(path)
  end
  tap.raises("killed", shared.close, shared)
  fs.remove_tree = remove_tree
  assert(assert(folder.open(top, "p")):carry { ["a.txt"] = "a" })
  assert(fs.remove_tree(top))
end)

tap.test("what cannot be read now is not taken for what is not there", function()
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  assert(shared:write { name = "00-1-00", experiment = 7 })
  tap.equal({ shared:jobs(), shared:attempts("00")[1].name, shared:away() }, { { ["00-1-00"] = 7 }, "00-1-00", false })
  local list = fs.list
  function fs.list(path) return nil, "EIO: " .. path, "EIO" end
  local jobs, why = shared:jobs()
  local attempts, reason = shared:attempts "00"
  local away = shared:away()
  fs.list = list
  local read = fs.read
  function fs.read(path) return nil, "EIO: " .. path, "EIO" end
  local unread, unread_why = shared:jobs()
  fs.read = read
  tap.equal({ unread, unread_why }, { nil, shared:dir "00-1-00" .. "/job.json cannot be read" })
  tap.equal({ jobs, why, attempts, reason, away }, { nil, "EIO: " .. shared.root, nil, "EIO: " .. shared.root, true })
  tap.equal({ shared:mark("none", "lost", "why"), shared:mark("00-1-00", "lost", "why") }, { true, true })
  assert(fs.remove_tree(top))
end)

tap.test("nothing is made in the place of a folder that is away, and what failed then is done when it is back", function()
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  local warned, tries, slot = 0, 0, { outside = true }
  local executor = evaluations.open({ manifest = { home = "/p", execution = { poll_sec = 0.01, queue_sec = 60 } },
    warn_once = function() warned = warned + 1 end, need = function(_, value, message) return assert(value, message) end,
  }, nil, { spec = {} })
  executor.folder = shared
  local sleep = wait.sleep
  function wait.sleep()
    tap.equal(fs.stat(shared.root), nil)
    assert(fs.rename(top .. "/away", shared.root))
  end
  for _, action in ipairs { shared.carry, shared.write } do
    executor:need(slot, function()
      tries = tries + 1
      if tries % 2 == 1 then assert(fs.rename(shared.root, top .. "/away")) end -- after the look
      return action(shared, { name = "text" })
    end)
  end
  wait.sleep = sleep
  tap.equal({ tries, warned > 0, shared:has("text", "job.json") }, { 4, true, true })
  slot.skipped = "a person"
  tap.equal({ executor:need(slot, function() return nil, "EIO" end) }, { nil, "a person" })
  slot.skipped = nil
  wait.sleep = function() end
  tries = 0
  tap.raises("no space", function()
    executor:need(slot, function()
      tries = tries + 1
      return nil, "no space"
    end)
  end)
  tap.equal(tries, 2)
  wait.sleep = sleep
  assert(fs.remove_tree(top))
end)

tap.test("a job costs until it was last seen to run; during an outage none ends that may have a result", function()
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  local executor = evaluations.open({ manifest = { home = "/p", execution = { poll_sec = 1, queue_sec = 1e9,
    usd_per_hour = 1 } }, warn_once = function() end }, nil, { spec = {} })
  executor.folder = shared
  assert(shared:write { name = "00-1-00" })
  executor.flying["00-1-00"] = { number = 7, running = true, began = 0, seen = 7200 }
  local sleep = wait.sleep
  tap.equal({ executor:has_result(7), executor:running_usd() }, { false, 2 })
  assert(fs.rename(shared.root, top .. "/away"))
  function wait.sleep()
    tap.equal({ executor:has_result(7), executor:has_result(8) }, { true, false })
    assert(fs.rename(top .. "/away", shared.root))
  end
  tap.equal(executor:outage { outside = true }, true)
  tap.equal({ executor:has_result(7), executor:outage { outside = true } }, { false, false })
  wait.sleep = sleep
  executor.inherited = { [7] = { "00-2-00" }, [8] = { "00-3-00", "00-4-00" } }
  for _, name in ipairs(table.move(executor.inherited[8], 1, 2, 2, { "00-2-00" })) do
    assert(shared:write({ name = name }, "result.json"))
  end
  tap.equal({ executor:has_result(7), executor:has_result(8) }, { false, true }, "another one is in flight; none is")
  for _, name in ipairs(executor.inherited[8]) do assert(shared:mark(name, "lost", "why")) end
  tap.equal(executor:has_result(8), false)
  assert(fs.remove_tree(top))
end)

tap.done()
