-- report: a run as one HTML page or one picture, from the journal, during the run or after.
local common = require "apsis.cli.common"
local curve = require "apsis.report.curve"
local datas = require "apsis.report.data"
local fs = require "apsis.fs"
local json = require "apsis.json"
local page = require "apsis.report.page"
local process = require "apsis.process"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local state = require "apsis.state"

local report = { place = 120, summary = "the run as one HTML page: charts, lineage, the best",
  example = "apsis report --out report.html" }

function report.options(parser)
  common.project_argument(parser)
  parser:option("--out",
    "the file to write (default: runs/report.html in the project; - for standard output)"):argname "FILE"
  parser:flag("--open", "show it in the browser, too")
  parser:flag("--svg", "a picture of the run for a README instead of the page (default: runs/report.svg)")
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

function report.run(args)
  local code, refused = rooms.first("report", args,
    { data = function(one) return datas.of(one, args.dir) end, page = page.run, json = page.json, open = open_browser })
  if code then return code, refused end
  if args.json and (args.out or args.svg) then return 2, "--json goes to standard output: leave out --out and --svg" end
  local self, message
  self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local data
  data, message, code = datas.of(self, args.dir)
  if not data then return code, message end
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
  print(path)
  if self.history.count == 0 then
    io.stderr:write(("apsis: no experiments yet, so the page is empty: run `apsis baseline%s` first\n"):format(
      show.at(args.dir)))
  end
  if args.open then return open_browser(path) end
  return 0
end

return report
