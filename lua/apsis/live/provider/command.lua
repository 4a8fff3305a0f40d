-- provider/command: any command as provider: a coding agent, a script. It gets the prompt by stdin, file or argument, works in
-- a workspace that holds the parent without its hidden files, and what it changed there is its answer. Its steps: plan, then
-- implement (what it edits while planning is thrown away), or implement alone. Nothing of it runs on afterwards.
local asi = require "apsis.live.asi"
local environment = require "apsis.live.environment"
local fs = require "apsis.fs"
local limits = require "apsis.live.cage.limits"
local process = require "apsis.process"
local tasks = require "apsis.core.tasks"
local trajectory = require "apsis.trajectory"

local provider = { wants_prompt = true }

-- How each agent is run without questions; the prompt's way is the agent's own.
provider.presets = {
  claude = { run = { "claude", "-p", "--permission-mode", "acceptEdits" }, prompt = "stdin", allow = { "~/.claude", "~/.claude.json" },
    pass_env = { "ANTHROPIC_*", "CLAUDE_*" } },
  codex = { run = { "codex", "exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "-" }, prompt = "stdin",
    allow = { "~/.codex" }, pass_env = { "OPENAI_*", "CODEX_*" } },
  gemini = { run = { "gemini", "--approval-mode", "auto_edit" }, prompt = "stdin", allow = { "~/.gemini" },
    pass_env = { "GEMINI_*", "GOOGLE_*" } },
  opencode = { run = { "opencode", "run" }, prompt = "argument", allow = { "~/.config/opencode", "~/.local/share/opencode",
    "~/.local/state/opencode", "~/.cache/opencode" }, pass_env = { "OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*" } },
  pi = { run = { "pi", "-p", "--no-session" }, prompt = "stdin", -- an argument that begins with @ would be a file
    allow = { "~/.pi" }, pass_env = { "PI_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*" } },
}

local function joined_lists(one, other)
  return table.move(other or {}, 1, #(other or {}), #(one or {}) + 1, table.move(one or {}, 1, #(one or {}), 1, {}))
end

function provider.open(world, spec)
  local preset = spec.preset and provider.presets[spec.preset] or {}
  local run = spec.run or preset.run
  if not run then return nil, "provider: a command provider needs `run` or `preset`" end
  local own = { allow = joined_lists(preset.allow, spec.allow), pass_env = joined_lists(preset.pass_env, spec.pass_env),
    network = spec.network }
  return setmetatable({ world = world, spec = spec, command = run, way = spec.prompt or preset.prompt or "stdin", own = own },
    { __index = provider })
end

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local LONGEST_ARGUMENT = 120000 -- bytes; Linux takes no single one above 131071

-- What is put after the command: the prompt itself, or where it is. The kernel refuses a long argument, and none holds
-- a NUL.
local function last_argument(self, path, text)
  if self.way == "stdin" then return nil end
  if self.way == "argument" and not text:find("\0", 1, true)
    and #(type(self.command) == "table" and text or self.command .. " " .. quote(text)) <= LONGEST_ARGUMENT then
    return text
  end
  self.world:need(fs.write(path, text))
  return self.way == "file" and path or ("Read the file %s and do what it says."):format(path)
end

-- The command with the prompt where it wants it; path: in its own scratch folder. Not the file in runs/NNNN: who reads that by a
-- descriptor may open it once more, to write, and change its mode.
local function command_of(self, spec, path, text)
  local run = self.command
  if self.way == "stdin" then spec.stdin_text = text end
  local last = last_argument(self, path, text)
  if type(run) == "table" then
    spec.argv = table.move(run, 1, #run, 1, {})
    spec.argv[#spec.argv + 1] = last
  else
    spec.shell = last and run .. " " .. quote(last) or run
  end
end

local function flatten(prompt)
  if type(prompt) == "string" then return prompt end
  local parts = {}
  for index, message in ipairs(prompt) do
    parts[index] = tostring(type(message) == "table" and (message.content or "") or message)
  end
  return table.concat(parts, "\n\n")
end

local function failure(spec, result, message)
  if not result then return message end
  if result.outcome == "timeout" then return ("the provider ran over its limit of %g s"):format(spec.timeout_sec) end
  if result.outcome == "signal" then return "the provider was killed by " .. tostring(result.signal_name or result.signal) end
  if result.excess then return "the provider was ended by apsis: " .. limits.excess[result.excess] end
  if result.outcome == "killed" then return "the provider was ended" end
  if result.code ~= 0 then
    local text = (result.stderr.tail or result.stderr.head or ""):gsub("%s+$", "")
    return ("the provider ended with exit %d: %s"):format(result.code, text:match("([^\n]*)$"):gsub("%c", "?"):sub(1, 300))
  end
end

-- What the provider left in its scratch folder goes to runs/NNNN/provider, with the answer's mark where there are several.
local function collect(self, slot, space, scratch, prompt_path)
  local pool, kept = self.world.pool, self.world.artifacts_kept
  local stat = fs.stat(scratch, { follow = false })
  if stat and stat.type == "directory" then -- not a link to somewhere, put in its place
    fs.remove(prompt_path)
    if #(fs.list(scratch) or {}) > 1 or #(fs.list(scratch .. "/artifacts") or {}) > 0 then
      fs.copy_tree(scratch, slot.dir .. "/provider" .. space.mark, { max_bytes = kept.max_mb * 1048576, max_files = kept.max_files })
    end
  end
  if not pool:is_fresh(scratch) then fs.remove_tree(scratch) end
end

local HEAD_BYTES, TAIL_BYTES = 786432, 262144 -- of the output in memory; provider_output.md has the rest

local function said_of(stream)
  local left_out = stream.bytes - #stream.head - #(stream.tail or "")
  local gap = left_out > 0 and ("\n[apsis: %d bytes left out here]\n"):format(left_out) or ""
  return stream.head .. gap .. (stream.tail or "")
end

-- One run of the command in a workspace. Its text, or nil and why it failed.
local function run_once(self, slot, space, text, name)
  local world, spec = self.world, self.spec
  local dir = space.dir .. (world.prefix ~= "" and "/" .. world.prefix or "")
  local mark = space.mark
  local prompt_path, output = ("%s/%s%s.md"):format(slot.dir, name, mark), ("%s/provider_output%s.md"):format(slot.dir, mark)
  world:need(fs.write(prompt_path, text))
  fs.append(output, "")
  local scratch = world:need(world.pool:scratch(space))
  local given = { cwd = dir, timeout_s = spec.timeout_sec, stdout_file = output, head_bytes = HEAD_BYTES,
    tail_bytes = TAIL_BYTES, log_limit_bytes = spec.output_limit_mb * 1048576,
    stderr_file = ("%s/provider_stderr%s.log"):format(slot.dir, mark), clean_env = true,
    env = environment.base(slot, space.dir, slot.parent_commit, self.own) }
  given.env.APSIS_RUN_DIR, given.env.APSIS_ANSWER = scratch, mark ~= "" and mark:sub(2) or nil
  given.env.APSIS_FIX_ATTEMPT = slot.repair and tostring(slot.repair.attempt) or nil
  for key, value in pairs(spec.env or {}) do given.env[key] = tostring(value) end
  local handed_over = scratch .. "/prompt.md"
  command_of(self, given, handed_over, text)
  local own = self.own
  local temporary = world.cage.way == "landlock" and world:need(world.pool:temporary(space)) or nil
  given.limits = limits.of(world.manifest.limits, spec)
  local result, message, code = process.run(world.cage:put(given, { write = { space.dir, scratch }, allow = own.allow, usual = "w",
    run = self.command, network = own.network, temporary = temporary }))
  world:need_started("the provider", message, code)
  collect(self, slot, space, scratch, handed_over)
  local why = failure(spec, result, message)
  if why and result then
    world:advise { result = result, run = self.command, own = own, key = "provider", env = given.env, name = "the provider",
      memory_mb = spec.memory_mb }
  end
  if why then return nil, why end
  return said_of(result.stdout)
end

local function with_retries(self, slot, space, text, name, clean)
  local said, why
  for _ = 0, self.spec.retries do
    clean()
    said, why = run_once(self, slot, space, text, name)
    if said then return said end
  end
  return nil, why
end

-- The workspace brought to what is to be changed, without its hidden files and without any git but a throwaway one if asked for.
local function prepare(self, slot, space)
  local world = self.world
  local base = world:base(slot)
  world:need(world.pool:mend(space))
  world:need(space.tree:checkout(base.commit, { hide = world:hidden_paths(base) }))
  world:bring_along(space, true)
  if world.manifest.workspace.git then
    local script = "git init -q --template= . && git add -A && git -c user.name=apsis -c user.email=apsis@localhost commit -q -m parent"
    local env = environment.base(slot, space.dir)
    env.GIT_CONFIG_GLOBAL, env.GIT_CONFIG_NOSYSTEM = "/dev/null", "1" -- no hook and no filter of the user's is run on a candidate's files
    process.run(world.cage:put({ shell = script, cwd = space.dir, env = env, clean_env = true, timeout_s = 60 },
      { write = { space.dir }, run = script, temporary = world:need(world.pool:temporary(space)) }))
  end
end

local function has_asi_file(world, record)
  for _, path in ipairs(world:files_of(record)) do
    if path == "asi.json" then return true end
  end
  return false
end

-- mark: "_2" of the second of several answers, "" of the only one.
local function answer_of(self, slot, prompt, mark)
  local world = self.world
  local space = world:need(world.pool:take("provide"))
  space.mark = mark
  local text, plan = flatten(prompt), nil
  local function clean() prepare(self, slot, space) end
  local said, why
  local two = #self.spec.steps == 2
  if two then
    plan, why = with_retries(self, slot, space, text .. "\n\nStep 1 of 2: write the plan only. Edits made now are thrown away.\n",
      "prompt_plan", clean)
    text = text .. "\n\nStep 2 of 2: carry out this plan.\n\n" .. (plan or "")
  end
  local failed = why and "plan step: "
  if not why then
    said, why = with_retries(self, slot, space, text, "prompt", clean)
    failed = two and "implement step: " or ""
  end
  if why then why = failed .. why end
  local answer = { tokens = 0, cost = 0, text = said, plan = plan or said, error = why, steps = said and trajectory.steps(said) }
  if not why then
    asi.read(answer, said, space.dir .. (world.prefix ~= "" and "/" .. world.prefix or ""),
      has_asi_file(world, world:base(slot)))
    if world.manifest.workspace.git then fs.remove_tree(space.dir .. "/.git") end
    world:read_back(answer, space, slot)
  end
  world.pool:give(space)
  return answer
end

-- What an earlier asking left in runs/NNNN.
local function clear(slot)
  for _, name in ipairs(fs.list(slot.dir) or {}) do
    local path = slot.dir .. "/" .. name
    if name:find("^provider_output[_%d]*%.md$") or name:find("^prompt_%d+%.md$") or name:find("^provider_stderr_%d+%.log$") then
      fs.remove(path)
    elseif name:find("^provider[_%d]*$") then fs.remove_tree(path) end
  end
end

-- What several said, one after another; each has a provider_output_N.md of its own too.
local function joined(answers)
  local parts = {}
  for index, answer in ipairs(answers) do
    parts[index] = ("--- answer %d of %d ---\n%s\n"):format(index, #answers, answer.text or "no answer: " .. tostring(answer.error))
  end
  return table.concat(parts, "\n")
end

-- K answers to slot's proposal, side by side, each from a clean workspace.
function provider:propose(slot, prompt)
  clear(slot)
  local k, bodies = self.world:wanted(slot), {}
  for index = 1, k do
    bodies[index] = function() return answer_of(self, slot, prompt, k > 1 and "_" .. index or "") end
  end
  local answers = tasks.together(bodies)
  if k > 1 then self.world:need(fs.write(slot.dir .. "/provider_output.md", joined(answers))) end
  return answers
end

-- A question: the answer is text, and no file it touches counts.
function provider:ask(slot, messages)
  local space = self.world:need(self.world.pool:take("provide"))
  space.mark = ""
  local said, why = with_retries(self, slot, space, flatten(messages), "prompt", function() prepare(self, slot, space) end)
  self.world.pool:give(space)
  return { text = said, error = why, tokens = 0, cost = 0 }
end

return provider
