-- observe: has every call of a strategy's hooks go through one function, which sees what each was given and returned;
-- and what the strategy prints. Decides nothing.
local contract = require "apsis.core.strategy"

local observe = {}

-- From here on around(owner, name, body, run, ...) is called instead of each hook, and calls body(run, ...) itself.
-- owner: the strategy, or the sub-strategy that the hook belongs to. Returns each owner's hooks as they were.
function observe.hooks(strategy, around)
  local bodies = {}
  for _, owner in ipairs { strategy, table.unpack(strategy.subs) } do
    bodies[owner] = {}
    for _, name in ipairs(contract.hooks) do
      local body = owner.hooks[name]
      bodies[owner][name] = body
      if body then owner.hooks[name] = function(...) return around(owner, name, body, ...) end end
    end
  end
  return bodies
end

-- What replaces a stream in which a strategy writes.
local function stream(write)
  local self = {}
  function self.write(_, ...)
    write(...)
    return self
  end
  for _, name in ipairs { "flush", "setvbuf", "close" } do self[name] = function() return true end end
  return self
end

-- The globals of a strategy's file, so that all that it prints goes to write(text): the `prepare` of contract.load.
function observe.printing(write)
  local function write_all(...)
    local parts = table.pack(...)
    for index = 1, parts.n do parts[index] = tostring(parts[index]) end
    write(table.concat(parts))
  end
  return function(env)
    function env.print(...)
      local parts = table.pack(...)
      for index = 1, parts.n do parts[index] = tostring(parts[index]) end
      write(table.concat(parts, "\t") .. "\n")
    end
    env.io = setmetatable({ stdout = stream(write_all), stderr = stream(write_all), write = function(...)
      write_all(...)
      return env.io.stdout
    end }, { __index = io })
  end
end

return observe
