-- propose: what each experiment changes; an experiment without a change of its own adds a remark.
local function without(text, ...)
  for _, line in ipairs { ... } do
    local from, to = text:find(line .. "\n", 1, true)
    assert(from, line)
    text = text:sub(1, from - 1) .. text:sub(to + 1)
  end
  return text
end

local function with(text, old, new)
  local from, to = text:find(old, 1, true)
  assert(from, old)
  return text:sub(1, from - 1) .. new .. text:sub(to + 1)
end

local changes = {
  function(text) -- lower and last are mended
    text = with(text, 'lower() {\n    echo "$1"', 'lower() {\n    echo "$1" | tr A-Z a-z')
    return { ["text.sh"] = with(text, 'last() {\n    echo "$1"', 'last() {\n    echo "${1##* }"') }
  end,
  function(text) -- remarks, and between them lower is wrong again where there are two words
    text = with(text, "small functions on texts", "functions on short texts")
    text = with(text, '"$1" | tr A-Z a-z', '"${1%% *}" | tr A-Z a-z')
    return { ["text.sh"] = text .. "# That is all.\n" }
  end,
  function() return { ["text.sh"] = "exit 1\n" } end, -- nothing works
  function(text, table) -- no findings, and the table is complete
    text = with(text, " # UNTIDY: umlauts", "")
    return { ["text.sh"] = without(text, "# UNTIDY: a text of one word", "# UNTIDY: more than two words"),
      ["table.txt"] = with(with(table, "nine=?", "nine=9"), "ten=?", "ten=10") }
  end,
}

return function(proposal, workspace)
  local text, number = workspace:read "text.sh", proposal.experiment
  local change = changes[number] or function() return { ["text.sh"] = text .. "# " .. number .. "\n" } end
  return change(text, workspace:read "table.txt")
end
