-- room: what debug adds to the rest: --trace of run, replay and lab. Called through core/rooms.
local room = {}

local traced = { run = true, replay = true, lab = true }

function room.options(command, parser)
  if not traced[command] then return end
  local about = "each call of a hook into this file, a line of JSON: what it was given, returned, remembered, printed"
  parser:option("--trace", about .. (command == "lab" and " (--jobs 1 unless it is given)" or "")):argname "FILE"
    :convert(function(path)
      local trace = require "apsis.debug.trace"
      local ok, message = trace.to(path)
      if not ok then return nil, "--trace: cannot write " .. message end
      if command == "lab" then trace.pass_on() end
      return path
    end)
    :action(function(args, _, path)
      args.trace = path
      args.all_hooks = command == "replay" -- without another strategy, the manifest's own is asked what it decides
      if command == "lab" then args.jobs = args.jobs or 1 end
    end)
end

function room.engine(engine) return require("apsis.debug.trace").engine(engine) end

return room
