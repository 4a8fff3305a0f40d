-- What the loop's machine concludes from the queue's answers about pilots.
package.path = "../?.lua;./?.lua;" .. package.path
local describe = require "apsis.cluster.describe"
local evaluations = require "apsis.cluster.evaluations"
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local sha256 = require "apsis.project.sha256"
local tap = require "tap"
local wait = require "apsis.wait"

local HOME <const>, POLL_S <const> = "/home/me/p", 0.02
local MARK <const> = describe.mark(sha256.hex(HOME))
local JOB <const>, PILOT <const> = MARK .. "-1-00", MARK .. folder.PILOT .. "00"

-- body(pilots, shared folder, queue, a function for those of another process) with one pilot and `requeue: 0`. queue.jobs: what the
-- queue has; it answers about the names that it is asked for.
local function with(body)
  local top = assert(fs.tempdir "apsis-test-")
  local shared = assert(folder.open(top, "p"))
  local queue = { jobs = {}, sent = {}, cancelled = {}, due = 0, spec = { programs = {} } }
  function queue:ask(names)
    local jobs = {}
    for _, name in ipairs(names) do jobs[name] = self.jobs[name] end
    self.answer = { jobs = jobs, began = wait.now() }
    return self.answer
  end
  function queue:submit(name)
    self.sent[#self.sent + 1] = { name = name, time = wait.now() }
    return true
  end
  function queue:cancel(names)
    table.move(names, 1, #names, #self.cancelled + 1, self.cancelled)
    return true
  end
  local function new()
    local executor = evaluations.open({ log = function() end, warn_once = function() end, manifest = { home = HOME,
      execution = { pilots = 1, workers = 1, poll_sec = POLL_S, requeue = 0 } } }, nil, queue)
    executor.folder, executor.flying[JOB] = shared, { name = JOB }
    return executor.queue
  end
  local ok, message = pcall(body, new(), shared, queue, new)
  assert(fs.remove_tree(top))
  assert(ok, message)
end

tap.test("a status command that answers about the names it gets shows jobs that were sent without pilots", function()
  with(function(all, shared, queue)
    assert(shared:write { name = JOB })
    queue.jobs[JOB] = { state = "running", node = "n1" }
    assert(all:submit(JOB))
    tap.equal(all.answer.jobs[JOB], { state = "running", node = "n1" })
    assert(all:cancel { JOB })
    tap.equal(queue.cancelled, { JOB })
  end)
end)

tap.test("a pilot of an earlier process that waits again has lost what it had claimed", function()
  with(function(all, shared, queue, new)
    assert(shared:write({ name = PILOT, slots = 1, version = host.version }, "pilot.json"))
    assert(shared:write { name = JOB })
    assert(fs.write(shared:dir(PILOT) .. "/serving", "n1\n"))
    assert(fs.write(shared:dir(JOB) .. "/claim", json.encode { node = "n1", pilot = PILOT }))
    queue.jobs[PILOT] = { state = "running", node = "n1" }
    tap.equal(all:ask({ JOB }).jobs[JOB], { state = "running", node = "n1" })
    queue.jobs[PILOT] = { state = "queued", node = "short" }
    local other = new()
    tap.equal({ other:ask({ JOB }).jobs, other.unmanned }, { {}, false })
    tap.equal(queue.sent, {}, "it is not replaced")
    queue.jobs[PILOT] = nil
    other = new()
    other:ask { JOB }
    other:ask { JOB }
    tap.equal({ other.unmanned, next(other.mine) ~= nil }, { true, true })
  end)
end)

tap.test("a job whose folder is gone waits for no pilot, unless no folder can be read", function()
  with(function(all, shared, queue)
    assert(shared:write { name = JOB })
    tap.equal(all:ask({ JOB }).jobs, { [JOB] = { state = "queued", node = "the pilots" } })
    local list, sent = fs.list, #queue.sent
    function fs.list(path) return nil, "EIO: " .. path, "EIO" end
    local answer = all:ask { JOB }
    all.mine = {}
    local ok = all:submit()
    fs.list = list
    tap.equal({ answer.jobs[JOB].state, ok, #queue.sent }, { "queued", true, sent }, "while nothing can be read")
    shared:remove(JOB)
    tap.equal(all:ask({ JOB }).jobs, {})
  end)
end)

tap.test("after a lost pilot more than `requeue`, jobs have time to be given up before another one is sent", function()
  with(function(all, shared, queue)
    assert(shared:write { name = JOB })
    local given_up
    for _ = 1, 1000 do
      all:ask { JOB }
      if #queue.sent > 1 then break end
      given_up = given_up or all.why and wait.now()
      wait.sleep(POLL_S / 4)
    end
    tap.equal(#queue.sent, 2)
    tap.matches(all.why, "no pilot measures: the scheduler has lost it")
    tap.equal(queue.sent[2].time - given_up > 4 * POLL_S, true)
  end)
end)

tap.done()
