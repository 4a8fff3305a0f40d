-- project: the first manifest of the user's own project: chosen, written, and measured before the command ends. Called
-- by the command init.
local choose = require "apsis.begin.choose"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local programs = require "apsis.live.programs"
local ref = require "apsis.project.ref"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local spread = require "apsis.cli.spread"
local starter = require "apsis.cli.starter"
local stats = require "apsis.stats"
local text = require "apsis.begin.text"
local trial = require "apsis.begin.trial"

local path_of = starter.path_of

local project = {}

-- The repository around dir, which has a commit; nil, message, exit code.
local function repository(dir)
  local repo, message, why = git.open(dir)
  local at = dir == "." and "" or "cd" .. show.at(dir) .. " && "
  if why == "ENOREPO" or why == "ENOENT" then
    return nil, ("%s is not in a git repository, which apsis needs to keep every version: %sgit init && git add -A && "
      .. "git commit -m start, then run this again. `apsis init --example DIR` writes a small project to try")
      :format(show.line(dir, 300), at), 3
  end
  if not repo then return nil, message, 3 end
  if repo:info().head then return repo end
  repo:close()
  return nil, ("the repository has no commit to start from: %sgit add -A && git commit -m start, then run this again")
    :format(at), 3
end

-- The manifest's and the program's files.
local function files_of(choice, preset)
  return { { name = "manifest.yaml", text = text.manifest(choice, preset) },
    { name = "program.md", text = text.program(choice), keep = true } }
end

local function is_preset(found, name)
  for _, known in ipairs(found.known) do
    if known == name then return true end
  end
  return false
end

-- The files that are written: a program.md that exists stays.
local function to_write(dir, files)
  local list = {}
  for _, file in ipairs(files) do
    if not (file.keep and fs.stat(path_of(dir, file.name), { follow = false })) then list[#list + 1] = file end
  end
  return list
end

-- Writes again what this command has just written. true | nil, message.
local function write_again(dir, written, files)
  for index, file in ipairs(files) do
    if written[index] and written[index].name == file.name then
      local ok, message = fs.write(path_of(dir, file.name), file.text)
      if not ok then return nil, message end
    end
  end
  return true
end

-- Measures; with what the measurement showed to be missing in the manifest (the metric's name, what to keep between
-- commands) writes it again, once each. The trial's result | nil, message, exit code.
local function measured(args, choice, preset, written)
  local function tell(values, wanted)
    if host.isatty(2) then
      io.stderr:write(("\r\27[Kmeasurement %d of %d: %s"):format(#values, wanted, show.number(values[#values])))
    end
  end
  local result, message, code
  for _ = 1, 3 do
    result, message, code = trial.run(args.dir, tell)
    if host.isatty(2) then io.stderr:write "\r\27[K" end
    if not result or #result.values > 0 then break end
    local names = show.sorted(result.measurement.metrics)
    if not choice.metric and #names == 1 then choice.metric = names[1]
    elseif result.measurement.keep and not choice.keep then choice.keep = result.measurement.keep
    else break end
    local ok
    ok, message = write_again(args.dir, written, files_of(choice, preset))
    if not ok then return nil, message, 3 end
  end
  if not result then return nil, message, code end
  return result
end

-- Why there is no value, and what to do.
local function failure(result, choice)
  local measurement = result.measurement
  local names = show.sorted(measurement.metrics)
  local why = measurement.reason or measurement.missing or measurement.status
  if not choice.metric and #names > 1 then
    why = ("the command prints several metrics (%s): choose one with --metric"):format(table.concat(names, ", "))
  end
  return ("there is no value: %s; correct manifest.yaml, and see with `apsis eval --worktree`"):format(why)
end

local function tell_values(result, choice)
  local values = result.values
  local how = #values == 1 and "measured once" or spread.text(values)
  print(("%s = %s (%s)"):format(choice.metric, show.number(stats.median(values)), how))
  local advice = spread.advice(values, direction.new(result.manifest.metric))
  if advice then print(show.wrap(advice, show.width(), "")) end
end

local MOST_NAMED = 5

local function tell_next(args, result, written)
  local paths = result.uncommitted
  print(show.wrap(("%d file%s not committed (%s%s): measured as if committed. `apsis baseline` measures what is "
    .. "committed."):format(#paths, #paths == 1 and " is" or "s are", table.concat(paths, ", ", 1, math.min(#paths,
    MOST_NAMED)), #paths > MOST_NAMED and ", ..." or ""), show.width(), ""))
  local steps = {}
  if args.dir ~= "." then steps[1] = "cd" .. show.at(args.dir) end
  steps[#steps + 1] = ("git add %s && git commit -m 'apsis: manifest'"):format(starter.names(written))
  steps[#steps + 1] = "apsis baseline"
  steps[#steps + 1] = "apsis run"
  print("next:\n  " .. table.concat(steps, "\n  "))
end

-- The options as choose takes them.
local function given_by(args)
  return { measure = args.measure, metric = args.metric, provider = args.provider,
    direction = args.direction or args.lower and "lower" or args.higher and "higher" or nil,
    writable = args.writable[1] and args.writable or nil, check = args.check[1] and args.check or nil }
end

-- Writes and measures; args: the command's. The exit code, a message.
function project.write(args)
  local repo, message, code = repository(args.dir)
  if not repo then return code, message end
  local other = not args.measure and rooms.first("other_project", args.dir)
  if other then
    repo:close()
    return 2, other
  end
  local prefix = fs.realpath(args.dir):sub(#repo:info().workdir + 2)
  local choice, found
  choice, found, code = choose.all(args.dir, given_by(args), host.isatty(0) and host.isatty(2), function(path)
    return repo:is_ignored(prefix == "" and path or prefix .. "/" .. path)
  end)
  repo:close()
  if not choice then return code, found end
  choice.name, choice.regex, choice.links = ref.of(fs.realpath(args.dir):match "([^/]+)/*$"), args.regex, found.links
  local preset = is_preset(found, choice.provider)
  local written = to_write(args.dir, files_of(choice, preset))
  code, message = starter.write(args.dir, written, args.force)
  if code ~= 0 then return code, message end
  local result
  result, message, code = measured(args, choice, preset, written)
  if not result then return code, message end
  if #result.values == 0 then return 5, failure(result, choice) end
  choice.metric = choice.metric or result.manifest.metric.name
  tell_values(result, choice)
  local there, why = programs.in_path(args.dir, preset and choice.provider or choice.provider:match "^[^%s/]+$" or "sh")
  if not there then print("the provider: " .. why) end
  tell_next(args, result, written)
  return 0
end

return project
