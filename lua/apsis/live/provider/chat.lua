-- provider/chat: a chat model as provider. It is asked with the prompt and the parent's writable files; what it answers becomes
-- edits by apsis.edit or, told once what was wrong with it, a failed proposal: never a program by itself. What was sent and
-- said is in runs/NNNN. Which model is asked first is the proposal's word. Called by world.
local asi = require "apsis.live.asi"
local chat = require "apsis.live.chat"
local edit = require "apsis.edit"
local environment = require "apsis.live.environment"
local fs = require "apsis.fs"
local json = require "apsis.json"
local messages = require "apsis.live.messages"
local random = require "apsis.random"
local tasks = require "apsis.engine.tasks"

local provider = { wants_prompt = true }

local LONGEST_ANSWER = 4096 -- tokens, assumed of a model without max_tokens
local FIRST_PROMPT = 8192 -- bytes, assumed before any was asked with
local LONGEST_PLAN = 65536 -- bytes of an answer that a plan is looked for in
local MOST_REFUSED = 3 -- experiments in a row whose key was refused, after which the run stops

-- options: as chat.open's, for tests.
function provider.open(world, spec, options)
  local client, message = chat.open(spec, options or { secret = environment.secret })
  if not client then return nil, message end
  return setmetatable({ world = world, spec = spec, client = client, refused = 0 }, { __index = provider })
end

-- What proposing takes at most, but for retries and repairs: tokens, US dollars.
function provider:estimate(proposal)
  local k = proposal.k or 1
  local tokens, usd = self.client:estimate(proposal.model, self.prompt_bytes or FIRST_PROMPT, LONGEST_ANSWER)
  return tokens * k, usd * k
end

-- A prompt in one text is completed: the files it does not show, and how to answer, where it does not say that.
local function completed(text, sources)
  local parts, paths, lines = { text }, {}, "\n" .. text .. "\n"
  for index, source in ipairs(sources) do
    paths[index] = source.path
    local shown = source.text:match("^(.-)%s*$")
    if not lines:find(shown ~= "" and "\n" .. shown .. "\n" or source.path, 1, true) then
      parts[#parts + 1] = ("\n\n%s as it is now:\n\n%s"):format(source.path, edit.fence(source.text, source.path))
    end
  end
  if not text:find("<<<<<<< SEARCH", 1, true) then parts[#parts + 1] = "\n\n" .. edit.instructions(paths) end
  return table.concat(parts)
end

-- runs/NNNN/NAME.md for people, NAME.json exactly: what is sent. A single message of the user is its text alone.
local function record(self, slot, name, list)
  local single = #list == 1 and list[1].role == "user"
  self.world:need(fs.write(slot.dir .. "/" .. name .. ".md", single and list[1].content or messages.text(list)))
  self.world:need(fs.write(slot.dir .. "/" .. name .. ".json", json.encode(json.array(list), { pretty = true }) .. "\n"))
end

local function attempts_text(reply)
  local lines = {}
  for _, attempt in ipairs(reply.attempts) do
    lines[#lines + 1] = ("- %s%s: %s, %d tokens, %.4g USD, %.1f s"):format(
      attempt.waited_s and ("after %.1f s: "):format(attempt.waited_s) or "", attempt.model,
      attempt.error or "answered, finish_reason " .. (attempt.finish_reason or "none"), attempt.tokens, attempt.cost, attempt.seconds)
  end
  return table.concat(lines, "\n")
end

-- One exchange as provider_output.md has it.
local function exchange_text(title, reply, problem)
  return ("--- %s ---\n%s\n%d tokens (%d in, %d out%s), %.6g USD\n\n%s\n%s"):format(title, attempts_text(reply), reply.tokens,
    reply.prompt_tokens, reply.completion_tokens, reply.estimated and ", estimated" or "", reply.cost,
    reply.text or "no answer: " .. reply.error, problem and "\nwhat is wrong with it: " .. problem .. "\n" or "")
end

local function send_back(problem)
  return "Your answer could not be used: " .. problem .. "\n\nNothing of it was applied; the files are as they were shown. "
    .. "Answer again, whole, in the format asked for."
end

-- The plan of a commit: what an answer says beside its edits; nil where that is nothing.
local function prose_of(text)
  text = ("\n" .. text:sub(1, LONGEST_PLAN)):gsub("\n[^\n]*\n(```+)[^\n]*\n.-\n%1[^\n]*", "\n")
    :gsub("\n<<<<<<<+ SEARCH.-\n>>>>>>>+ REPLACE[^\n]*", "\n")
  return text:find("%w") and text:match("^%s*(.-)%s*$") or nil
end

local function adopt(answer, reply, edits)
  answer.edits, answer.error = edits, nil
  answer.plan = prose_of(reply.text)
  if not answer.plan then
    local paths = {}
    for path in pairs(edits) do paths[#paths + 1] = path end
    table.sort(paths)
    answer.plan = "change " .. table.concat(paths, ", ")
  end
  asi.read_text(answer, reply.text)
end

-- What a client is asked with. What it takes is told to the world at once, so that a crash does not forget what was paid.
local function options_of(self, slot, model, rng)
  local function spent(tokens, cost)
    local before = slot.under_way or { tokens = 0, cost = 0 }
    slot.under_way = { tokens = before.tokens + tokens, cost = before.cost + cost }
    self.world:spent(slot)
  end
  return { model = model, rng = rng, spent = spent }
end

-- Asks with list; an answer that is no edit is sent back, as often as `repairs` says. One answer, and its account.
local function answer_of(self, slot, list, files, index)
  local k = slot.proposal.k or 1
  local rng = random.stream(self.world.seed, slot.number, "chat", slot.asked, index)
  local answer, account, talk = { tokens = 0, cost = 0 }, {}, table.move(list, 1, #list, 1, {})
  local model = slot.proposal.model
  for round = 0, self.spec.repairs or 1 do
    local reply = self.client:ask(talk, options_of(self, slot, model, rng))
    answer.tokens, answer.cost, answer.refused = answer.tokens + reply.tokens, answer.cost + reply.cost, reply.refused
    local title = ("answer %d of %d%s"):format(index, k, round > 0 and ", asked again" or "")
    if reply.error then
      account[#account + 1] = exchange_text(title, reply)
      answer.error = answer.error and ("%s; asked again: %s"):format(answer.error, reply.error) or reply.error
      break
    end
    model, answer.model, answer.text = reply.model, reply.model, reply.text
    local edits, problem, code = edit.parse(reply.text, files)
    account[#account + 1] = exchange_text(title, reply, problem)
    if edits or code == "ENOCHANGE" then
      adopt(answer, reply, edits or {})
      break
    end
    answer.error = problem
    if round == (self.spec.repairs or 1) then break end
    talk[#talk + 1] = { role = "assistant", content = reply.text }
    talk[#talk + 1] = { role = "user", content = send_back(problem) }
    record(self, slot, k == 1 and "prompt" or "prompt_" .. index, talk)
  end
  return answer, table.concat(account, "\n")
end

-- A key that is refused will be refused again: the run stops, and goes on from here once it is mended.
local function note_refused(self, answers)
  local reason
  for _, answer in ipairs(answers) do
    if not answer.refused then
      self.refused = 0
      return
    end
    reason = answer.error
  end
  self.refused = self.refused + 1
  if self.refused >= MOST_REFUSED then
    self.world:fail(("%d experiments in a row were refused, so the run stops; mend the key and go on with `apsis run`: %s"):format(
      MOST_REFUSED, reason), 4)
  end
end

local function failed_answers(count, why)
  local answers = {}
  for index = 1, count do answers[index] = { error = why, tokens = 0, cost = 0 } end
  return answers
end

-- K answers to slot's proposal, asked for side by side.
function provider:propose(slot, prompt)
  slot.asked = (slot.asked or 0) + 1
  local k = slot.proposal.k or 1
  local sources, files = self.world:sources(self.world:candidate(slot.proposal.parents[1])), {}
  for _, source in ipairs(sources) do files[source.path] = source.text end
  local list, wrong = messages.list(type(prompt) == "string" and completed(prompt, sources) or prompt)
  if not list then return failed_answers(k, wrong) end
  self.prompt_bytes = messages.bytes(list)
  record(self, slot, "prompt", list)
  local bodies, accounts = {}, {}
  for index = 1, k do
    for _, ending in ipairs { ".md", ".json" } do fs.remove(slot.dir .. "/prompt_" .. index .. ending) end -- of an earlier asking
    bodies[index] = function()
      local answer
      answer, accounts[index] = answer_of(self, slot, list, files, index)
      return answer
    end
  end
  local answers = tasks.together(bodies)
  self.world:need(fs.write(slot.dir .. "/provider_output.md", table.concat(accounts, "\n")))
  note_refused(self, answers)
  return answers
end

-- A question: its answer is text.
function provider:ask(slot, prompt)
  local list, wrong = messages.list(prompt)
  if not list then return failed_answers(1, wrong)[1] end
  record(self, slot, "prompt", list)
  local rng = random.stream(self.world.seed, slot.number, "chat", "ask")
  local reply = self.client:ask(list, options_of(self, slot, slot.proposal.model, rng))
  self.world:need(fs.write(slot.dir .. "/provider_output.md", exchange_text("answer", reply)))
  note_refused(self, { reply })
  return { text = reply.text, error = reply.error, tokens = reply.tokens, cost = reply.cost, model = reply.model }
end

return provider
