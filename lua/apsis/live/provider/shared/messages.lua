-- messages: a prompt as the list of messages that a chat endpoint takes ({role, content}...), and such a list as text
-- for people. Asks nobody and writes nothing. Called by world and provider/chat.
local messages = {}

-- The list for a prompt: a string is one message of the user. nil and why where it is neither.
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

-- The text of a prompt: a string as it is; messages each under a line `--- role ---`.
function messages.text(prompt)
  if type(prompt) == "string" then return prompt end
  local parts = {}
  for _, message in ipairs(prompt) do
    local content = message.content
    parts[#parts + 1] = ("--- %s ---\n%s%s"):format(message.role, content, content:sub(-1) == "\n" and "" or "\n")
  end
  return table.concat(parts)
end

-- How much is sent: the bytes of the contents.
function messages.bytes(list)
  local sum = 0
  for _, message in ipairs(list) do sum = sum + #message.content end
  return sum
end

return messages
