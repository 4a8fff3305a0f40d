-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parent's files. It
-- gives one, two or three of the tunables in choices.txt another value and returns the new flags.txt and params.h.
-- evaluate.sh measures the result; a language model could take its place.

-- The tunables in choices.txt, in its order: { kind = "level" | "flag" | "param", name =, values = { ... } }. A flag is
-- a tunable with two values, itself and "" for its absence.
local function read_choices(text)
  local choices = {}
  for line in text:gmatch("[^\n]+") do
    local name, rest = line:match("^(%S+)%s+(.+)$")
    if name and name:sub(1, 1) ~= "#" then
      local choice = { kind = "param", name = name, values = {} }
      for value in rest:gmatch("%S+") do table.insert(choice.values, value) end
      if name == "level" then choice.kind = name end
      if name == "flag" then choice.kind, choice.name, choice.values[2] = name, choice.values[1], "" end
      choices[#choices + 1] = choice
    end
  end
  return choices
end

-- What each tunable is set to in the parent, by name.
local function read_state(choices, flags, params)
  local state, present = {}, {}
  for word in flags:gmatch("%S+") do present[word] = true end
  for _, choice in ipairs(choices) do
    if choice.kind == "param" then
      state[choice.name] = params:match("#define " .. choice.name .. " (%S+)")
    else
      for _, value in ipairs(choice.values) do
        if present[value] then state[choice.name] = value end
      end
    end
    state[choice.name] = state[choice.name] or ""
  end
  return state
end

local function write_state(choices, state)
  local flags, params = {}, {}
  for _, choice in ipairs(choices) do
    local value = state[choice.name]
    if choice.kind == "param" then
      params[#params + 1] = "#define " .. choice.name .. " " .. value .. "\n"
    elseif value ~= "" then
      flags[#flags + 1] = value .. "\n"
    end
  end
  return { ["flags.txt"] = table.concat(flags), ["params.h"] = table.concat(params) }
end

-- Gives one tunable another value; returns a description of the change.
local function change_one(rng, choice, state)
  local others = {}
  for _, value in ipairs(choice.values) do
    if value ~= state[choice.name] then others[#others + 1] = value end
  end
  local old, new = state[choice.name], others[rng:integer(1, #others)]
  state[choice.name] = new
  if choice.kind == "flag" then return (new == "" and "drop " or "add ") .. choice.name end
  return ("%s %s -> %s"):format(choice.name, old == "" and "unset" or old, new)
end

return function(_, workspace)
  local rng = workspace.rng
  local choices = read_choices(workspace:read("choices.txt"))
  local state = read_state(choices, workspace:read("flags.txt"), workspace:read("params.h"))
  local left, what = table.move(choices, 1, #choices, 1, {}), {}
  for _ = 1, rng:integer(1, 3) do -- tunables depend on each other: a cutoff matters only to its sort
    what[#what + 1] = change_one(rng, table.remove(left, rng:integer(1, #left)), state)
  end
  local change = table.concat(what, ", ")
  return write_state(choices, state), { hypothesis = change, description = change }
end
