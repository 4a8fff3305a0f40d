-- model: the chat provider. It sends the prompt and the parent's writable files; apsis.edit turns the answer into
-- edits. An unusable answer is sent back with the problem, then fails; it is never taken as a program. runs/NNNN
-- records both sides. The proposal chooses the first model. Called by provider/chat.
local asi = require "apsis.live.provider.shared.asi"
local chat = require "apsis.live.provider.chat.client"
local correction = require "apsis.live.provider.chat.correction"
local edit = require "apsis.edit"
local editline = require "apsis.edit.line"
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local json = require "apsis.json"
local answering = require "apsis.live.answers"
local messages = require "apsis.live.provider.shared.messages"
local prompts = require "apsis.prompt"
local random = require "apsis.random"
local suggest = require "apsis.suggest"
local trajectory = require "apsis.trajectory"

local provider = {}

local LONGEST_ANSWER = 4096 -- tokens, assumed of a model without max_tokens
local FIRST_PROMPT = 8192 -- bytes, assumed before the first prompt
local LONGEST_PLAN = 65536 -- bytes of an answer that may be a plan
local MOST_SILENT = 3 -- experiments in a row without any answer, after which the run stops

-- options: as chat.open's, for tests.
function provider.open(world, spec, options)
  local client, message = chat.open(spec, options or { secret = environment.secret })
  if not client then return nil, message end
  return setmetatable({ world = world, spec = spec, client = client, silent = 0 }, { __index = provider })
end

-- What proposing takes at most, without retries and repairs: tokens, US dollars.
function provider:estimate(proposal)
  local k = proposal.k or 1
  local tokens, usd = self.client:estimate(proposal.model, self.prompt_bytes or FIRST_PROMPT, LONGEST_ANSWER)
  return tokens * k, usd * k
end

local function shows(text, source)
  local shown = editline.trim_end(source.text)
  return ("\n" .. text .. "\n"):find(shown ~= "" and "\n" .. shown .. "\n" or source.path, 1, true) ~= nil
end

-- Completes a prompt that is one text: adds files it does not show, and how to answer if it does not say that.
local function completed(text, sources, form)
  local parts, paths = { text }, {}
  for index, source in ipairs(sources) do
    paths[index] = source.path
    if not shows(text, source) then
      parts[#parts + 1] = ("\n\n%s as it is now:\n\n%s"):format(source.path, edit.fence(source.text, source.path))
    end
  end
  if not text:find("<<<<<<< SEARCH", 1, true) then parts[#parts + 1] = "\n\n" .. edit.instructions(paths, form) end
  return table.concat(parts)
end

-- What limits whole files in an answer: that only blocks are asked for, and the paths that messages do not show whole.
local function limits_of(list, sources, form)
  local in_part, text = {}, messages.text(list)
  for _, source in ipairs(sources) do in_part[source.path] = not shows(text, source) or nil end
  local shown = text:find "<<<<<+ SEARCH"
  return { in_part = in_part, blocks = form == "diff" and shown ~= nil and not edit.asks_for_files(text) }
end

-- What is sent: runs/NNNN/NAME.md for people; NAME.json exactly, unless the text has it all. A single user message is
-- only its text.
local function record(self, slot, name, list)
  local single = #list == 1 and list[1].role == "user"
  local text = single and list[1].content or messages.text(list)
  self.world:need(fs.write(slot.dir .. "/" .. name .. ".md", text))
  if messages.are_in(text, list) then return fs.remove(slot.dir .. "/" .. name .. ".json") end
  self.world:need(fs.write(slot.dir .. "/" .. name .. ".json", json.encode(json.array(list), { pretty = true })
    .. "\n"))
end

local function attempts_text(reply)
  local lines = {}
  for _, attempt in ipairs(reply.attempts) do
    lines[#lines + 1] = ("- %s%s: %s, %d tokens, %.4g USD, %.1f s"):format(
      attempt.waited_s and ("after %.1f s: "):format(attempt.waited_s) or "", attempt.model,
      attempt.error or "answered, finish_reason " .. (attempt.finish_reason or "none"), attempt.tokens, attempt.cost,
        attempt.seconds)
  end
  return table.concat(lines, "\n")
end

-- One exchange, for provider_output.md.
local function exchange_text(title, reply, problem)
  return ("--- %s ---\n%s\n%d tokens (%d in, %d out%s), %.6g USD\n\n%s\n%s"):format(title, attempts_text(reply),
    reply.tokens, reply.prompt_tokens, reply.completion_tokens, reply.estimated and ", estimated" or "", reply.cost,
    reply.text or "no answer: " .. reply.error, problem and "\nwhat is wrong with it: " .. problem .. "\n" or "")
end

-- A commit's plan: the text of an answer beside its edits, or nil.
local function prose_of(text)
  text = ("\n" .. text:sub(1, LONGEST_PLAN)):gsub("\n[^\n]*\n(```+)[^\n]*\n.-\n%1[^\n]*", "\n")
    :gsub("\n<<<<<<<+ SEARCH.-\n>>>>>>>+ REPLACE[^\n]*", "\n")
  return text:find("%w") and editline.trim(text) or nil
end

local function adopt(answer, reply, edits)
  answer.edits, answer.error = edits, nil
  answer.plan = prose_of(answer.text)
  if not answer.plan then
    answer.plan = "change " .. table.concat(suggest.names(edits), ", ")
  end
  answer.steps, answer.output_tokens, answer.tool_calls = trajectory.steps(answer.text), reply.output_tokens,
    reply.tool_calls
  asi.read_text(answer, answer.text)
end

-- The client's options. Before each request the budget must cover it; its estimate counts at once, so that a crash does
-- not forget it, until the actual cost replaces it. sending() is called once, before the first request.
local function options_of(self, slot, list, model, rng, sending)
  local options, bytes, tokens, usd = { model = model, rng = rng }, messages.bytes(list), 0, 0
  function options.may_ask(name)
    tokens, usd = self.client:estimate(name, bytes, LONGEST_ANSWER)
    local ok, why = slot:afford(tokens, usd)
    if ok and sending then sending = sending() end
    return ok, why
  end
  function options.spent(took, cost) slot:took(took - tokens, cost - usd) end
  return options
end

-- Asks with list; sends an unusable answer back up to `repairs` times. Returns the answer with its cost.
local function answer_of(self, slot, list, files, limits, index)
  local k = self.world:wanted(slot)
  local rng = random.stream(self.world.seed, slot.number, "chat", slot.asked, index)
  local answer, account, talk = { tokens = 0, cost = 0 }, {}, table.move(list, 1, #list, 1, {})
  local model, sending = slot.proposal.model, nil
  for round = 0, self.spec.repairs or 1 do
    local reply = self.client:ask(talk, options_of(self, slot, talk, model, rng, sending))
    answer.tokens, answer.cost, answer.refused = answer.tokens + reply.tokens, answer.cost + reply.cost, reply.refused
    answer.silent = round == 0 and reply.silent or nil
    local title = ("answer %d of %d%s"):format(index, k, round > 0 and ", asked again" or "")
    if reply.error then
      account[#account + 1] = exchange_text(title, reply)
      answer.error = answer.error and (#reply.attempts > 0 and "%s; asked again: %s" or "%s; %s"):format(answer.error,
        reply.error)
        or reply.error
      break
    end
    model, answer.model, answer.text = reply.model, reply.model, edit.without_thoughts(reply.text)
    local edits, problem, code = edit.parse(answer.text, files, limits)
    account[#account + 1] = exchange_text(title, reply, problem)
    if edits or code == "ENOCHANGE" then
      adopt(answer, reply, edits or {})
      break
    end
    answer.error = problem
    if round == (self.spec.repairs or 1) then break end
    talk[#talk + 1] = { role = "assistant", content = answer.text }
    talk[#talk + 1] = { role = "user", content = correction.ask(problem) }
    function sending() record(self, slot, k == 1 and "prompt" or "prompt_" .. index, talk) end
  end
  return answer, table.concat(account, "\n")
end

-- An endpoint that is down or refuses its key will not answer the next request either: the run stops instead of
-- spending the budget on failures. An unusable answer (prose, edits that do not apply) is an answer.
local function note_silence(self, answers)
  local last
  for _, answer in ipairs(answers) do
    if not answer.silent then
      self.silent = 0
      return
    end
    last = answer
  end
  self.silent = self.silent + 1
  if self.silent < MOST_SILENT then return end
  local how, what = "got no answer", "fix the endpoint (`apsis doctor` checks it)"
  if last.refused then how, what = "were refused", "replace the key" end
  self.world:fail(("%d experiments in a row %s, so the run stops; %s and resume with `apsis run`: %s"):format(
    MOST_SILENT, how, what, last.error), 4)
end

local function failed_answers(count, why)
  local answers = {}
  for index = 1, count do answers[index] = { error = why, tokens = 0, cost = 0 } end
  return answers
end

-- K answers to slot's proposal, asked in parallel.
function provider:propose(slot, prompt)
  slot.asked = (slot.asked or 0) + 1
  local k = self.world:wanted(slot)
  local sources, files = self.world:sources(self.world:base(slot)), {}
  for _, source in ipairs(sources) do files[source.path] = source.text end
  local form = slot.proposal.answer or self.world.manifest.prompt.answer
  local list, wrong = messages.list(type(prompt) == "string" and completed(prompt, sources, form) or prompt)
  if not list then return failed_answers(k, wrong) end
  self.prompt_bytes = messages.bytes(list)
  record(self, slot, "prompt", list)
  local longest = self.world.manifest.prompt.max_kb * 1024
  if self.prompt_bytes > longest then
    return failed_answers(k, prompts.too_long(self.prompt_bytes, longest, self.world:base(slot).id))
  end
  local bodies, accounts, limits = {}, {}, limits_of(list, sources, form)
  for index = 1, k do
    -- of an earlier request
    for _, ending in ipairs { ".md", ".json" } do fs.remove(slot.dir .. "/prompt_" .. index .. ending) end
    bodies[index] = function()
      local answer
      answer, accounts[index] = answer_of(self, slot, list, files, limits, index)
      return answer
    end
    accounts[index] = ("--- answer %d of %d: given before a restart ---\n"):format(index, k)
  end
  local answers = answering.together(self.world, slot, bodies)
  self.world:need(fs.write(slot.dir .. "/provider_output.md", table.concat(accounts, "\n")))
  note_silence(self, answers)
  return answers
end

-- A question: its answer is text.
function provider:ask(slot, prompt, mark)
  local list, wrong = messages.list(prompt)
  if not list then return failed_answers(1, wrong)[1] end
  record(self, slot, "prompt" .. mark, list)
  local rng = random.stream(self.world.seed, slot.number, "chat", "ask" .. mark)
  local reply = self.client:ask(list, options_of(self, slot, list, slot.proposal.model, rng))
  self.world:need(fs.write(("%s/provider_output%s.md"):format(slot.dir, mark), exchange_text("answer", reply)))
  if mark == "" then note_silence(self, { reply }) end
  local said = reply.text and edit.without_thoughts(reply.text)
  return { text = said, error = reply.error, tokens = reply.tokens, cost = reply.cost, model = reply.model }
end

return provider
