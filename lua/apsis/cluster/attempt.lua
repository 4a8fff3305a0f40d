-- attempt: brings one job to its result: submits an attempt if nobody has, waits, and begins another attempt when one
-- is lost. What the queue does not answer proves nothing; an attempt is lost only when two answers in a row, some time
-- apart, do not have it and no result has come. Called by evaluations and probe.
local describe = require "apsis.cluster.describe"
local result = require "apsis.cluster.result"
local wait = require "apsis.wait"

local attempt = {}

local SOONEST_S <const>, LATEST_S <const>, PATIENCE <const> = 0.02, 2, 20 -- between two looks for a result
local GRACE <const> = 3 -- of poll_sec: how long a job must have been missing
local TRIES <const> = 3 -- at a submit that fails while the queue answers
local DOCTOR <const> = " (`apsis doctor` sends a job and shows what a node lacks)"

-- The attempt to go on with, { name, number, token, adopted }, and how many were lost; made if there is none. nil, why
-- there can be none.
local function current(self, job)
  local attempts, message = self.folder:attempts(job.key)
  if not attempts then return nil, message end
  local lost = 0
  for _, one in ipairs(attempts) do lost = lost + (one.lost and 1 or 0) end
  local last = attempts[#attempts]
  if last and last.complete and not last.lost and not last.cancelled then
    local given, text = self.folder:read(last.name, "job.json")
    if not text then return nil, self.folder:dir(last.name) .. "/job.json cannot be read" end
    if given and given.key == job.key and given.name == last.name and given.tree == job.tree then
      given.adopted = true
      return given, lost
    end
  end
  local made = describe.attempt(job, last and last.number + 1 or 1)
  local ok
  ok, message = self.folder:write(made)
  return ok and made, ok and lost or message
end

-- Shows where a measurement is: "queued on short", "on n2". since: when it came there, if not now.
function attempt.show(self, slot, text, since)
  if slot.where == text then return end
  slot.where, slot.since = text, text and since or wait.time()
  if slot.outside then return end
  if self.world.display and text then self.world.display:phase(slot, text) end
  if self.world.run_number then self.world.state:phase(slot) end
end

-- Where a job is that the queue has, in words.
local function place_of(there)
  local place = there.node and there.node:gsub("%c", "?"):sub(1, 60)
  if there.state == "running" then return "on " .. (place or "a node") end
  return "queued" .. (place and " on " .. place or "")
end

-- Shows where an attempt is, and since when: by what the queue says of it, or before that by its claim.
local function show_place(self, one, there, slot)
  if there and slot.where == place_of(there) then return end
  local claim = self.folder:read(one.name, "claim") or {}
  there = there or { state = claim.node and "running" or "queued", node = claim.node }
  local since = one.created
  if there.state == "running" then since = tonumber(claim.time) end
  attempt.show(self, slot, place_of(there), since)
end

-- The result of an attempt; nil if there is none; nil and why if there is one that is not this job's.
local function take(self, made)
  if not self.folder:has(made.name, "result.json") then return nil end
  local given, text = self.folder:read(made.name, "result.json")
  if not text then return nil end -- it cannot be read now
  local wrong = result.problem(given, made)
  if wrong then return nil, "its result.json is not the job's: " .. wrong end
  if given.failed then return nil, ("%s: %s"):format(given.node, given.failed) end
  return given
end

-- Waits for an answer of the queue that was asked for after now: the answer, or nil and the trouble once it has failed.
local function fresh(self)
  local from, queue = wait.now(), self.queue
  while queue.asking do wait.sleep(SOONEST_S) end
  if queue.answer and queue.answer.began > from then return queue.answer end
  return queue:ask(self:names())
end

-- Whether the queue has a job, or it has been there: true, false, or nil and why that is unknown.
local function is_there(self, made)
  if self.folder:has(made.name, "claim") or self.folder:has(made.name, "result.json") then return true end
  local answer, message = fresh(self)
  if not answer then return nil, message end
  return answer.jobs[made.name] ~= nil and not (made.adopted and self.queue.unmanned)
end

-- Submits an attempt, unless it is there: an answer may have been lost. Nothing is sent, and no failure counts, while
-- its folder is away. True; nil and why after several failures, or once it is over queue_sec or skipped.
local function submit(self, made, slot)
  local tries, until_s = 0, wait.now() + self.spec.queue_sec
  local unsure = made.adopted
  if not unsure then attempt.show(self, slot, "submitting") end
  while true do
    local there, trouble = false, nil
    if self:outage(slot) and slot.skipped then return nil, slot.skipped end
    if unsure then there, trouble = is_there(self, made) end
    if there then return true end
    if there == false then
      local sent
      sent, trouble = self.queue:submit(made.name, self:variables(made.name))
      self.flying[made.name].unsure, made.adopted = unsure, nil
      if sent then return true end
      tries, unsure = self:outage(slot) and tries or tries + 1, true
    end
    if slot.skipped or tries >= TRIES or wait.now() >= until_s then return nil, slot.skipped or trouble end
    attempt.show(self, slot, "not submitted yet")
    self.world:warn_once(trouble, trouble)
    wait.sleep(math.min(60, self.spec.poll_sec * math.max(1, tries)))
  end
end

-- Notes what an answer says of an attempt; returns true if that shows that it is lost.
function attempt.look(self, one, answer, slot)
  if not answer or answer.began <= one.since then return false end
  local there = answer.jobs[one.name]
  if there then
    one.missing = nil
    one.running = one.running or there.state == "running"
    if there.state == "running" then one.seen = wait.time() - (wait.now() - answer.began) end
    show_place(self, one, there, slot)
    return false
  end
  one.missing = one.missing or answer.began
  return answer.began - one.missing >= GRACE * self.spec.poll_sec
end

-- How long an adopted attempt has waited before; the scheduler is asked all the same whether it waits still.
local function waited(self, made)
  local most = self.spec.queue_sec - GRACE * self.spec.poll_sec
  return made.adopted and math.max(0, math.min(most, wait.time() - made.created)) or 0
end

-- Why an attempt is lost that the queue does not have any more.
local function ended(self, made, answer)
  local words = self.folder:last_words(made.name) or answer.why
  return "the job ended without a result" .. (words and ": " .. words or "") .. DOCTOR
end

-- Why an attempt is given up that has waited for so long; nil if it need not be, or runs.
local function late(self, made, queued_s)
  local one = self.flying[made.name]
  if one.running or queued_s <= self.spec.queue_sec then return nil end
  one.running = self.folder:has(made.name, "claim")
  return not one.running and ("it waited longer than execution.queue_sec, %g s"):format(self.spec.queue_sec)
end

-- Waits for an attempt that was submitted. Its result | nil, why it is lost, and true if no other attempt would help.
local function await(self, made, slot)
  local one, queued_s = self.flying[made.name], waited(self, made)
  one.since = wait.now()
  show_place(self, one, nil, slot)
  local function waited_out()
    if not self:outage(slot) then return false end
    queued_s, one.missing = 0, nil
    return true
  end
  while true do
    local given, wrong = take(self, made)
    if given or wrong then return given, wrong end
    if slot.skipped then return nil, slot.skipped, true end
    if self.folder:has(made.name, "result.json") == nil then waited_out() end
    local answer = self.queue:look(function() return self:names() end)
    self:reap(answer)
    local lost = attempt.look(self, one, answer, slot)
    local why = lost and ended(self, made, answer) or late(self, made, queued_s)
    if why then
      given, wrong = take(self, made)
      if given or wrong then return given, wrong end
      if not waited_out() then return nil, why, not lost end
    end
    local pause = math.max(SOONEST_S, math.min(LATEST_S, (wait.now() - one.since) / PATIENCE))
    if not one.running then queued_s = queued_s + pause end
    wait.sleep(pause)
  end
end

-- An attempt is given up: marked, cancelled, and what it cost is counted: by its own result, else until it was last
-- seen to run. Whether it could be marked.
local function give_up(self, slot, made, why)
  local marked = self.folder:mark(made.name, "lost", why)
  self.queue:cancel { made.name }
  local claim = self.folder:read(made.name, "claim")
  if claim then
    local given = self.folder:read(made.name, "result.json")
    local known = given and not result.problem(given, made) and given.wall_s
    describe.count(slot, { node = claim.node, queue_s = claim.time - made.created,
      wall_s = known or (self.flying[made.name].seen or claim.time) - claim.time }, self.spec.usd_per_hour)
  end
  self.world:log("info", ("experiment %d: %s: %s"):format(slot.number, made.name, why))
  return marked
end

-- The result of a job of describe.job | nil, why there is none.
function attempt.measure(self, slot, job)
  if slot.skipped then return nil, slot.skipped end
  local given, why, final
  repeat
    local made, lost = self:need(slot, current, self, job)
    if not made then return nil, slot.skipped end
    self.flying[made.name] = { name = made.name, number = slot.number, since = wait.now(), created = made.created }
    given, why = take(self, made)
    local sent = given or why
    if not sent then sent, why = submit(self, made, slot) end
    if not sent then final = true
    elseif not given and not why then given, why, final = await(self, made, slot) end
    if not given then
      local marked = give_up(self, slot, made, why)
      lost = lost + 1
      final = final or lost > self.spec.requeue
      -- Without its mark it would be taken up again.
      if not (final or marked) then self:need(slot, self.folder.mark, self.folder, made.name, "lost", why) end
    end
    if given and self.flying[made.name].unsure then self.queue:cancel { made.name } end -- it may be there twice
    self.flying[made.name].done = true
  until given or final
  attempt.show(self, slot, nil)
  return given, why
end

return attempt
