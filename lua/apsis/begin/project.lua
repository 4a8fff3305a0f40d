-- project: the first manifest of the user's own project: chosen, written, and measured before the command ends. Called
-- by the command init.
local choose = require "apsis.begin.choose"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local paths = require "apsis.project.path"
local programs = require "apsis.live.programs"
local ref = require "apsis.project.ref"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local spread = require "apsis.cli.spread"
local starter = require "apsis.cli.starter"
local stats = require "apsis.stats"
local suggest = require "apsis.suggest"
local text = require "apsis.begin.text"
local trial = require "apsis.begin.trial"
local writable = require "apsis.begin.writable"

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

-- The files that are written: without --force a program.md that exists stays.
local function to_write(dir, files, force)
  local list = {}
  for _, file in ipairs(files) do
    local stays = file.keep and not force and fs.stat(path_of(dir, file.name), { follow = false })
    if not stays then list[#list + 1] = file end
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

local function tell_progress(values, wanted, seconds)
  if not host.isatty(2) then return end
  local line = ("measurement %d%s in the sandbox, %d s"):format(#values + 1, wanted < math.huge and " of " .. wanted
    or "", seconds // 1)
  if #values > 0 then line = line .. "; the last one: " .. show.number(values[#values]) end
  io.stderr:write("\r\27[K", show.cut(line, host.columns(2)))
end

-- Adds to the choice what a measurement without a value showed to be missing: the metric's name, what to keep between
-- commands, or, from the user, the pattern. Whether to measure again.
local function completed(choice, result, asks)
  local measurement = result.measurement
  local names = show.sorted(measurement.metrics)
  if not choice.metric and #names == 1 then choice.metric = names[1]
  elseif measurement.keep and not choice.keep then choice.keep = measurement.keep
  elseif asks and measurement.status == "ok" and #names == 0 and not choice.regex then
    choice.regex = choose.pattern(result.output)
    return choice.regex ~= nil
  else return false end
  return true
end

-- Measures; with what is missing in the manifest writes it again, once each. The trial's result | nil, message, exit
-- code.
local function measured(args, choice, preset, written, asks)
  local warned = {}
  while true do
    local result, message, code = trial.run(args.dir, tell_progress, warned)
    if host.isatty(2) then io.stderr:write "\r\27[K" end
    if not result then return nil, message, code end
    if #result.values > 0 or not completed(choice, result, asks) then return result end
    local ok
    ok, message = write_again(args.dir, written, files_of(choice, preset))
    if not ok then return nil, message, 3 end
  end
end

-- Why there is no value, and what to do.
local function failure(result, choice, written)
  local measurement = result.measurement
  local names = show.sorted(measurement.metrics)
  local why = measurement.reason or measurement.missing or measurement.status
  if not choice.metric and #names > 1 then
    why = ("the command prints several metrics (%s): choose one with --metric, or write metric: {pareto: [%s]} in "
      .. "manifest.yaml to improve them together"):format(table.concat(names, ", "), table.concat(names, ", "))
  elseif measurement.status == "ok" and not choice.regex then
    why = why .. " (--regex PATTERN finds the number in other output)"
  end
  return ("there is no value: %s; correct manifest.yaml and see with `apsis eval --worktree`, or remove it (rm %s) and "
    .. "run this again"):format(why, starter.names(written))
end

local function tell_values(result, choice)
  local values = result.values
  local how = #values == 1 and "measured once" or spread.text(values)
  print(("%s = %s (%s)"):format(choice.metric, show.number(stats.median(values)), how))
  local advice = spread.advice(values, direction.new(result.manifest.metric))
  if advice then print(show.wrap(advice, show.width(), "")) end
end

local MOST_NAMED = 5

-- What to commit, so that the baseline is of what was measured: all that is not committed, if it is little, but for
-- what --force has put aside.
local function to_commit(prefix, uncommitted, written)
  if #uncommitted > MOST_NAMED then return starter.names(written) end
  local words, folder, aside = {}, prefix == "" and "" or prefix .. "/", {}
  for _, file in ipairs(written) do aside[folder .. file.name .. "~"] = true end
  for _, path in ipairs(uncommitted) do
    local here = path:sub(1, #folder) == folder
    if not aside[path] then words[#words + 1] = paths.quoted(here and path:sub(#folder + 1) or ":/" .. path) end
  end
  return table.concat(words, " ")
end

local function tell_next(args, result, written, prefix, provider)
  local uncommitted = result.uncommitted
  print(show.wrap(("%d file%s not committed (%s%s): measured as if committed. `apsis baseline` measures what is "
    .. "committed."):format(#uncommitted, #uncommitted == 1 and " is" or "s are", table.concat(uncommitted, ", ", 1,
    math.min(#uncommitted, MOST_NAMED)), #uncommitted > MOST_NAMED and ", ..." or ""), show.width(), ""))
  local steps = {}
  if args.dir ~= "." then steps[1] = "cd" .. show.at(args.dir) end
  steps[#steps + 1] = "# write into program.md what must stay as it is, what was tried, where you expect an improvement"
  steps[#steps + 1] = ("git add %s && git commit -m 'apsis: manifest'"):format(to_commit(prefix, uncommitted, written))
  steps[#steps + 1] = "apsis baseline"
  steps[#steps + 1] = provider == "none" and "apsis submit  # after a change" or "apsis run"
  print("next:\n  " .. table.concat(steps, "\n  "))
end

-- If the provider's program is not there: why. name: a coding agent's name (of the known ones), a Lua file, or a
-- command.
local function tell_provider(dir, name, known)
  if name == "none" then return end
  local program = name:match "^%S+"
  if program:find "/" or name:find "^%S+%.lua$" then
    local path = program:sub(1, 1) == "/" and program or path_of(dir, program)
    if not fs.stat(path) then print(("the provider: there is no %s"):format(show.line(program, 200))) end
    return
  end
  local there, why = programs.in_path(dir, name:match "^%S+$" or "sh")
  if not there then print("the provider: " .. why .. suggest.sentence(name, known)) end
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
  local over = { { name = "manifest.yaml" }, args.force and { name = "program.md" } or nil }
  local free, taken = starter.check_free(args.dir, over, args.force)
  if not free then
    repo:close()
    return 2, taken .. "; `apsis setup` checks the manifest that is there"
  end
  local prefix = fs.realpath(args.dir):sub(#repo:info().workdir + 2)
  local choice, found
  local given = given_by(args)
  if not args.regex and (args.metric or ""):gsub("\u{B5}", ""):find "[^%w_.]" then
    repo:close()
    return 2, ("--metric %s: the name of one metric, as its METRIC line has it; for several, write metric.pareto in "
      .. "manifest.yaml afterwards"):format(args.metric)
  end
  local asks = host.isatty(0) and host.isatty(2) and not choose.complete(given)
  choice, found, code = choose.all(args.dir, given, asks, function(path)
    return repo:is_ignored(prefix == "" and path or prefix .. "/" .. path)
  end)
  repo:close()
  if not choice then return code, found end
  local refused = writable.refused(choice.writable)
  if refused then return 2, refused end
  choice.name, choice.regex, choice.links = ref.of(fs.realpath(args.dir):match "([^/]+)/*$"), args.regex, found.links
  local preset = is_preset(found, choice.provider)
  local written = to_write(args.dir, files_of(choice, preset), args.force)
  code, message = starter.write(args.dir, written, args.force)
  if code ~= 0 then return code, message end
  local result
  result, message, code = measured(args, choice, preset, written, asks)
  if not result then return code, message end
  if #result.values == 0 then return 5, failure(result, choice, written) end
  choice.metric = choice.metric or result.manifest.metric.name
  tell_values(result, choice)
  writable.warn(choice, result)
  tell_provider(args.dir, choice.provider, found.known)
  tell_next(args, result, written, prefix, choice.provider)
  return 0
end

return project
