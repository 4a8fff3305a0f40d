-- report: a run as one HTML page or one picture, from the journal, during the run or after.
local common = require "apsis.cli.common"
local curve = require "apsis.report.curve"
local fs = require "apsis.fs"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local page = require "apsis.report.page"
local picture = require "apsis.report.picture"
local process = require "apsis.process"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local runs = require "apsis.report.run"
local show = require "apsis.cli.table"
local standing = require "apsis.live.standing"
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
end

-- The data of the page. data, reader | nil, message, code.
local function gather(dir)
  local self, message, code = reader.open(dir)
  if not self then return nil, message, code end
  local project, history = self.manifest.project, self.history
  local data, refused = runs.data(self.metric, history, function(visit, fields)
    if history.count == 0 then return true end
    return history:each(visit, fields)
  end, { project = project.name, description = project.description,
    status = standing.word(self, lock.holder(self.home)), altered = self.altered or json.null,
    reason = type(self.last.reason) == "string" and self.last.reason or nil,
    strategy = history.newest and history.newest.strategy, unit = self.manifest.metric.unit,
    several = self.manifest.metric.names ~= nil })
  if not data then return nil, refused, 3 end
  for _, fact in rooms.each "report_fact" do
    data.more = data.more or json.array()
    data.more[#data.more + 1] = fact(self)
  end
  for _, figures in rooms.each "report_figures" do
    for _, figure in ipairs(figures(self)) do
      data.figures = data.figures or json.array()
      data.figures[#data.figures + 1] = figure
    end
  end
  data.picture = history.best and picture.of(self.home, self:run_dir(history.best):sub(#self.home + 2), history.best)
  return data, self
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
  if args.json and (args.out or args.svg) then return 2, "--json goes to standard output: leave out --out and --svg" end
  local data, self, code = gather(args.dir)
  if not data then return code, self end
  if args.json then
    print(json.encode(page.plain(data), { sorted = true }))
    return 0
  end
  local made = args.svg and curve(data) or page.run(data)
  if args.out == "-" then
    io.stdout:write(made)
    return 0
  end
  local path, message = destination(self, args)
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
