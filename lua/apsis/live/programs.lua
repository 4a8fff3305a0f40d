-- programs: the programs that a manifest's commands begin with, and which of them the sandbox hides: said before anything is run, with the
-- line that shows them. Called by world and doctor.
local command = require "apsis.live.provider.command"

local programs = {}

-- The word that a command begins with, past variables that it sets.
local function first_word(run)
  if type(run) == "table" then return run[1] end
  local rest = run
  while rest:find "^%s*[%a_][%w_]*=%S*%s" do rest = rest:gsub("^%s*[%a_][%w_]*=%S*%s", "") end
  return rest:match "^%s*([%w_./~+-]+)"
end

-- { run, key, allow } of the manifest's commands, key: where `allow` stands in it.
local function commands_of(manifest)
  local list, verification = {}, manifest.verification
  for _, group in ipairs { verification.checks or {}, verification.commands or {} } do
    for _, one in ipairs(group) do list[#list + 1] = { run = one.run, key = "verification", allow = verification.allow } end
  end
  if manifest.gate then list[#list + 1] = { run = manifest.gate.run, key = "gate", allow = manifest.gate.allow } end
  local provider = manifest.provider
  if provider and provider.kind == "command" then
    local preset = command.presets[provider.preset or ""] or {}
    list[#list + 1] = { run = provider.run or preset.run, key = "provider", allow = provider.allow }
  end
  return list
end

-- { text, fatal } for every program that commands do not see where the user's shell finds it; fatal: they see none at all.
function programs.hidden(manifest, cage)
  local found, said = {}, {}
  for _, one in ipairs(commands_of(manifest)) do
    local word = one.run and first_word(one.run)
    local path, folder, other = nil, nil, nil
    if word and not (word:find("/", 1, true) and word:sub(1, 1) ~= "/") then path, folder, other = cage:lacks(word, one.allow) end
    if path and not said[word] and not (word:sub(1, 1) == "/" and not cage:keeps(path)) then
      said[word] = true
      found[#found + 1] = { fatal = not other, text = ("commands do not see %s, which is in a place they are kept from%s; show it to them: "
        .. "%s: {allow: [%s]}, or sandbox: {allow: [%s]} for all commands"):format(path, other and ", and take " .. other or "", one.key,
        folder, folder) }
    end
  end
  return found
end

return programs
