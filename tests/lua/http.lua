-- apsis.http: responses as results, refusals with a code, servers that answer wrongly, secrets that stay out of messages, and
-- what is left behind (nothing). The server is http_server.py beside this file, on loopback.
local fs = require "apsis.fs"
local host = require "apsis.host"
local http = require "apsis.http"
local json = require "apsis.json"
local process = require "apsis.process"
local tap = require "tap"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"

for _, name in ipairs { "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE" } do
  host.setenv(name, nil)
end

local dir = os.tmpname()
os.remove(dir)
assert(os.execute("mkdir " .. dir))
assert(process.run { cwd = dir, argv = { "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
  "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2",
  "-keyout", "key.pem", "-out", "cert.pem" } }.code == 0, "openssl makes a certificate")
local server = assert(process.start { argv = { "python3", "http_server.py", dir .. "/cert.pem", dir .. "/key.pem" },
  stdout_file = dir .. "/ports" })

local port, tls_port
while not port do
  wait.any({ server }, 0.02)
  assert(not server:result(), "the server runs")
  port, tls_port = (fs.read(dir .. "/ports") or ""):match("^(%d+) (%d+)\n")
end
local base, tls_base = "http://127.0.0.1:" .. port, "https://127.0.0.1:" .. tls_port
local named = "https://localhost:" .. tls_port -- as in the certificate

local function get(path, more)
  local spec = more or {}
  spec.url = base .. path
  return http.request(spec)
end

local function refused(code, pattern, ...)
  local response, message, got = ...
  tap.equal(response, nil)
  tap.equal(got, code, message)
  tap.matches(message, "^" .. code .. ": ")
  tap.matches(message, pattern)
  return message
end

tap.test("a response is its status, headers, body and seconds", function()
  local response = assert(get "/json")
  tap.equal(response.status, 200)
  tap.equal(response.headers["content-type"], "application/json")
  tap.equal(json.decode(response.body), { answer = 42, nul = "\0" })
  assert(response.seconds > 0)
  tap.equal(get("/nul").body, "a\0b\0")
  tap.equal(get("/empty-body").body, "")
end)

tap.test("a body arrives byte for byte, whatever the method", function()
  local bytes = {}
  for i = 0, 255 do bytes[i + 1] = string.char(i) end
  local body = table.concat(bytes):rep(5000) -- over a megabyte, where libcurl would ask for 100-continue
  for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET" } do
    local response = assert(get("/echo", { method = method, body = body }))
    assert(response.body == body, method)
    tap.equal(response.headers["x-method"], method)
  end
  tap.equal(get("/echo", { method = "POST" }).body, "")
end)

tap.test("the request says what was asked, and nothing invented", function()
  local head = assert(get("/head?a=1", { method = "POST", body = "x",
    headers = { Authorization = "Bearer k", ["X-Empty"] = "" } })).body .. "\r\n"
  tap.matches(head, "^POST /head%?a=1 HTTP/1.1\r\n")
  tap.matches(head, "\r\nUser%-Agent: apsis/%d[%d.]*\r\n")
  tap.matches(head, "\r\nAuthorization: Bearer k\r\n")
  tap.matches(head, "\r\nX%-Empty: *\r\n")
  tap.matches(head, "\r\nContent%-Length: 1\r\n")
  assert(not head:find("Content%-Type") and not head:find("Expect"), head)
  head = assert(get("/head", { method = "POST", body = "{}", headers = { ["content-type"] = "application/json" } })).body .. "\r\n"
  tap.matches(head, "\r\ncontent%-type: application/json\r\n")
  tap.matches(get("/head", { method = "POST" }).body .. "\r\n", "\r\nContent%-Length: 0\r\n")
  assert(not get("/head").body:find("Content"), "a GET has no body")
  tap.matches(get("/head", { headers = { ["user-agent"] = "me" } }).body, "\r\nuser%-agent: me")
end)

tap.test("HEAD has headers and no body", function()
  local response = assert(get("/head", { method = "HEAD" }))
  tap.equal({ response.status, response.body }, { 200, "" })
end)

tap.test("4xx and 5xx are results", function()
  for _, status in ipairs { 400, 401, 404, 429, 500, 503 } do
    local response = assert(get("/status/" .. status))
    tap.equal({ response.status, response.body }, { status, "no" })
  end
end)

tap.test("header names are lower-case; repeated ones are joined in order", function()
  local headers = assert(get "/repeated").headers
  tap.equal(headers["x-a"], "1, 2, 3")
  tap.equal(headers["x-empty"], "")
  tap.equal(headers["retry-after"], "7")
  tap.equal(headers["X-A"], nil)
end)

tap.test("redirects are results, not followed", function()
  local response = assert(get "/redirect")
  tap.equal({ response.status, response.headers.location }, { 302, "/json" })
end)

tap.test("a chunked reply is whole; trailers and interim responses are no headers", function()
  local response = assert(get "/chunked")
  tap.equal({ response.body, response.headers["x-trailer"] }, { "abcde" })
  response = assert(get "/interim")
  tap.equal({ response.status, response.body, response.headers["x-interim"] }, { 200, "later" })
  tap.equal(get("/until-close").body, "all of it")
end)

tap.test("a response cut short is an error, not a success", function()
  refused("ERECV", "/short: ", get "/short")
  refused("ERECV", "/short%-chunked: ", get "/short-chunked")
  refused("ERECV", "/half%-head: the connection ended within the response.s headers", get "/half-head")
  refused("ERECV", "Empty reply", get "/nothing")
end)

tap.test("a failure tells what was moved all the same, and that nothing was where nobody listened", function()
  local function moved(spec)
    local _, _, _, told = http.request(spec)
    return told
  end
  local body = ("x"):rep(1000)
  tap.equal(moved { url = base .. "/silent", method = "POST", body = body, timeout_s = 0.3 }, { sent = 1000, received = 0 })
  local short = moved { url = base .. "/short", method = "POST", body = body }
  tap.equal({ short.sent, short.received > 0 }, { 1000, true })
  tap.equal(moved { url = "http://127.0.0.1:1/", method = "POST", body = body }, { sent = 0, received = 0 })
end)

tap.test("garbage instead of HTTP is an error", function()
  refused("ERECV", "/garbage: ", get "/garbage")
end)

tap.test("waiting for an answer takes no processor time", function()
  local before = os.clock()
  refused("ETIMEDOUT", "/silent: ", get("/silent", { timeout_s = 1 }))
  assert(os.clock() - before < 0.5, os.clock() - before)
end)

tap.test("a server that stalls, before or in the body, times out", function()
  refused("ETIMEDOUT", "/silent: ", get("/silent", { timeout_s = 0.1 }))
  refused("ETIMEDOUT", "/stall: ", get("/stall", { timeout_s = 0.1 }))
  tap.equal(get("/dropped").body .. get("/dropped").body, "yesyes", "both connections were dropped")
end)

tap.test("a refused connection says so", function()
  refused("ECONNECT", "Connection refused", http.request { url = "http://127.0.0.1:1/" })
end)

tap.test("a name that cannot be looked up", function()
  refused("ERESOLVE", "resolve", http.request { url = "http://" .. ("x"):rep(70) .. "/" }) -- no name server is asked for it
end)

tap.test("what is over max_bytes is refused: announced, endless, by one byte", function()
  refused("ETOOBIG", "over 67108864 bytes %(max_bytes%)", get "/announced")
  refused("ETOOBIG", "over 5 bytes", get("/endless", { max_bytes = 5 }))
  tap.equal(get("/chunked", { max_bytes = 5 }).body, "abcde")
  refused("ETOOBIG", "over 4 bytes", get("/chunked", { max_bytes = 4 }))
  refused("ETOOBIG", "over 0 bytes", get("/json", { max_bytes = 0 }))
  tap.equal(get("/empty-body", { max_bytes = 0 }).body, "")
  refused("ETOOBIG", "headers", get "/endless-headers")
end)

tap.test("only http and https, and only URLs", function()
  for _, url in ipairs { "file:///etc/passwd", "ftp://x/", "gopher://x/", "dict://127.0.0.1/", "nonsense", "", "http://",
    "http://a b/", "http://127.0.0.1:99999/", "javascript:1" } do
    local message = refused("EURL", "^EURL: url", http.request { url = url })
    local whole = url:find "^%a+:/+[%w/.]+$" ~= nil and url ~= "http://"
    tap.matches(message, url == "" and "^EURL: url: " or "^EURL: url [^:]", url)
    tap.equal(message:find("only http and https are supported", 1, true) ~= nil, whole, "what is wrong with " .. url)
  end
end)

tap.test("a malformed spec raises, naming the key", function()
  local cases = {
    { {}, "url is missing" },
    { { url = 1 }, "url must be a string, not a number" },
    { { url = "http://x\0y" }, "url contains a zero byte" },
    { { metod = "GET" }, "unknown option 'metod'; allowed: url, method" },
    { { "http://x" }, "unknown option '%?'" },
    { { method = "get" }, "method 'get' is not one of GET" },
    { { method = "CONNECT" }, "method 'CONNECT'" },
    { { method = "HEAD", body = "" }, "a HEAD request has none" },
    { { body = {} }, "body must be a string, not a table" },
    { { headers = "x" }, "headers must be a table" },
    { { headers = { "A: 1" } }, "names must be strings" },
    { { headers = { [""] = "x" } }, "a name consists of letters" },
    { { headers = { A = 1 } }, "A must be a string, not a number" },
    { { headers = { ["Content-length"] = "9" } }, "Content%-length cannot be set" },
    { { timeout_s = 0 }, "timeout_s must be at least" },
    { { connect_timeout_s = "1" }, "connect_timeout_s must be a number" },
    { { max_bytes = -1 }, "max_bytes must be at least" },
    { { max_bytes = 0 / 0 }, "max_bytes must be at least" },
  }
  for _, case in ipairs(cases) do
    if next(case[1]) and not case[1].url and not case[1][1] then case[1].url = base end
    tap.raises(case[2], http.request, case[1])
    tap.raises(case[2], http.start, case[1])
  end
  tap.raises("table expected", http.request, base)
end)

tap.test("a header cannot smuggle another, nor be shown", function()
  for _, bad in ipairs { "sekret\r\nX: 1", "sekret\n", "sekret\0" } do
    local ok, message = pcall(http.request, { url = base, headers = { Authorization = bad } })
    assert(not ok and message:find("Authorization") and not message:find("sekret"), message)
  end
  for _, bad in ipairs { "Authorization: sekret", "A\r\nsekret", "A\0sekret" } do
    local ok, message = pcall(http.request, { url = base, headers = { [bad] = "x" } })
    assert(not ok and not message:find("sekret"), message)
  end
end)

tap.test("no message holds a secret", function()
  for _, path in ipairs { "/short", "/garbage", "/nothing", "/announced" } do
    local response, message = http.request { url = "http://me:sekret@127.0.0.1:" .. port .. path .. "?key=sekret#sekret",
      headers = { Authorization = "Bearer sekret" } }
    assert(not response and not message:find("sekret"), message)
    tap.matches(message, "GET http://127.0.0.1:%d+" .. path .. ":", "the rest is told")
  end
  for _, url in ipairs { "http://me:sekret@127.0.0.1:99999/", "http://127.0.0.1:99999/?k=sekret", "ftp://me:sekret@x/",
    "http://me:sekret@[::/", "http://me:se@sekret@a b/" } do
    local message = refused("EURL", "", http.request { url = url })
    assert(not message:find("sekret"), message)
  end
  for _, proxy in ipairs { "http://me:sekret@127.0.0.1:1", "nonsense://me:sekret@127.0.0.1:1", "http://me:sekret@[::" } do
    host.setenv("http_proxy", proxy)
    local response, message = http.request { url = "http://nonesuch.invalid/" }
    host.setenv("http_proxy", nil)
    assert(not response and not message:find("sekret"), message)
  end
end)

tap.test("the environment's proxy is used, but never for this machine itself", function()
  host.setenv("http_proxy", base)
  tap.equal(assert(http.request { url = "http://nonesuch.invalid/x?y" }).body, "proxied http://nonesuch.invalid/x?y")
  host.setenv("http_proxy", "http://127.0.0.1:1")
  for _, name in ipairs { "127.0.0.1", "localhost", "LOCALHOST", "127.1" } do
    tap.equal(assert(http.request { url = ("http://%s:%s/json"):format(name, port) }).status, 200)
  end
  refused("ECONNECT", "127.0.0.1 port 1", http.request { url = "http://127.0.0.1.invalid/" })
  host.setenv("http_proxy", nil)
end)

tap.test("certificates are verified: authority and name", function()
  refused("ETLS", "SSL_CERT_FILE", http.request { url = tls_base .. "/json" })
  host.setenv("SSL_CERT_FILE", dir .. "/cert.pem")
  tap.equal(assert(http.request { url = named .. "/json" }).status, 200)
  tap.equal(assert(http.request { url = named .. "/echo", method = "POST", body = "a\0b" }).body, "a\0b")
  refused("ETLS", "127.0.0.1", http.request { url = tls_base .. "/json" })
  host.setenv("SSL_CERT_FILE", dir .. "/nonesuch")
  refused("ETLS", "nonesuch", http.request { url = named .. "/json" })
  host.setenv("SSL_CERT_FILE", nil)
end)

tap.test("in tasks, requests overlap", function()
  local scheduler, bodies = tasks.new(), {}
  for i = 1, 2 do -- neither is answered before both were asked
    scheduler:spawn(function() bodies[i] = assert(get "/meet").body end)
  end
  scheduler:run(function() return false end)
  tap.equal(bodies, { "met", "met" })
end)

tap.test("handles are waited for together with others, and tell when they are done", function()
  local a, b, timer = assert(http.start { url = base .. "/meet" }), assert(http.start { url = base .. "/meet" }), wait.timer(60)
  tap.equal(a:result(), nil)
  local pending = { a, b }
  while #pending > 0 do
    local done = wait.any { timer, table.unpack(pending) }
    for at = #done, 1, -1 do table.remove(pending, done[at] - 1) end
  end
  tap.equal(a:result().body .. b:result().body, "metmet")
  tap.equal(a:wait().status, 200, "once more")
  a:close()
  a:close()
  tap.raises("closed", a.result, a)
  b:close()
end)

tap.test("waiting for one handle moves that one, and the order does not matter", function()
  local a <close> = assert(http.start { url = base .. "/meet" })
  local b <close> = assert(http.start { url = base .. "/meet" })
  tap.equal(b:wait().body, "met")
  tap.equal(a:wait().body, "met")
end)

tap.test("thirty-two at once, of every kind, each with its own end", function()
  local paths, handles = { "/json", "/short", "/chunked", "/status/500" }, {}
  for i = 1, 32 do handles[i] = assert(http.start { url = base .. paths[i % 4 + 1] }) end
  local running = { table.unpack(handles) }
  while #running > 0 do
    local done = wait.any(running)
    for at = #done, 1, -1 do table.remove(running, done[at]) end
  end
  for i, handle in ipairs(handles) do
    local response, _, code = handle:result()
    tap.equal(response and response.status or code, ({ 200, "ERECV", 200, 500 })[i % 4 + 1])
    handle:close()
  end
end)

tap.test("one connection serves one request after another", function()
  local first = assert(get "/peer").body
  tap.equal(get("/peer").body, first)
  tap.equal(get("/peer", { method = "POST", body = "x" }).body, first)
end)

tap.test("closing, collecting or forgetting an unfinished request drops its connection", function()
  assert(http.start { url = base .. "/silent" }):close()
  local handle = assert(http.start { url = base .. "/silent" })
  wait.any({ handle }, 0)
  handle:close()
  handle = assert(http.start { url = base .. "/stall" })
  wait.any({ handle }, 0.02)
  handle = nil -- luacheck: ignore 311
  collectgarbage()
  collectgarbage()
  tap.equal(get("/dropped").body, "yes")
  local co = coroutine.create(function() get "/silent" end)
  wait.task(co)
  local _, yielded = coroutine.resume(co)
  wait.task(nil)
  assert(coroutine.close(co))
  tap.raises("closed", yielded.wait, yielded)
  co = coroutine.create(function()
    local silent <close> = assert(http.start { url = base .. "/silent" })
    silent:wait()
  end)
  wait.task(co)
  for _ = 1, 3 do tap.equal(select("#", assert(coroutine.resume(co))), 2) end -- too soon: it yields its handle again
  wait.task(nil)
  assert(coroutine.close(co))
end)

tap.test("no descriptor is left open", function()
  local function open() return #fs.list("/proc/self/fd") end
  host.setenv("SSL_CERT_FILE", dir .. "/cert.pem")
  get "/json"
  local before = open()
  for _ = 1, 5 do
    get "/json"
    get "/short"
    get "/garbage"
    get("/stall", { timeout_s = 0.01 })
    http.request { url = tls_base .. "/json" }
    assert(http.request { url = named .. "/json" })
    http.request { url = "http://127.0.0.1:1/" }
    assert(http.start { url = base .. "/silent" }):close()
  end
  host.setenv("SSL_CERT_FILE", nil)
  tap.equal(open(), before)
end)

tap.test("a command started meanwhile inherits no connection", function()
  local handle <close> = assert(http.start { url = base .. "/silent" })
  wait.any({ handle }, 0.02)
  local pipe <close> = io.popen("cat /proc/net/tcp; echo; ls -l /proc/self/fd")
  local sockets, mine = pipe:read("a"):match("^(.*)\n\n(.*)$")
  for inode in mine:gmatch("socket:%[(%d+)%]") do
    assert(not sockets:find(" " .. inode .. " ", 1, true), "a TCP socket is inherited")
  end
end)

tap.test("a trapped signal ends a blocking request", function()
  assert(wait.trap())
  local pid = host.pid
  assert(io.popen("kill -INT " .. pid):close())
  tap.equal({ get "/silent" }, { nil, "EINTR: interrupted by SIGINT", "EINTR" })
  local handle <close> = assert(http.start { url = base .. "/silent" })
  assert(io.popen("kill -TERM " .. pid):close())
  tap.equal({ handle:wait() }, { nil, "EINTR: interrupted by SIGTERM", "EINTR" })
  tap.equal(handle:result(), nil, "it still runs")
  tap.equal(get("/json").status, 200)
end)

server:close()
assert(os.execute("rm -r " .. dir))
tap.done()
