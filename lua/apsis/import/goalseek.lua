-- goalseek: plans a copy of a goalseek project: checks its manifest as apsis's (version 1 is the same format), adds
-- `history: revert`, and a provider if config/project.yaml names an agent. Past records stay where they are. Reads the
-- directory; writes and runs nothing. Called by the command import.
local common = require "apsis.import.common"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local yaml = require "apsis.yaml"

local goalseek = {}

local presets = { claude_code = "claude", claude = "claude", codex = "codex", gemini = "gemini", opencode = "opencode" }

-- Words for "the agent's own model".
local own_model = { default = true, auto = true, [""] = true }

-- How codex is given goalseek's settings for it: an option and what stands before the value.
local codex_settings = { reasoning_effort = "model_reasoning_effort=", model_catalog_json = "model_catalog_json=" }

-- The arguments that a role of config/project.yaml adds to its agent's; reports what became of its other keys.
local function args_of(role, from, preset, report, label)
  local args = {}
  for index, word in ipairs(type(role.extra_args) == "table" and role.extra_args or {}) do
    args[index] = tostring(word)
  end
  local function key(name) return ("provider.%s.%s"):format(from, name) end
  if #args > 0 then report:add("mapped", key "extra_args", "provider.args", label) end
  for _, name in ipairs { "model_catalog_json", "reasoning_effort" } do
    if type(role[name]) == "string" and preset == "codex" then
      args[#args + 1], args[#args + 2] = "-c", codex_settings[name] .. role[name]
      report:add("mapped", key(name), "provider.args", label)
    end
  end
  for name, why in pairs {
    executable = "a preset starts its agent from PATH; provider: {run: [...]} starts another program",
    parallel_runs = "trajectory: {enabled: true, k_candidates: N} asks for several answers" } do
    if type(role[name]) == "string" or type(role[name]) == "table" and role[name].enabled then
      report:add("not_taken_over", key(name), why, label)
    end
  end
  return #args > 0 and args or nil
end

-- The agent of config/project.yaml: preset, model, arguments and timeout; nil if it names none.
local function agent_of(dir, report)
  local path = dir .. "/config/project.yaml"
  local text = common.is_file(path) and common.read_text(path)
  local value = text and manifest.decode(text, manifest.display(path))
  if type(value) ~= "table" then return nil end
  local provider = type(value.provider) == "table" and value.provider or {}
  local role = provider.implementation or provider.hypothesis
  if type(role) ~= "table" then return nil end
  for _, key in ipairs { "loop", "output", "logging" } do
    if value[key] ~= nil then
      report:add("not_needed", key, "a setting of goalseek's own loop; apsis reads only manifest.yaml",
        manifest.display(path))
    end
  end
  local preset = presets[role.name]
  if not preset then
    report:note("config/project.yaml names the provider %s, for which apsis has no preset; `apsis run` needs "
      .. "provider: in manifest.yaml", tostring(role.name))
    return nil
  end
  local from = provider.implementation and "implementation" or "hypothesis"
  report:add("mapped", "provider." .. from, "provider (preset " .. preset .. ")", manifest.display(path))
  if from == "implementation" and provider.hypothesis ~= nil then
    report:add("not_needed", "provider.hypothesis", "one provider proposes and implements; steps: [plan, implement] "
      .. "in provider asks it twice", manifest.display(path))
  end
  local model = type(role.model) == "string" and not own_model[role.model] and role.model or nil
  return { { "kind", "command" }, { "preset", preset }, { "model", model },
    { "args", args_of(role, from, preset, report, manifest.display(path)) },
    { "timeout_sec", type(role.timeout_sec) == "number" and role.timeout_sec or nil } }
end

local function added_lines(dir, value, options, report)
  local lines = {}
  if value.history == nil or value.history == yaml.null then
    lines[#lines + 1] = "history: revert # rejected work is committed and reverted on the branch, as goalseek does"
    report:add("mapped", "history", "revert (added)")
  end
  if value.provider == nil or value.provider == yaml.null then
    local chat = common.chat_provider(options)
    local agent = not chat and agent_of(dir, report)
    if chat then table.move(chat, 1, #chat, #lines + 1, lines)
    elseif agent then lines[#lines + 1] = "provider: " .. common.flow(agent)
    else report:note("the manifest has no provider: `apsis baseline` works; `apsis run` needs one, for instance "
      .. "provider: {kind: command, preset: claude}") end
  end
  return lines
end

-- Commands of goalseek share the whole checkout.
local function note_sharing(value, report)
  local verification = type(value.verification) == "table" and value.verification or {}
  local commands = type(verification.commands) == "table" and verification.commands or {}
  if #commands > 1 and verification.keep == nil then
    report:note("each command begins in the committed files, with those of mode generated and what is in "
      .. "GOALSEEK_RUN_DIR; if one needs other files of an earlier one, add verification: {keep: [GLOB]}: "
      .. "`apsis baseline` names them")
  end
end

-- How many lines a log has.
local function count_lines(path)
  local text = fs.read(path)
  local _, count = (text or ""):gsub("[^\n]+", "")
  return count
end

-- Removes a null key, so that a line can give it a value.
local function without_null(text, value, key)
  if value[key] ~= yaml.null then return text end
  return (("\n" .. text):gsub("\n" .. key .. "[ \t]*:[^\n]*", "", 1):gsub("^\n", ""))
end

-- { name, files, report, left_out } | nil, list of errors. options: into, max_mb, base_url, api_key_env, model.
function goalseek.plan(dir, options)
  local report = common.report()
  local path = dir .. "/manifest.yaml"
  if not common.is_file(path) then
    return nil, { ("%s: manifest: there is no manifest.yaml, which a goalseek project has (version: 1)"):format(
      manifest.display(dir)) }
  end
  local checked, errors = manifest.load(path)
  if not checked then return nil, errors end
  local text, message = common.read_text(path)
  if not text then return nil, { message } end
  local value = manifest.decode(text, manifest.display(path))
  text = without_null(without_null(text, value, "history"), value, "provider")
  local lines = added_lines(dir, value, options, report)
  if #lines > 0 then
    text = editline.trim_end(text) .. "\n\n# Added by `apsis import goalseek`:\n" .. table.concat(lines, "\n") .. "\n"
    local again = yaml.decode(text)
    if type(again) ~= "table" then
      return nil, { ("%s:1: manifest: apsis cannot append these lines; add them by hand, then import again: %s"):format(
        manifest.display(path), table.concat(lines, " / ")) }
    end
  end
  report:add("mapped", "manifest.yaml", "unchanged: version 1 is the same format")
  report:note("gittreeclean is not needed: apsis works in scratch checkouts of HEAD and never touches your working "
    .. "tree, so uncommitted changes are neither measured nor lost")
  note_sharing(value, report)
  local directions = count_lines(dir .. "/logs/directions.jsonl")
  if directions > 0 then
    report:note("%d direction%s in %s/logs/directions.jsonl; leave those that still hold with `apsis direct`",
      directions, directions == 1 and " stays" or "s stay", manifest.display(dir))
  end
  local records = count_lines(dir .. "/logs/results.jsonl")
  if records > 0 then
    report:note("%d past records stay in %s/logs/results.jsonl; apsis starts a new journal", records,
      manifest.display(dir))
  end
  local files, left_out = common.collect(dir, { into = options.into, max_mb = options.max_mb,
    skip = common.own { ["manifest.yaml"] = true, ["program.md"] = true } })
  files = common.replaced(files, { common.gitignore(dir), { path = "manifest.yaml", text = text } })
  return { name = checked.project.name, files = files, report = report, left_out = left_out }
end

return goalseek
