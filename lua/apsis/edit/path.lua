-- edit/path: paths as models write them: on a separate line, decorated, or after a fence. Normalises them and refuses
-- those that could leave the project. Looks only at names, never at the disk. Called by edit and edit/search_replace.
local editline = require "apsis.edit.line"

local editpath = {}

-- The language of a file's extension or a fence's info.
local languages = {
  bash = "shell", bat = "batch", c = "c", cc = "c", cfg = "ini", conf = "ini", console = "shell", cpp = "c", cs = "c#",
  css = "css",
  csv = "csv", cu = "c", cuda = "c", cxx = "c", diff = "diff", ex = "elixir", fish = "shell", go = "go", golang = "go",
  h = "c",
  hpp = "c", hs = "haskell", html = "html", ini = "ini", java = "java", javascript = "javascript", jl = "julia",
  js = "javascript",
  json = "json", jsonl = "json", julia = "julia", kt = "kotlin", lua = "lua", markdown = "markdown", md = "markdown",
  ml = "ocaml",
  patch = "diff", php = "php", pl = "perl", powershell = "powershell", ps1 = "powershell", py = "python",
  python = "python",
  python3 = "python", r = "r", rb = "ruby", rs = "rust", rst = "rst", ruby = "ruby", rust = "rust", scala = "scala",
  sh = "shell",
  shell = "shell", sql = "sql", svg = "xml", swift = "swift", terminal = "shell", tex = "tex", toml = "toml",
  ts = "javascript",
  tsx = "javascript", jsx = "javascript", txt = "text", typescript = "javascript", xml = "xml", yaml = "yaml",
  yml = "yaml",
  zig = "zig", zsh = "shell",
}

local function extension(path)
  return path:match("%.(%a[%w_]*)$")
end

-- "./a//b" is "a/b".
function editpath.normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

-- Why no file of the project can have this path; nil if one can.
function editpath.problem(path)
  if path == "" or path:find("%c") then return "is no path" end
  if path:sub(1, 1) == "/" then return "is an absolute path; write it relative to the project" end
  if ("/" .. path .. "/"):find("/../", 1, true) then return "leaves the project with '..'" end
end

-- The names of files, for the readers below: { files = by path, endings = by extension }.
function editpath.known(files)
  local endings = {}
  for path in pairs(files) do endings[extension(path) or ""] = true end
  endings[""] = nil
  return { files = files, endings = endings }
end

local function like_a_path(text, known)
  if text == "" or text:find("[^%w%._/%-+@~\128-\255]") then return false end
  if text:find("/", 1, true) then return text:find("[%w_]") ~= nil end
  local ending = extension(text)
  return ending ~= nil and (languages[ending:lower()] ~= nil or text:sub(1, 1) == "." or known.endings[ending] ~= nil)
end

local function known_or_like(text, known)
  local path = editpath.normal(text)
  if known.files[path] or like_a_path(text, known) then return path end
end

local labels = { file = true, filename = true, path = true, ["file path"] = true, ["file name"] = true,
  filepath = true }

-- The text in a line's decorations: `a`, **a**, "a", ### a, - a, a:, File: a, a (new).
local function undecorated(line)
  local text = editline.trim(line):gsub("^[#>*+/%-]+%s+", ""):gsub("^%d+[.)]%s+", ""):gsub("^[#>*+/%-]+%s+", "")
  local label, rest = text:match("^[*_`]*(%a+ ?%a*)[*_`]*:[*_`]*%s*(.+)$")
  if label and labels[label:lower()] then text = rest end
  for _ = 1, 6 do
    local inner = text:match("^%*%*(.+)%*%*$") or text:match("^`+([^`]+)`+$") or text:match('^"([^"]+)"$')
      or text:match("^'([^']+)'$")
      or text:match("^(.+):$") or text:match("^(%S+)%s+%([^()]*%)$")
    if not inner then break end
    text = inner
  end
  return editline.trim(text)
end

local LONGEST_LINE = 300

-- The path in a line that contains nothing else; nil for prose.
function editpath.of_line(line, known)
  if #line > LONGEST_LINE then return nil end
  local exact = editline.trim(line)
  if known.files[exact] then return exact end
  return known_or_like(undecorated(line), known)
end

-- The path in a fence's info: `path`, `lua path`, `lua:path`, `lua title="path"`.
function editpath.of_info(info, known)
  if #info > LONGEST_LINE then return nil end
  local word, rest = info:match("^(%S+)%s*(.*)$")
  if not word then return nil end
  if rest ~= "" then
    local named = rest:match('^[%a_]+="([^"]+)"') or rest:match("^[%a_]+='([^']+)'") or rest:match("^[%a_]+=(%S+)")
      or rest
    local path = known_or_like(undecorated(named), known)
    if path then return path end
  end
  local path = word:match("^[%w+#]+:(.+)$")
  return known_or_like(path or word, known)
end

-- Whether a fence with this info may contain that file: not if both name a language and these differ.
function editpath.fits(info, path)
  local said = languages[(info:match("^([%w+#]+)") or ""):lower()]
  if info:find("^[%w_.+-]*[/.]") then said = nil end -- the info is a path
  local own = languages[(extension(path) or ""):lower()]
  return not said or not own or said == own
end

return editpath
