-- strategies: the page of the shipped strategies: what each does, its options and their defaults. What an option means
-- is the comment beside it in the strategy's own table, or above the line.
local contract = require "apsis.core.strategy"
local host = require "apsis.host"
local json = require "apsis.json"
local page = require "apsis.manual.page"

-- What the comments of the table of options explain, by the option's name.
local function comments(source, options)
  local about, above = {}, {}
  for line in (source:match "options = (%b{})" or ""):gmatch "[^\n]+" do
    local code, comment = line:match "^(.-)%s*%-%-%s*(.*)$"
    code = code or line
    if not code:find "%w" then
      above[#above + 1] = comment
    else
      local text = comment or table.concat(above, " ")
      for name in code:gmatch "([%w_]+) =" do
        if options[name] ~= nil then about[name] = text end
      end
      above = {}
    end
  end
  return about
end

-- The opening comment up to its first empty line, without the file's name.
local function description(source)
  local words = {}
  for line in source:gmatch "([^\n]*)\n" do
    local text = line:match "^%-%-%s?(.+)$"
    if not text then break end
    words[#words + 1] = text
  end
  return (table.concat(words, " "):gsub("^[%w_/%.-]+:%s*", "", 1):gsub("^%l", string.upper, 1))
end

return function()
  local self = page.new("apsis-shipped-strategies", 7, "the shipped strategies and their options", "")
  self:text("The manifest names a strategy and its options: `strategy: {use: hillclimb, options: {patience: 50}}`. "
    .. "`apsis run --set patience=50` sets one for a run. `apsis strategies NAME` prints the source.")
  for _, name in ipairs(contract.shipped()) do
    local source = assert(host.read("strategies/" .. name .. ".lua"))
    local options = assert(contract.load { use = name, options = {}, dir = "." }).own.options or {}
    local about, names, terms = comments(source, options), {}, {}
    for option in pairs(options) do names[#names + 1] = option end
    table.sort(names)
    for index, option in ipairs(names) do
      local text = about[option] ~= "" and about[option]
      if not text then error(("strategies/%s.lua: no comment explains option %s"):format(name, option)) end
      terms[index] = { name .. "." .. option, ("%s. Default: %s."):format(text:gsub("^%l", string.upper, 1),
        json.encode(options[option])) }
    end
    self:heading(name):text(description(source)):terms(terms)
  end
  return self
end
