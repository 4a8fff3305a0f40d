-- script: the lua provider: a Lua file that returns function(proposal, workspace) -> edits, without network or model.
-- It runs inside apsis, bounded like a hook; its random numbers are a keyed stream, so that a run can be repeated. The
-- file gets its own path as its argument.
local amount = require "apsis.live.provider.shared.amount"
local asi = require "apsis.live.provider.shared.asi"
local fs = require "apsis.fs"
local hooks = require "apsis.core.hooks"
local random = require "apsis.random"
local sandbox = require "apsis.core.sandbox"

local provider = {}

local Workspace = {}
Workspace.__index = Workspace

-- The text of a project file, of the parent or of the candidate to repair; nil if it is missing or hidden.
function Workspace:read(path)
  if self.world.scope:mode(path) == "hidden" then return nil, path .. " is hidden" end
  return self.world:read(self.parent, path)
end

-- The paths of the project's visible files.
function Workspace:list()
  local paths = {}
  for _, path in ipairs(self.world:files_of(self.parent)) do
    if self.world.scope:mode(path) ~= "hidden" then paths[#paths + 1] = path end
  end
  return paths
end

function provider.open(world, spec)
  local path = spec.use:sub(1, 1) == "/" and spec.use or world.dir .. "/" .. spec.use
  local text, message = fs.read(path)
  if not text then return nil, ("provider.use: %s"):format(message) end
  local chunk
  chunk, message = load(text, "@" .. spec.use, "t", setmetatable({ print = sandbox.print }, { __index = _G }))
  if not chunk then return nil, ("provider.use: %s"):format(message) end
  local ok, made, why = hooks.guarded(chunk, path)
  if not ok then return nil, ("provider.use: %s"):format(made) end
  if made == nil and type(why) == "string" then return nil, ("provider.use: %s"):format(why) end
  if type(made) ~= "function" then
    return nil, ("provider.use: %s must return function(proposal, workspace) -> edits, not %s"):format(spec.use,
      type(made))
  end
  return setmetatable({ world = world, propose_edits = made, use = spec.use }, { __index = provider })
end

-- A candidate for a provider: its hidden files cannot be read.
local function seen_by_provider(world, id)
  local record = world:candidate(id)
  local face = {}
  function face.read(_, path)
    if world.scope:mode(path) == "hidden" then return nil, path .. " is hidden" end
    return record:read(path)
  end
  return setmetatable(face, { __index = record })
end

-- The strategy's prompt, if it has that hook; written only for a provider that reads it.
function provider:prompt_of(slot)
  if slot.prompt == nil and slot.ask_prompt then
    local prompt, ended = slot.ask_prompt()
    if ended then error(ended.reason, 0) end
    self.world:write_prompt(slot, prompt)
  end
  return slot.prompt
end

-- What a key of the second result must be, if it is not that.
local function wrong_of(key, value)
  if key == "tokens" then return not amount.tokens(value) and "a whole number from 0 to 1e9" end
  if key == "cost" then return not amount.usd(value) and "a number of US dollars from 0 to 1e6" end
  if (asi.names[key] or key == "text" or key == "plan") and type(value) ~= "string" then return "a string" end
  return value ~= value and "a number" or nil
end

local function answer_of(self, slot, index)
  local parent = self.world:base(slot)
  local workspace = setmetatable({ world = self.world, parent = parent,
    rng = random.stream(self.world.seed, slot.number, "provider", slot.asked, index) }, Workspace)
  local proposal = {}
  for key, value in pairs(slot.proposal) do proposal[key] = value end
  proposal.parents = {}
  for place, id in ipairs(slot.proposal.parents) do proposal.parents[place] = seen_by_provider(self.world, id) end
  proposal.prompt = slot.prompt
  proposal.repair = slot.repair and { attempt = slot.repair.attempt, output = slot.repair.output } or nil
  setmetatable(proposal, { __index = function(_, key) return key == "prompt" and self:prompt_of(slot) or nil end })
  local ok, edits, about = hooks.guarded(self.propose_edits, proposal, workspace)
  if not ok then return { error = ("%s: %s"):format(self.use, edits) } end
  if type(edits) == "string" then return { text = edits, tokens = 0, cost = 0 } end
  if edits == nil then return { error = ("%s: %s"):format(self.use, about and tostring(about) or "no edits") } end
  if type(edits) ~= "table" then
    return { error = ("%s returned %s, not a table of edits"):format(self.use, type(edits)) }
  end
  local answer = { edits = edits }
  for key, value in pairs(type(about) == "table" and about or {}) do
    local wrong = wrong_of(key, value)
    if wrong then return { error = ("%s: %s must be %s, not %s"):format(self.use, key, wrong, tostring(value)) } end
    if answer[key] == nil then answer[key] = value end
  end
  answer.tokens, answer.cost = answer.tokens or 0, answer.cost or 0
  return answer
end

-- K answers to slot's proposal.
function provider:propose(slot)
  slot.asked = (slot.asked or 0) + 1
  local answers = {}
  for index = 1, self.world:wanted(slot) do answers[index] = answer_of(self, slot, index) end
  return answers
end

function provider:ask(slot, messages)
  slot.prompt = messages
  return self:propose(slot)[1]
end

return provider
