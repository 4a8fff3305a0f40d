-- scripted: a provider that proposes the lines of edits.txt in turn, as the first number of settings.lua.
return function(proposal)
  local number = proposal.experiment
  local at = 0
  for line in io.lines("edits.txt") do
    at = at + 1
    if at == number then
      local value, hypothesis = line:match("^(%S+) (.*)$")
      hypothesis = hypothesis:gsub("ESC", "\27")
      return { ["settings.lua"] = ("return { %s, 0, 0 }\n"):format(value) }, { hypothesis = hypothesis }
    end
  end
  return nil, "nothing more to propose"
end
