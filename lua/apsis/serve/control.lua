-- control: what a page served with --control may do: the commands of the same names, by POST.
local captured = require "apsis.cli.captured"
local json = require "apsis.json"

local commands = { pause = function() return {} end, resume = function() return {} end,
  direct = function(body) return type(body.message) == "string" and { message = body.message } or nil end }

-- Does what a request asks for: name, the command; body, JSON. A status, and what the command printed.
return function(dir, name, body)
  local given = body == "" and {} or json.decode(body)
  local args = commands[name] and type(given) == "table" and commands[name](given)
  if not args then return 400, "no such action, or a part of it is missing" end
  args.dir = dir
  local text, code = captured(require("apsis.cli.commands." .. name).run, args)
  return code == 0 and 200 or 409, (text:gsub("\n+$", ""))
end
