-- page: the report as one self-contained HTML file: style, chart library and script, allowed by their digests, and the
-- data as JSON that cannot end its element. The same data gives the same bytes. Called by the lab's command and by
-- `apsis report`; reads no journal and writes no file.
local host = require "apsis.host"
local json = require "apsis.json"
local plain = require "apsis.project.plain"
local sha256 = require "apsis.project.sha256"

local page = {}

local FOLDER = "lua/apsis/report/"
local LIBRARY = "lua/chart.js" -- embedded at build time, from a package

local scripts = {
  lab = { "dom.js", "charts.js", "lab.js", "comparisons.js", "page.js" },
  run = { "dom.js", "charts.js", "run.js", "path.js", "health.js", "front.js", "lineage.js", "page.js" },
  projects = { "dom.js", "charts.js", "projects.js", "page.js" },
}

local marked = getmetatable(json.array())

-- A copy with null for numbers that JSON cannot hold. shown(text): what stands for a text, if given.
function page.plain(value, shown)
  local kind = type(value)
  if kind == "string" and shown then return shown(value) end
  if kind == "number" then return value - value == 0 and value or json.null end
  if kind == "table" then
    local copy = {}
    for key, inner in pairs(value) do copy[key] = page.plain(inner, shown) end
    return getmetatable(value) == marked and json.array(copy) or copy
  end
  return value
end

local escapes = { ["<"] = "\\u003c", [">"] = "\\u003e", ["&"] = "\\u0026", ["\u{2028}"] = "\\u2028",
  ["\u{2029}"] = "\\u2029" }

-- JSON that stays text anywhere in HTML or a script.
function page.json(data)
  local text = json.encode(page.plain(data, plain.visible), { sorted = true })
  return (text:gsub("[<>&]", escapes):gsub("\u{2028}", escapes):gsub("\u{2029}", escapes))
end

local function part(name)
  return assert(host.read(FOLDER .. name), FOLDER .. name .. " is missing")
end

local function library()
  local text = host.read(LIBRARY)
  if not text then error("this program was built without the chart library: build it again with `make`", 0) end
  if text:find("</script", 1, true) or text:find("<!--", 1, true) then
    error("the chart library cannot stand inside a page", 0)
  end
  return text
end

local function joined(names, more)
  local parts = { '"use strict";\n(function () {\n' }
  for _, name in ipairs(names) do parts[#parts + 1] = part(name) end
  parts[#parts + 1] = more
  parts[#parts + 1] = "})();\n"
  return table.concat(parts)
end

local function allowed(text)
  return ("'sha256-%s'"):format(sha256.base64(sha256.digest(text)))
end

local function html(kind, data, more)
  local fields = { style = part "page.css" .. (more and more.style or ""), chart = library(), data = page.json(data),
    script = joined(scripts[kind], more and more.script), kind = kind, connect = more and "connect-src 'self';" or "" }
  fields.style_digest = allowed(fields.style)
  fields.script_digests = allowed(fields.chart) .. " " .. allowed(fields.script)
  return (part "page.html":gsub("{{([%a_]+)}}", fields))
end

-- The page of a lab's campaign; README.md has the shape of data.
function page.lab(data)
  return html("lab", data)
end

-- The page of a repository's projects; README.md has the shape of data. more: as of page.run.
function page.projects(data, more)
  return html("projects", data, more)
end

-- The page of a run, of run.data's result. more: { style, script } of a page that its server keeps up to date.
function page.run(data, more)
  return html("run", data, more)
end

return page
