-- agent: stands in for a coding agent, so that the example needs no network. Like an agent it reads the prompt on standard
-- input and changes files in the current directory. It tries a few ideas for each file in turn, good and bad; if the prompt
-- reports that the gate found a tab, it replaces the tab by blanks.
local fs = require "apsis.fs"

local function before_return(line)
  return function(text) return (text:gsub("\n  return text", "\n" .. line:gsub("%%", "%%%%") .. "%0")) end
end

local ideas = {
  ["lib/slug.lua"] = {
    { "capitals", before_return "  text = text:upper()" },
    { "small letters", before_return "  text = text:lower()" },
    { "blanks become dashes", before_return '\ttext = text:gsub("%s", "-")' }, -- a tab, which ci.sh refuses
    { "all that is no letter or digit becomes one dash", before_return '  text = text:gsub("[^%w]+", "-")' },
    { "not too long", before_return "  text = text:sub(1, 4)" },
    { "no dash at either end", before_return '  text = text:gsub("^%-", ""):gsub("%-$", "")' },
  },
  ["page/style.css"] = {
    { "no comments", function(text) return (text:gsub("/%*.-%*/\n?", "")) end },
    { "no blanks at all", function(text) return (text:gsub(" ", "")) end }, -- also meaningful ones
    { "wider indentation", function(text) return (text:gsub("\n  ", "\n      ")) end },
    { "no indentation", function(text) return (text:gsub("\n +", "\n")) end },
    { "one line", function(text) return (text:gsub("\n", "")) end },
    { "no blanks after a colon or before a brace", function(text) return (text:gsub(": ", ":"):gsub(" {", "{")) end },
    { "no semicolon before a closing brace", function(text) return (text:gsub(";}", "}")) end },
  },
}

-- The known file that may be changed.
local function target_of(prompt)
  for path in pairs(ideas) do
    if prompt:find("you may change:\n- " .. path, 1, true) then return path end
  end
  error "no known file may be changed"
end

local prompt = io.read "a"
local path = target_of(prompt)
local text = assert(fs.read(path))
local list = ideas[path]
local idea = list[(math.tointeger(os.getenv "APSIS_EXPERIMENT") - 1) % #list + 1]
if prompt:find(path .. ": error: a tab", 1, true) then
  idea = { "blanks in place of the tab", function(found) return (found:gsub("\t", "  ")) end }
end
assert(fs.write(path, idea[2](text)))
print(idea[1])
print("ASI description=" .. idea[1])
