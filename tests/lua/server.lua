-- apsis.server: whole requests, answers in any order, streams, and clients that send too much, go away or never read.
-- The clients are apsis.http and curl, on loopback.
local fs = require "apsis.fs"
local http = require "apsis.http"
local process = require "apsis.process"
local servers = require "apsis.server"
local tap = require "tap"
local wait = require "apsis.wait"

local server <close> = assert(servers.open(0))
local base = ("http://127.0.0.1:%d"):format(server:port())
local crowd_file = os.tmpname()
local KIND = { ["content-type"] = "text/plain" }

-- The next request; raises if none comes. other: a handle that goes on meanwhile.
local function next_request(from, other)
  local late, request = wait.now() + 15, nil
  while not request do
    wait.any({ from, other }, 20)
    assert(wait.now() < late, "a request came")
    request = from:take()
  end
  return request
end

-- Goes on until the handle is done; whether that was soon, as nothing but an event ends the wait.
local function until_done(handle)
  local late = wait.now() + 15
  while wait.now() < late do
    for _, at in ipairs(wait.any({ handle, server }, 20)) do
      if at == 1 then return wait.now() < late end
    end
  end
  return false
end

local function sent_to(id, text)
  local sent, _, code = server:send(id, text)
  return sent, code
end

-- A client of its own process.
local function curl(...)
  return assert(process.start { argv = { "curl", "-s", "-N", "--max-time", "30", ... }, timeout_s = 40 })
end

tap.test("a request is its method, path, headers and body; its answer arrives", function()
  local handle <close> = assert(http.start { url = base .. "/a%20b/c?x=1", method = "POST", body = "a\0b",
    headers = { ["X-Mine"] = "Yes" } })
  local request = next_request(server, handle)
  tap.equal({ request.method, request.path, request.body, request.headers["x-mine"] }, { "POST", "/a b/c", "a\0b", "Yes" })
  tap.equal(request.headers.host, "127.0.0.1:" .. server:port())
  tap.equal(server:take(), nil, "it is taken once")
  assert(server:answer(request.id, 404, { ["X-Its"] = "own" }, "no\0body"))
  assert(until_done(handle))
  local response = assert(handle:result())
  tap.equal({ response.status, response.body, response.headers["x-its"] }, { 404, "no\0body", "own" })
end)

tap.test("requests are answered in any order", function()
  local handles, taken = {}, {}
  for at = 1, 3 do handles[at] = assert(http.start { url = base .. "/" .. at }) end
  for _ = 1, 3 do
    local request
    repeat
      wait.any({ server, handles[1], handles[2], handles[3] }, 0.2)
      request = server:take()
    until request
    taken[request.path] = request.id
  end
  for at = 3, 1, -1 do
    assert(server:answer(taken["/" .. at], 200, KIND, "body " .. at))
    assert(until_done(handles[at]))
    tap.equal(handles[at]:result().body, "body " .. at)
    handles[at]:close()
  end
end)

tap.test("a stream is sent as it comes, and ends", function()
  local client <close> = curl(base .. "/stream")
  local request = next_request(server)
  assert(server:answer(request.id, 200, KIND))
  for at = 1, 50 do
    assert(server:send(request.id, ("%d "):format(at)))
    wait.any({ server }, 0)
  end
  assert(server:send(request.id, ("x"):rep(100000)))
  assert(server:finish(request.id))
  assert(until_done(client))
  local found = client:result()
  local numbers = {}
  for at = 1, 50 do numbers[at] = at end
  tap.equal({ found.code, found.stdout.head:sub(1, 141) }, { 0, table.concat(numbers, " ") .. " " })
  local sent, message, code = server:send(request.id, "more")
  tap.equal({ sent, code }, { nil, "ENOENT" }, message)
  for _, id in ipairs { request.id, request.id + 1000 } do
    sent, message, code = server:finish(id)
    tap.equal({ sent, code }, { nil, "ENOENT" }, message)
  end
end)

tap.test("a client that goes away is noticed, and one that never reads is dropped at a limit", function()
  local leaver = curl(base .. "/leaver")
  local request = next_request(server)
  assert(server:answer(request.id, 200, KIND))
  leaver:close()
  local late, sent, code = wait.now() + 20, true, nil
  while sent and wait.now() < late do
    sent, code = sent_to(request.id, "x")
    wait.any({ server }, 0.02)
  end
  tap.equal({ sent, code }, { nil, "ENOENT" })
  local idle <close> = assert(process.start { timeout_s = 40, argv = { "python3", "-c", ([[
import socket, time
client = socket.create_connection(("127.0.0.1", %d))
client.sendall(b"GET /idle HTTP/1.1\r\nHost: x\r\n\r\n")
time.sleep(30)]]):format(server:port()) } })
  request = next_request(server)
  assert(server:answer(request.id, 200, KIND))
  local many, count = ("x"):rep(100000), 0
  repeat
    sent, code = sent_to(request.id, many)
    wait.any({ server }, 0)
    count = count + 1
  until not sent or count == 1000
  tap.equal(code, "EFULL")
  idle:close()
end)

tap.test("what is too large is refused: headers with 431; a body is not handed on, and can be answered", function()
  local client <close> = curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "X: " .. ("a"):rep(60000), base .. "/")
  assert(until_done(client))
  tap.equal(client:result().stdout.head, "431")
  for _, size in ipairs { 65536, 65537, 3000000 } do
    local handle <close> = assert(http.start { url = base .. "/", method = "POST", body = ("b"):rep(size) })
    local late, request = wait.now() + 20
    repeat
      wait.any({ server, handle }, 0.2)
      request = server:take()
    until request or wait.now() > late
    tap.equal(request.body and #request.body, size == 65536 and size or nil)
    assert(server:answer(request.id, 413, KIND, "too large"))
    assert(until_done(handle))
    tap.equal(handle:result().status, 413)
  end
  tap.equal(server:take(), nil)
end)

tap.test("with no room for more connections others wait, and come in when those have gone all at once", function()
  local crowd <close> = assert(process.start { timeout_s = 40, argv = { "python3", "-c", ([[
import socket, time
held = [socket.create_connection(("127.0.0.1", %d)) for _ in range(128)]
print("in", flush=True)
time.sleep(30)]]):format(server:port()) }, stdout_file = crowd_file })
  repeat wait.any({ server, crowd }, 0.2) until fs.read(crowd_file) == "in\n"
  wait.any({ server }, 0.2)
  local client <close> = curl("-o", "/dev/null", "-w", "%{http_code}", base .. "/after")
  wait.any({ server }, 0.5)
  tap.equal(server:take(), nil, "there is no room")
  crowd:close() -- the server does not look meanwhile
  local request = next_request(server)
  tap.equal(request.path, "/after")
  assert(server:answer(request.id, 200, KIND, "here"))
  assert(until_done(client))
  tap.equal(client:result().stdout.head, "200")
end)

tap.test("a port that is taken is refused, and a free one is listened on", function()
  local second, message, code = servers.open(server:port())
  tap.equal({ second, code }, { nil, "EADDRINUSE" }, message)
  tap.matches(message, "port %d+ of 127%.0%.0%.1")
end)

tap.test("bad arguments raise", function()
  tap.raises("65535", servers.open, 65536)
  tap.raises("599", server.answer, server, 1, 42, {}, "")
  tap.raises("line end", server.answer, server, 1, 200, { A = "b\r\nC: d" }, "")
  tap.raises("header's name", server.answer, server, 1, 200, { ["a b"] = "c" }, "")
  for _, wrong in ipairs { { A = 5 }, { [5] = "a" }, { A = false } } do
    tap.raises("names and values must be strings", server.answer, server, 1, 200, wrong, "")
  end
  tap.equal(select(3, server:answer(1, 200, {}, "")), "ENOENT", "what was answered")
  local other = assert(servers.open(0))
  other:close()
  other:close()
  tap.raises("closed", other.take, other)
end)

tap.test("a server with an open stream and an unanswered request closes, and leaves nothing", function()
  local before = #fs.list "/proc/self/fd"
  local other = assert(servers.open(0))
  local url = ("http://127.0.0.1:%d/"):format(other:port())
  local first <close> = curl(url)
  local second <close> = curl(url)
  local request = next_request(other)
  assert(other:answer(request.id, 200, KIND))
  assert(other:send(request.id, "begun"))
  next_request(other)
  other:close()
  first:close()
  second:close()
  tap.equal(#fs.list "/proc/self/fd", before)
end)

os.remove(crowd_file)
tap.done()
