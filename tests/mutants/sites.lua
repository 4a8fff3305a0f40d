-- sites: the places of a source file that can be changed, and how: each change is one that a mistake could make. Left
-- alone are strings and comments; sizes, which are constants above 64 and those of arrays and new tables; -2 for -1;
-- index 0 of Lua's stack for 1 or -1, which is not defined; 0 for the 1 where a plain find begins, which is the same;
-- other numbers for true, and for the 1 of an option of libcurl that is on; the 0 that a descriptor is compared with,
-- as 0 to 2 are open from the start (which host/ sees to) and no call gives one of them; errno put back after a close,
-- which changes it only if it fails; what the compiler itself asserts; and what is done when memory runs out or is
-- freed (which `make faults` and `make asan` look after).
local sites = {}

-- The text with its strings and comments blanked, byte for byte; newlines stay.
local function masked(text, language)
  local function blank(part) return (part:gsub("[^\n]", " ")) end
  local at, parts = 1, {}
  local openings = language == "c" and { '"', "'", "/%*" } or { '"', "'", "%-%-", "%[%[" }
  while at <= #text do
    local first, kind
    for _, opening in ipairs(openings) do
      local found = text:find(opening, at)
      if found and (not first or found < first) then first, kind = found, opening end
    end
    if not first then break end
    local stop
    if kind == "/%*" then stop = select(2, text:find("*/", first, true))
    elseif kind == "%-%-" then stop = text:match("^%-%-%[%[()", first) and select(2, text:find("]]", first, true))
      or (text:find("\n", first, true) or #text + 1) - 1
    elseif kind == "%[%[" then stop = select(2, text:find("]]", first, true))
    else
      stop = first + 1
      while stop <= #text and text:sub(stop, stop) ~= kind do
        stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
      end
    end
    stop = math.min(stop or #text, #text)
    parts[#parts + 1] = text:sub(at, first - 1) .. blank(text:sub(first, stop))
    at = stop + 1
  end
  return table.concat(parts) .. text:sub(at)
end

-- By language: { what it is, pattern with the part to replace between (), what it becomes: a text or a function }.
local swaps = {
  c = { { "operator", "()==()", "!=" }, { "operator", "()!=()", "==" }, { "operator", " ()<() ", "<=" },
    { "operator", " ()<=() ", "<" }, { "operator", " ()>() ", ">=" }, { "operator", " ()>=() ", ">" },
    { "operator", "()&&()", "||" }, { "operator", "()||()", "&&" }, { "operator", " ()%+() ", "-" },
    { "operator", " ()%-() ", "+" },
    { "negated condition", "if ()%b()()", function(text) return "(!" .. text .. ")" end },
    { "negated condition", "while ()%b()()", function(text) return "(!" .. text .. ")" end } },
  lua = { { "operator", "()==()", "~=" }, { "operator", "()~=()", "==" }, { "operator", " ()<() ", "<=" },
    { "operator", " ()<=() ", "<" }, { "operator", " ()>() ", ">=" }, { "operator", " ()>=() ", ">" },
    { "operator", " ()and() ", "or" }, { "operator", " ()or() ", "and" }, { "operator", " ()%+() ", "-" },
    { "operator", " ()%-() ", "+" }, { "dropped not", "%f[%w_]()not ()", "" },
    { "negated condition", "if ()[^\n]-() then", function(text) return "not (" .. text .. ")" end } },
}

local LARGEST = 64

-- The line with its sizes blanked: of declared arrays, of and beside what sizeof looks at, and how large a table or the
-- stack will be.
local function without_sizes(line)
  local function blank(text) return (text:gsub("%d", " ")) end
  for _, size in ipairs { "sizeof [%w_>.%-]+%b[]", "sizeof [%w_>.]+ [+-] %d+", "lua_createtable%b()",
    "lua_newuserdatauv%b()", "checkstack%b()" } do line = line:gsub(size, blank) end
  if line:find "^%s+return " or line:find "^%s+else " then return line end
  if not line:find "^%s+[%a_][%w_ ]* %*?[%a_][%w_]*%b[]" then return line end
  return (line:gsub("^%s+[%a_][%w_ ]* %*?[%a_][%w_]*%b[]", blank):gsub(", %*?[%a_][%w_]*%b[]", blank))
end

-- The line without what its descriptors are compared with. A condition on them is still turned round or left out.
local function without_descriptors(line)
  local function blank(text) return (text:gsub(".", " ")) end
  for _, name in ipairs { "[%w_.]*fd", "streams%[%w+%]%.ours", "tty", "tree", "memory", "trees%[i%]", "in", "out", "copy",
    "again", "root" } do
    line = line:gsub("%f[%w_]" .. name .. " [<>]=? 0%f[^%w]", blank)
  end
  return line
end

-- Whether an index of Lua's stack follows, of which 0 is not one.
local function is_index(before)
  local called = before:match "([%a_]+)%(L, %-?$"
  return called and not called:find "_push" and called ~= "lua_pop" and called ~= "lua_settop"
end

-- Whether it turns on an option of libcurl that is only on or off: any number but 0 does.
local function is_switch(before, digits) return digits == "1" and before:find "{CURLOPT_[%u%d_]+, $" end

local function constants(add, line, language)
  if language == "c" then line = without_sizes(line) end
  for from, digits, to in line:gmatch "%f[%w_.]()(%d+)()%f[^%w_.]" do
    local number = math.tointeger(tonumber(digits))
    if number and number <= LARGEST and not digits:find "^0%d" then
      local before = line:sub(1, from - 1)
      if not before:find "%-$" and not before:find "lua_pushboolean%(L, $" and not is_switch(before, digits) then
        add("constant", from, to, tostring(number + 1))
      end
      local is_start = line:find("^, true%)", to) -- of a plain find
      if number > 1 or number == 1 and not is_index(before) and not is_start then
        add("constant", from, to, tostring(number - 1))
      end
    end
  end
end

-- Whole lines: a statement that is left out, an error that is not looked at.
local function statements(add, line, preceding, following, language)
  local from, to = line:match "^%s*()%S.-()%s*$"
  if language == "c" then
    local call = line:find "^%s+[%a_][%w_.>%-]*%b();%s*$"
    local assignment = line:find "^%s+%*?[%a_][%w_.>%-%[%]]* [+*|&-]?= [^;{]*;%s*$"
    local kept = preceding:find "^%s+close" and line:find "^%s+errno = [%a_]+;"
    if (call or assignment) and not kept and not line:find "^%s+return" then add("dropped statement", from, to, ";") end
    local first, last = line:match "if ()%b()()%s*$"
    if first and (following:find "^%s+return [^;]*;" or following:find "^%s+goto out;") then
      add("removed error check", first, last, function(text) return "(" .. text .. " && 0)" end)
    end
    return
  end
  local call = line:find "^%s+[%a_][%w_.:%[%]]*%b()%s*$"
  local assignment = line:find "^%s+[%a_][%w_.%[%]]*[%w_., ]* = [^{]*$" and not line:find "^%s+local "
    and line:find "[%w_)%]]%s*$"
  if call or assignment then add("dropped statement", from, to, "do end") end
  local first, last = line:match "if ()not [%w_.]+() then return nil"
  if first then add("removed error check", first, last, "false") end
end

local function is_of_memory(line, preceding, following, shown, shown_before)
  if preceding:find "alloc%(" and line:find "^%s+if %([%w_>*-]+ == NULL%)$" then return true end
  if (shown_before .. shown):find("out of memory", 1, true) or preceding:find "ENOMEM" then return true end
  for _, word in ipairs { "out_of_memory", "OUT_OF_MEMORY", "no_memory", "grow%(", "ENOMEM", "NO_MEMORY", "ap_buf_add",
    "ap_buf_reserve", "err_memory", "alloc%(", "dup%(", "asprintf", "[fF]ree%(", "Delete%(", "dispose%(",
    "_destroy%(", "event_delete%(", "add_field%(" } do
    if line:find(word) or following:lower():find "out_of_memory" or following:find "NO_MEMORY"
      or following:find "return ap_err_memory" then return true end
  end
end

-- Every change of a file: a list of { path, number (of the line), kind, from, to (bytes of the text), new }.
function sites.of(path, text)
  local language = path:match "%.(c)$" or "lua"
  local list, plain, start, number, preceding, shown_before = {}, masked(text, language), 1, 0, "", ""
  for line in (plain .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local base = start - 1
    start = start + #line + 1
    local function add(kind, from, to, new)
      local old = text:sub(base + from, base + to - 1)
      if type(new) == "function" then new = new(old) end
      list[#list + 1] = { path = path, number = number, kind = kind, from = base + from, to = base + to - 1, new = new }
    end
    local following = plain:match("^[^\n]*", start) or ""
    local descriptors = language == "c" and not path:find "^runtime/host/" and not line:find "luaL_argcheck"
    if descriptors then line = without_descriptors(line) end
    local left_alone = not line:find "%S" or line:find "^%s*#" or line:find "^%s*enum" or line:find "^static const"
      or line:find "^_Static_assert"
    local shown = text:sub(base + 1, start - 2)
    if not left_alone and not is_of_memory(line, preceding, following, shown, shown_before) then
      for _, swap in ipairs(swaps[language]) do
        for from, to in line:gmatch(swap[2]) do add(swap[1], from, to, swap[3]) end
      end
      constants(add, line, language)
      statements(add, line, preceding, following, language)
    end
    preceding, shown_before = line, shown
  end
  return list
end

-- The text with the change made; the line as it was, and as it is now.
function sites.apply(site, text)
  local changed = text:sub(1, site.from - 1) .. site.new .. text:sub(site.to + 1)
  local begins = site.from
  while begins > 1 and text:sub(begins - 1, begins - 1) ~= "\n" do begins = begins - 1 end
  return changed, text:match("^[^\n]*", begins), changed:match("^[^\n]*", begins)
end

return sites
