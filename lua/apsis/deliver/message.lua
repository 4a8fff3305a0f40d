-- message: the messages of the commits that apply and split make, and what an earlier one states. The facts stand in
-- the last paragraph, so that nothing that a provider writes can pass for them.
local plain = require "apsis.project.plain"

local message = {}

local MOST_STEPS = 50

-- One line of somebody's text.
local function line_of(text, most)
  local line = plain.text((text or ""):gsub("[%c\127]+", " ")):match "^ *(.-) *$"
  if #line <= most then return line end
  return line:sub(1, (utf8.offset(line, 0, most + 1) or most + 1) - 1)
end

local function number(value, unit)
  return ("%.10g"):format(value) .. ((unit or "") ~= "" and " " .. unit or "")
end

-- "2210 us (time_us, lower is better)"; nil without a value. note: more about it.
function message.value(record, unit, value, note)
  value = value or record.value
  if not value then return nil end
  return ("%s (%s, %s%s)"):format(number(value, unit), line_of(record.measured_by.name, 100),
    record.measured_by:words(), note and "; " .. note or "")
end

-- A commit's subject, as its author wrote it.
function message.subject(repo, record)
  local info = repo:commit_info(record.commit)
  local subject = line_of(info and info.subject, 100)
  return subject ~= "" and subject or record.id
end

-- "- c0003 the subject (12.3)" for each step.
function message.list(repo, list)
  local lines = {}
  for index, step in ipairs(list) do
    if index > MOST_STEPS then
      lines[index] = ("- and %d more"):format(#list - MOST_STEPS)
      break
    end
    local value = step.value
    lines[index] = ("- %s %s%s"):format(step.id, message.subject(repo, step.record),
      value and (" (%s)"):format(number(value)) or "")
  end
  return table.concat(lines, "\n")
end

-- write{ subject, body, facts = { { name, value }... } }: a fact without a value is left out.
function message.write(spec)
  local facts = {}
  for index = 1, #spec.facts do
    local name, value = table.unpack(spec.facts[index])
    if value then facts[#facts + 1] = ("Apsis-%s: %s"):format(name, value) end
  end
  local body = spec.body and spec.body ~= "" and spec.body .. "\n\n" or ""
  return ("%s\n\n%s%s\n"):format(line_of(spec.subject, 120), body, table.concat(facts, "\n"))
end

-- The text that a hypothesis adds to a subject; or nil.
function message.hypothesis(record, subject)
  local text = line_of(record.hypothesis, 1000)
  return text ~= "" and text ~= subject and text or nil
end

-- The commit of the candidate that a commit by apply brought; or nil.
function message.brought(text)
  local last = ("\n\n" .. text:gsub("\r", "")):gsub("\n+$", ""):match "^.*\n\n(.*)$"
  return last and ("\n" .. last .. "\n"):match "\nApsis%-Commit: (%x+)\n"
end

return message
