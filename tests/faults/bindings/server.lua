-- server: every function of apsis.server: `return run, prepare`. The client is a process of its own.
local function need(value, message) return value or error(message, 2) end

return function(step)
  local process = require "apsis.process"
  local servers = require "apsis.server"
  local wait = require "apsis.wait"
  step("a request answered, and a stream", function()
    local server <close> = need(servers.open(0))
    local url = ("http://127.0.0.1:%d/"):format(server:port())
    local client <close> = need(process.start { argv = { "curl", "-s", "-N", "--max-time", "5", "-H", "X-A: b", "-d", "body", url, url } })
    local late = wait.now() + 10
    while wait.now() < late and not client:result() do
      wait.any({ server, client }, 0.2)
      local request = server:take()
      if request then
        need(server:answer(request.id, 200, { ["X-B"] = "c" }))
        need(server:send(request.id, ("x"):rep(10000)))
        need(server:finish(request.id))
      end
    end
  end)
  step("left to the collector", function()
    need(servers.open(0))
    collectgarbage()
  end)
  step("raises", function()
    local server <close> = need(servers.open(0))
    for _, headers in ipairs { { ["a b"] = "x" }, { a = "x\n" } } do
      local ok, message = pcall(server.answer, server, 1, 200, headers, "")
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
    local answered, message, code = server:answer(1, 200, {}, "")
    if answered or code ~= "ENOENT" then error(message, 0) end
  end)
end
