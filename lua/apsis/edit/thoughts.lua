-- edit/thoughts: where a model's written thoughts end (<think> ... </think> at the beginning of its answer): nothing in
-- them is part of the answer. Pure. Called by edit and search_replace.
local thoughts = {}

local tags = { "think", "thinking" }

-- Where the answer itself begins; nil and the tag if it ends inside its thoughts.
function thoughts.stop(answer)
  local start = 1
  while true do -- several may follow each other
    local tag = answer:match("^%s*<(%l+)>", start)
    if tag ~= tags[1] and tag ~= tags[2] then break end
    local _, stop = answer:find("</" .. tag .. ">", start, true)
    if not stop then return nil, "<" .. tag .. ">" end
    start = stop + 1
  end
  for _, tag in ipairs(start == 1 and tags or {}) do -- some servers omit the opening tag
    local _, stop = answer:find("%f[^\n\0][ \t]*</" .. tag .. ">[ \t\r]*%f[\n\0]")
    if stop and not answer:find("<" .. tag .. ">", 1, true) then return stop + 1 end
  end
  return start
end

-- The answer without them; all of it if they do not end.
function thoughts.cut(answer)
  local start = thoughts.stop(answer)
  return start and start > 1 and answer:sub(start):match("^%s*(.*)$") or answer
end

return thoughts
