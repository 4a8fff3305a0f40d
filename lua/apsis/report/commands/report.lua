-- report: a run as one HTML page or one picture, from the journal, during the run or after.
local card = require "apsis.report.card"
local common = require "apsis.cli.common"
local curve = require "apsis.report.curve"
local datas = require "apsis.report.data"
local fs = require "apsis.fs"
local json = require "apsis.json"
local page = require "apsis.report.page"
local process = require "apsis.process"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local state = require "apsis.state"

local GARBAGE_PAUSE <const> = 125 -- per cent: who reads a long journal leaves much garbage

local report = { place = 120, summary = "the run as one HTML page: charts, lineage, the best",
  example = "apsis report --out report.html" }

function report.options(parser)
  common.project_argument(parser)
  parser:option("--out",
    "the file to write (default: runs/report.html in the project; - for standard output)"):argname "FILE"
  parser:flag("--open", "show it in the browser, too")
  parser:flag("--svg", "a picture of the run for a README instead of the page (default: runs/report.svg)")
  parser:option("--card", "a picture of 1200x675 to share, instead of the page: FILE.svg, or FILE.png if rsvg-convert "
    .. "or chromium is there"):argname "FILE"
  parser:option("--animated", "the picture of --svg, drawn from left to right, instead of the page"):argname "FILE.svg"
  parser:flag("--json", "the page's data as JSON, instead of the page")
  rooms.call("options", "report", parser)
end

local function destination(self, args)
  if args.out then return args.out end
  local folder = self.home .. "/runs"
  local made, message = fs.mkdir(folder)
  if not made then return nil, message end
  return folder .. (args.svg and "/report.svg" or "/report.html")
end

local function open_browser(path)
  local whole = fs.realpath(path) or path
  local done = process.run { argv = { "xdg-open", whole }, timeout_s = 20 }
  if done and done.outcome == "exit" and done.code == 0 then return 0 end
  return 3, ("cannot show %s: xdg-open failed; open the file by hand"):format(path)
end

-- Why options do not go together; nil if they do.
local function contradiction(args)
  if args.svg and (args.dir or ""):find "%.svg$" then
    return "--svg takes no file: name it with --out " .. show.line(args.dir, 200)
  end
  if args.json and (args.out or args.svg) then return "--json goes to standard output: leave out --out and --svg" end
  local pictures = args.card or args.animated
  if pictures and (args.json or args.out or args.svg or args.open) then
    return "--card and --animated name their own files: leave out --out, --svg, --json and --open"
  end
  for _, option in ipairs { "card", "animated" } do
    local path = args[option]
    if path and not path:find "%.svg$" and not (option == "card" and path:find "%.png$") then
      return ("--%s: %s does not end in .svg%s"):format(option, show.line(path, 200), option == "card" and " or .png"
        or "")
    end
  end
end

-- The pictures that are asked for.
local function write_pictures(args, data)
  for _, option in ipairs { "card", "animated" } do
    local path, ok, message = args[option], true, nil
    if path and option == "card" then ok, message = card.write(data, path)
    elseif path then ok, message = state.replace(path, curve(data, true)) end
    if not ok then return 3, ("cannot write %s: %s"):format(path, message) end
    if path then print(path) end
  end
  return 0
end

function report.run(args)
  collectgarbage("setpause", GARBAGE_PAUSE)
  local code, refused = rooms.first("report", args,
    { data = datas.of, page = page.run, projects = page.projects, lab = page.lab, plain = page.plain, json = page.json,
      open = open_browser })
  if code then return code, refused end
  local wrong = contradiction(args)
  if wrong then return 2, wrong end
  local self, message
  self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local data
  data, message, code = datas.of(self, args.dir)
  if not data then return code, message end
  if args.card or args.animated then return write_pictures(args, data) end
  if args.json then
    print(json.encode(page.plain(data), { sorted = true }))
    return 0
  end
  local made = args.svg and curve(data) or page.run(data)
  if args.out == "-" then
    io.stdout:write(made)
    return 0
  end
  local path
  path, message = destination(self, args)
  local ok = path ~= nil
  if path then ok, message = state.replace(path, made) end
  if not ok then return 3, ("cannot write the report: %s"):format(message) end
  show.raw(path .. "\n")
  if self.history.count == 0 then
    io.stderr:write(("apsis: no experiments yet, so the page is empty: run `apsis baseline%s` first\n"):format(
      show.at(args.dir)))
  end
  if args.open then return open_browser(path) end
  return 0
end

return report
