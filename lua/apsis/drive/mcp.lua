-- mcp: a server of the Model Context Protocol over two streams: JSON-RPC 2.0, a message a line. Calls of tools run
-- side by side. Follows the revisions 2025-11-25, 2025-06-18 and 2025-03-26 of
-- https://modelcontextprotocol.io/specification. Called by the command mcp.
local host = require "apsis.host"
local json = require "apsis.json"
local tasks = require "apsis.core.tasks"
local tools = require "apsis.drive.tools"
local wait = require "apsis.wait"

local mcp = {}

local Server = {}
Server.__index = Server

local VERSIONS <const> = { "2025-11-25", "2025-06-18", "2025-03-26" } -- the newest first
local LARGEST <const> = 4 << 20 -- bytes of a message
local FINISH_S <const> = 60 -- that calls have after the client has closed its end
local PARSE, REQUEST, METHOD, PARAMS <const> = -32700, -32600, -32601, -32602

local INSTRUCTIONS <const> = "apsis measures changes to this project and decides which are kept; you propose them. "
  .. "Call status first. Then repeat: call next, change the files in the directory that it gives, call submit. A "
  .. "result ends with what to do next. You cannot change how it measures."

local function failure(code, message) return { code = code, message = message } end

local methods = {}

function methods.initialize(_, params)
  local version = VERSIONS[1]
  for _, known in ipairs(VERSIONS) do
    if params.protocolVersion == known then version = known end
  end
  return { protocolVersion = version, capabilities = { tools = { listChanged = false } }, serverInfo = { name = "apsis",
    version = host.version }, instructions = INSTRUCTIONS }
end

function methods.ping() return {} end

methods["tools/list"] = function()
  local list = {}
  for index, tool in ipairs(tools.list) do list[index] = tools.shown(tool) end
  return { tools = json.array(list) }
end

methods["tools/call"] = function(self, params)
  local tool, args = tools.by_name[params.name or ""], params.arguments or {}
  if not params.name then return nil, failure(PARAMS, "params needs name, the tool to call") end
  if not tool then return nil, failure(PARAMS, ("there is no tool %s"):format(tostring(params.name))) end
  if type(args) ~= "table" then return nil, failure(PARAMS, "arguments must be an object") end
  local wrong, text = tools.problem(tool, args), nil
  if not wrong then text, wrong = tools.call(tool, args, self.dir, function()
    return self.till and wait.now() > self.till
  end) end
  return { content = json.array { { type = "text", text = text or wrong } }, isError = text == nil }
end

-- The response to a message; nil to a notification, or a response of the client's.
local function response_to(self, message)
  local id = type(message) == "table" and message.id
  local function refuse(code, why) return { jsonrpc = "2.0", id = id or json.null, error = failure(code, why) } end
  if type(message) ~= "table" or message[1] ~= nil then return refuse(REQUEST, "a message is an object") end
  if message.method == nil and (message.result ~= nil or message.error ~= nil) then return nil end
  if type(message.method) ~= "string" then return refuse(REQUEST, "a request has a method") end
  if message.jsonrpc ~= "2.0" then return refuse(REQUEST, 'a request has "jsonrpc": "2.0"') end
  if id == nil then return nil end
  local method = methods[message.method]
  if not method then return refuse(METHOD, ("there is no method %s"):format(message.method)) end
  local params = message.params or {}
  if type(params) ~= "table" then return refuse(PARAMS, "params must be an object") end
  local result, wrong = method(self, params)
  return { jsonrpc = "2.0", id = id, result = result, error = wrong }
end

function Server:send(message)
  if not message then return end
  self.output:write(json.encode(message), "\n")
  self.output:flush()
end

-- A line of the client: a message, or several.
local function answer(self, line)
  local message, wrong = json.decode(line, true)
  if message == nil then
    local where, what = wrong:match "^EJSON: %d+:(%d+): (.*)$"
    return self:send { jsonrpc = "2.0", id = json.null,
      error = failure(PARSE, ("not JSON, at byte %s: %s"):format(where, what)) }
  end
  if type(message) ~= "table" or message[1] == nil then return self:send(response_to(self, message)) end
  local bodies, responses = {}, {}
  for index, one in ipairs(message) do bodies[index] = function() return response_to(self, one) or false end end
  for _, response in ipairs(tasks.together(bodies)) do responses[#responses + 1] = response or nil end
  if #responses > 0 then self:send(json.array(responses)) end
end

-- Lines of what next_block() gives, without their ends; false for one of more than LARGEST bytes, which is not kept.
local function lines(next_block)
  local block, at, pieces, size = "", 1, {}, 0
  return function()
    repeat
      local stop = block:find("\n", at, true)
      size = size + (stop or #block + 1) - at
      pieces[#pieces + 1] = size <= LARGEST and block:sub(at, (stop or 0) - 1) or nil
      if not stop then block, at = next_block() or "", 1 else at = stop + 1 end
      if stop or block == "" then
        local line = size <= LARGEST and table.concat(pieces)
        pieces, size = {}, 0
        if stop or line ~= "" then return line end
      end
    until block == ""
  end
end

-- Serves until the client closes its end; calls that still run then are answered. next_block() -> bytes, "" at the end;
-- called in a task. dir: the project.
function mcp.serve(dir, next_block, output)
  local self = setmetatable({ dir = dir, output = output }, Server)
  for line in lines(next_block) do
    if not line then
      self:send { jsonrpc = "2.0", id = json.null, error = failure(REQUEST, "a message has at most 4 MB") }
    elseif line:find "%S" then
      tasks.beside(function() answer(self, line) end)
    end
  end
  self.till = wait.now() + FINISH_S
end

return mcp
