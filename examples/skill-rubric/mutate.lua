-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parent's files. It
-- returns SKILL.md with one paragraph added, dropped, or reworded. It cannot tell good advice from bad: parts.md has
-- both, and evaluate.sh finds out. A language model could take its place.

-- Paragraphs are set apart by empty lines; the first two of SKILL.md are its front matter and its heading.
local FIXED = 2

local function paragraphs_of(text)
  local list = {}
  for paragraph in (text:gsub("%s+$", "") .. "\n\n"):gmatch "(.-)\n\n+" do list[#list + 1] = paragraph end
  return list
end

-- Wordings by topic, the topics' names in order, and the topic of each wording.
local function read_parts(text)
  local parts, topics, topic_of = {}, {}, {}
  local topic
  for _, paragraph in ipairs(paragraphs_of(text)) do
    local name = paragraph:match "^## (%l+)$"
    if name then
      topic, parts[name], topics[#topics + 1] = name, {}, name
    elseif topic then
      table.insert(parts[topic], paragraph)
      topic_of[paragraph] = topic
    end
  end
  return parts, topics, topic_of
end

local function first_words(paragraph)
  local words = paragraph:match "^%S+ %S+ %S+ %S+ %S+" or paragraph
  return ("%q"):format(words)
end

-- A wording of a topic that is not in it yet.
local function add(rng, list, parts, topics, topic_of)
  local present, missing = {}, {}
  for _, paragraph in ipairs(list) do present[topic_of[paragraph] or ""] = true end
  for _, topic in ipairs(topics) do
    if not present[topic] then missing[#missing + 1] = topic end
  end
  if #missing == 0 then return nil end
  local paragraph = rng:choice(parts[rng:choice(missing)])
  table.insert(list, rng:integer(FIXED + 1, #list + 1), paragraph)
  return "adds " .. first_words(paragraph)
end

local function drop(rng, list)
  if #list <= FIXED + 1 then return nil end
  return "drops " .. first_words(table.remove(list, rng:integer(FIXED + 1, #list)))
end

-- Another wording of the same topic.
local function rewrite(rng, list, parts, _, topic_of)
  local index = rng:integer(FIXED + 1, #list)
  local others = {}
  for _, paragraph in ipairs(parts[topic_of[list[index]]] or {}) do
    if paragraph ~= list[index] then others[#others + 1] = paragraph end
  end
  if #others == 0 then return nil end
  local old = list[index]
  list[index] = rng:choice(others)
  return ("writes %s instead of %s"):format(first_words(list[index]), first_words(old))
end

return function(_, workspace)
  local rng, list = workspace.rng, paragraphs_of(workspace:read "SKILL.md")
  local ways = rng:shuffle { add, add, rewrite, rewrite, drop }
  local parts, topics, topic_of = read_parts(workspace:read "parts.md")
  for _, way in ipairs(ways) do
    local what = #list > FIXED and way(rng, list, parts, topics, topic_of)
    if what then return { ["SKILL.md"] = table.concat(list, "\n\n") .. "\n" }, { hypothesis = what, description = what } end
  end
  return nil, "SKILL.md has no paragraph below its heading"
end
