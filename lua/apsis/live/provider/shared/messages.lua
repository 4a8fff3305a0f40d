-- messages: a prompt as a chat endpoint's list of messages ({role, content}...), and such a list as text for people.
local messages = {}

-- The messages of a prompt; a string is one user message. nil and why if it is neither.
function messages.list(prompt)
  if type(prompt) == "string" then return { { role = "user", content = prompt } } end
  if type(prompt) ~= "table" or #prompt == 0 then
    return nil, "a prompt is a text or a list of messages {role = , content = }, not " .. (type(prompt) == "table"
      and "an empty table"
      or "a " .. type(prompt))
  end
  local list = {}
  for index, message in ipairs(prompt) do
    local role, content = "user", message
    if type(message) == "table" then role, content = message.role or "user", message.content end
    if type(role) ~= "string" or not role:find("^[%w_-]+$") or type(content) ~= "string" then
      return nil, ("message %d of the prompt must be a text, or {role = , content = } of two texts"):format(index)
    end
    list[index] = { role = role, content = content }
  end
  return list
end

-- A prompt as text: a string as it is; each message below a line `--- role ---`.
function messages.text(prompt)
  if type(prompt) == "string" then return prompt end
  local parts = {}
  for _, message in ipairs(prompt) do
    local content = message.content
    parts[#parts + 1] = ("--- %s ---\n%s%s"):format(message.role, content, content:sub(-1) == "\n" and "" or "\n")
  end
  return table.concat(parts)
end

-- The messages that a text of messages.text shows; a text without such lines is one user message. A message that did
-- not end in a line break does now.
function messages.read(text)
  if not text:find("^%-%-%- [%w_-]+ %-%-%-\n") then return { { role = "user", content = text } } end
  local list, from, role = {}, nil, nil
  local at = 1
  while at <= #text do
    local stop = text:find("\n", at, true) or #text
    local opens = text:sub(at, stop):match("^%-%-%- ([%w_-]+) %-%-%-\n$")
    if opens then
      if role then list[#list + 1] = { role = role, content = text:sub(from, at - 1) } end
      role, from = opens, stop + 1
    end
    at = stop + 1
  end
  list[#list + 1] = { role = role, content = text:sub(from) }
  return list
end

-- Whether a text shows exactly these messages, so that they need not be kept beside it.
function messages.are_in(text, list)
  local read = messages.read(text)
  if #read ~= #list then return false end
  for index, message in ipairs(list) do
    if read[index].role ~= message.role or read[index].content ~= message.content then return false end
  end
  return true
end

-- The bytes of the contents.
function messages.bytes(list)
  local sum = 0
  for _, message in ipairs(list) do sum = sum + #message.content end
  return sum
end

return messages
