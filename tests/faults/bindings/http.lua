-- http: every function of apsis.http, against allocations.c's own server: `return run, prepare`.
local function need(value, message) return value or error(message, 2) end

return function(step, _, port)
  local http = require "apsis.http"
  local wait = require "apsis.wait"
  local url = ("http://user:secret@127.0.0.1:%d/path?x=1"):format(port)
  step("a request", function()
    local response = need(http.request { url = url, method = "POST", body = ("b"):rep(2000), headers = { ["X-Mine"] = "1", Empty = "" },
      timeout_s = 10, connect_timeout_s = 5, max_bytes = 1000 })
    assert(response.status == 200 and response.body == "hello" and response.headers["x-a"] == "1, 2")
  end)
  step("started, waited for", function()
    local handle <close> = need(http.start { url = url })
    need(wait.any({ handle }, 10))
    local response = need(handle:wait())
    assert(response.body == "hello" and need(handle:result()).status == 200)
  end)
  step("dropped, and left to the collector", function()
    local handle = need(http.start { url = url })
    handle:close()
    handle:close()
    http.start { url = url }
    collectgarbage()
  end)
  step("refused", function()
    for _, bad in ipairs { { "EURL", "gopher://x" }, { "EURL", "http://" }, { "ECONNECT", "http://127.0.0.1:1/" } } do
      local response, message, code = http.request { url = bad[2], timeout_s = 5 }
      assert(response == nil)
      if code ~= bad[1] then error(message, 0) end
    end
    local response, message, code = http.request { url = url, max_bytes = 2 }
    assert(response == nil)
    if code ~= "ETOOBIG" then error(message, 0) end
  end)
  step("raises", function()
    for _, spec in ipairs { {}, { url = url, nope = 1 }, { url = url, method = "BREW" }, { url = url, headers = { ["a\n"] = "x" } } } do
      local ok, message = pcall(http.request, spec)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
  end)
end
