-- serve: whoever asks for something else does not wait while a page's data is gathered.
local apps = require "apsis.serve.app"
local tap = require "tap"

tap.test("data is gathered once for all who ask meanwhile, and others are answered first", function()
  local answers, gathered = {}, 0
  local server = { port = function() return 1 end,
    answer = function(_, id, status, _, body) answers[#answers + 1] = { id, status, body } end }
  local project = { follow = function() end, page = function() return "page" end, data = function() return "data" end,
    is_fresh = function() return gathered > 0 end }
  function project.gather(_, pause)
    pause()
    gathered = gathered + 1
    return true
  end
  local app = apps.new(server, { project = function(_, number) return number == 1 and project or nil end })
  local function ask(id, path)
    app:handle { id = id, method = "GET", path = app.address:of(path):sub(#app.address.root + 1),
      headers = { host = "127.0.0.1:1" } }
  end
  local function go_on()
    for task in pairs(app.tasks) do assert(coroutine.resume(task.co)) end
  end
  ask(1, "1/")
  go_on()
  ask(2, "1/data")
  ask(3, "1/nothing")
  tap.equal(answers, { { 3, 404, "there is no such page\n" } })
  go_on()
  tap.equal({ gathered, answers[2], answers[3] }, { 1, { 1, 200, "page" }, { 2, 200, "data" } })
  ask(4, "1/")
  tap.equal(answers[4], { 4, 200, "page" })
end)

tap.done()
