-- mutate: this example's provider: gives one or two of the tunables in choices.txt another value, in flags.txt and
-- params.h. A language model could take its place.

-- The tunables: { name, values, flag = whether it belongs to flags.txt }. A flag's second value is "", its absence.
local function read_choices(text)
  local choices = {}
  for line in text:gmatch "[^\n]+" do
    local name, rest = line:match "^(%S+)%s+(.+)$"
    if name and name ~= "#" then
      local values = {}
      for value in rest:gmatch "%S+" do values[#values + 1] = value end
      local flag = name == "level" or name == "flag"
      if name == "flag" then name, values[2] = values[1], "" end
      choices[#choices + 1] = { name = name, values = values, flag = flag }
    end
  end
  return choices
end

-- What a tunable is set to.
local function value_of(choice, flags, params)
  if not choice.flag then return params:match("#define " .. choice.name .. " (%S+)") end
  for word in flags:gmatch "%S+" do
    for _, value in ipairs(choice.values) do
      if word == value then return value end
    end
  end
  return ""
end

return function(_, workspace)
  local rng, choices = workspace.rng, read_choices(workspace:read "choices.txt")
  local flags, params, changed = workspace:read "flags.txt", workspace:read "params.h", {}
  for _ = 1, rng:integer(1, 2) do changed[choices[rng:integer(1, #choices)]] = true end
  local new_flags, new_params, what = {}, {}, {}
  for _, choice in ipairs(choices) do
    local value, others = value_of(choice, flags, params), {}
    if changed[choice] then
      for _, other in ipairs(choice.values) do
        if other ~= value then others[#others + 1] = other end
      end
      local new = others[rng:integer(1, #others)]
      what[#what + 1] = choice.flag and choice.name ~= "level" and (new == "" and "drop " or "add ") .. choice.name
        or ("%s %s"):format(choice.name, new)
      value = new
    end
    if not choice.flag then new_params[#new_params + 1] = ("#define %s %s\n"):format(choice.name, value)
    elseif value ~= "" then new_flags[#new_flags + 1] = value .. "\n" end
  end
  local text = table.concat(what, ", ")
  return { ["flags.txt"] = table.concat(new_flags), ["params.h"] = table.concat(new_params) },
    { hypothesis = text, description = text }
end
