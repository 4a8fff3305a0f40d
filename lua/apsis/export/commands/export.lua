-- export: every experiment of a project as rows for other programs, or as runs of MLflow.
local columns = require "apsis.export.columns"
local common = require "apsis.cli.common"
local json = require "apsis.json"
local mlflow = require "apsis.export.mlflow"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local sink = require "apsis.export.sink"

local export = { place = 125, summary = "every experiment as CSV, JSON lines, or runs of MLflow",
  example = "apsis export --csv experiments.csv" }

local MOST_NAMES = 1000 -- of secondary metrics that get a column each

function export.options(parser)
  common.project_argument(parser)
  parser:option("--csv", "a row for each experiment (RFC 4180); - is standard output"):argname "FILE"
  parser:option("--jsonl", "the same as one JSON object in a line"):argname "FILE"
  parser:option("--mlflow", "a run of MLflow for each run, in this mlruns folder; made if missing"):argname "DIR"
  parser:flag("--columns", "only print what the columns are")
  parser:flag("--json", "print what was written as one JSON object")
end

local function print_columns()
  local rows = {}
  for index, column in ipairs(columns.list()) do
    local name = column.map and column.name .. ".NAME" or column.name
    rows[index] = { name, column.type .. (column.unit and ", " .. column.unit or ""), column.about }
  end
  for _, text in ipairs(show.columns({ "column", "type", "what it is" }, rows, {}, show.width(), nil, 1)) do
    print(text)
  end
  return 0
end

-- The names in the columns that have a map, in order | nil, message, code.
local function names_of(history, list)
  local names = {}
  for _, column in ipairs(list) do
    if column.map then
      local seen = {}
      local ok, message, code = history:each(function(line)
        for name in pairs(line[column.name] or {}) do seen[name] = true end
      end, { experiment = true, outcome = true, [column.name] = true })
      if not ok then return nil, message, code end
      names[column.name] = show.sorted(seen)
      if #names[column.name] > MOST_NAMES then
        return nil, ("--csv: %s has %d names, and each would be a column: use --jsonl"):format(column.name,
          #names[column.name]), 2
      end
    end
  end
  return names
end

local writers = {}

function writers.csv(history, list)
  local names, message, code = names_of(history, list)
  if not names then return nil, message, code end
  local cells = columns.cells(list, names)
  return function(record) return columns.row(cells, record) .. "\r\n" end, columns.head(cells) .. "\r\n"
end

function writers.jsonl(_, list)
  return function(record) return columns.object(list, record) .. "\n" end, ""
end

-- Writes rows to a file. How many | nil, message, code.
local function write_rows(self, form, path)
  local row, head, code = writers[form](self.history, columns.list())
  if not row then return nil, head, code == 2 and 2 or 3 end
  local out, refused = sink.open(path)
  if not out then return nil, ("--%s: %s"):format(form, refused), 2 end
  local count, failed, why = 0, false, nil
  local function put(text)
    if failed then return end
    local ok, message = out:write(text)
    if not ok then failed, why = true, message or false end
  end
  put(head)
  local ok, message = self.history:each(function(record)
    put(row(record))
    count = count + 1
    if failed then return why or "the reader has gone" end
  end)
  if failed then
    out:abandon()
    return nil, why and ("--%s: %s"):format(form, why) or nil, 3
  end
  if not ok then
    out:abandon()
    return nil, message, 3
  end
  ok, message = out:close()
  if not ok then return nil, message and ("--%s: %s"):format(form, message), 3 end
  return count
end

local function rows(self, args, form)
  local path = args[form]
  local count, message, code = write_rows(self, form, path)
  if not count then return code, message end
  if args.json then print(json.encode { format = form, file = path, rows = count })
  elseif path ~= "-" then print(("%d experiment%s: %s"):format(count, count == 1 and "" or "s", path)) end
  return 0
end

local function runs(self, args)
  local found, message, code = mlflow.export(self, args.mlflow)
  if not found then return code, "--mlflow: " .. message end
  if args.json then
    print(json.encode({ format = "mlflow", directory = args.mlflow, experiment = found.experiment,
      runs = json.array(found.runs) }, { sorted = true }))
    return 0
  end
  for _, run in ipairs(found.runs) do
    print(("%s: %d experiment%s, run %s"):format(run.name, run.experiments, run.experiments == 1 and "" or "s", run.id))
  end
  print(("look: mlflow ui --backend-store-uri%s"):format(show.at(args.mlflow)))
  return 0
end

-- Which form is asked for; nil and a message unless it is one.
local function form_of(args)
  local asked = {}
  for _, form in ipairs { "csv", "jsonl", "mlflow" } do
    if args[form] then asked[#asked + 1] = form end
    if args[form] == "" then return nil, ("--%s: the name is empty"):format(form) end
  end
  if #asked ~= 1 then
    return nil, #asked == 0 and "what form? --csv FILE, --jsonl FILE or --mlflow DIR (- is standard output)"
      or ("--%s and --%s: one at a time"):format(asked[1], asked[2])
  end
  if args.json and args[asked[1]] == "-" then
    return nil, "--json and the rows both go to standard output: leave one out"
  end
  return asked[1]
end

function export.run(args)
  if args.columns then return print_columns() end
  local form, clash = form_of(args)
  if not form then return 2, clash end
  local self, message, code = reader.with_lines(args.dir)
  if not self then return code, message end
  if form == "mlflow" then return runs(self, args) end
  return rows(self, args, form)
end

return export
