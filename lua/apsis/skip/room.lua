-- room: the hooks of skip: a run looks once a second for what it is asked to end; the key of watch. Called through
-- core/rooms.
local fs = require "apsis.fs"

local room = {}

local LOOK_S <const> = 1

-- Ends what is asked for in a folder. What is not in flight here, or waits for a person, has nothing to end; a file
-- whose name is no number is still being written.
local function take(engine, folder)
  for _, name in ipairs(fs.list(folder) or {}) do
    local number = name:match "^%d+$"
    local slot, reason = engine.slots[tonumber(number)], number and fs.read(folder .. "/" .. name)
    if number then fs.remove(folder .. "/" .. name) end
    if slot and not (slot.held or slot.offered) then
      slot.skipped = "a person skipped it" .. (reason and reason:find "%S" and ": " .. reason or "")
      engine.world:log("warn", ("experiment %d: %s"):format(slot.number, slot.skipped))
      engine.world:stop(slot)
    end
  end
end

function room.run(engine)
  local world = engine.world
  if not world.stop then return end
  local before, folder = world.before_wait, world.home .. "/.apsis/skip"
  fs.remove_tree(folder) -- what an earlier run was asked
  function world:before_wait()
    take(engine, folder)
    return math.min(before(self) or LOOK_S, LOOK_S)
  end
end

local function ask(app)
  local numbers = {}
  for _, one in ipairs(app.view.facts.in_flight) do numbers[#numbers + 1] = ("%d"):format(one.experiment) end
  if #numbers == 0 then return app:say "nothing is in flight" end
  local which = #numbers <= 4 and table.concat(numbers, ", ") or ("%s to %s"):format(numbers[1], numbers[#numbers])
  app:ask(("skip which experiment (%s), and why: "):format(which), function(text)
    local number, reason = text:match "^%s*c?(%d+)%s*(.-)%s*$"
    if not number then return app:say "no number: nothing is skipped" end
    app:command("skip", { experiment = number, reason = reason })
  end)
end

function room.watch_keys()
  return { { key = "x", help = "end an experiment that is in flight: as `apsis skip`", press = ask } }
end

return room
