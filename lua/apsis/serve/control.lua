-- control: what a page served with --control may do: commands, by POST.
local captured = require "apsis.cli.captured"
local json = require "apsis.json"
local rooms = require "apsis.core.rooms"

local function text(value) return type(value) == "string" and value or nil end

-- The arguments of each command, of a request's body; nil if a part is missing.
local arguments = {
  pause = function() return {} end,
  resume = function() return {} end,
  direct = function(body) return text(body.message) and { message = body.message } end,
  approve = function(body)
    return text(body.id) and { id = body.id, reject = body.reject == true, reason = text(body.reason), later = true }
  end,
}

-- Does what a request asks for: name, the command; body, JSON. A status, and what the command printed.
return function(dir, name, body)
  local command, given = rooms.commands()[name], body == "" and {} or json.decode(body)
  local args = command and arguments[name] and type(given) == "table" and arguments[name](given)
  if not args then return 400, "no such action, or a part of it is missing" end
  args.dir, args.directory = dir, dir or "."
  local printed, code = captured(require(command).run, args)
  return code == 0 and 200 or 409, (printed:gsub("\n+$", ""))
end
