-- steer: edits a goal's state file, in an editor or row by row and item by item from the command line. Measured values
-- cannot be changed. Runs and measures nothing and takes no lock: a running loop sees the change after its experiment.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local upkeep = require "apsis.goals.upkeep"
local statefile = require "apsis.goals.statefile.document"
local nearest = require "apsis.project.nearest"
local quoted = require("apsis.project.path").quoted
local config = require "apsis.project.config"
local programs = require "apsis.goals.survey"
local rows = require "apsis.goals.control"
local show = require "apsis.cli.table"

local steer = { place = 240, summary = "edit a standing goal's state file: pause it, set priorities or lessons",
  example = "apsis steer coverage --set Paused=true --set 'Pause Reason=holidays'" }

-- Options that add an item, with the section's key and title.
local sections = {
  { "priority", "priorities", "Current Priorities" }, { "lesson", "lessons", "Lessons Learned" },
  { "avoid", "foreclosed", "Foreclosed Avenues" },
}

function steer.options(parser)
  parser:argument("name", "the goal's name in `apsis schedule` (default: the only one, or the one in DIR)"):args "?"
  parser:option("-C --directory", "run as if started in DIR"):argname "DIR"
  parser:option("--set", "a control row: " .. table.concat(rows.names, ", ")):count "*":argname "ROW=VALUE"
  for _, section in ipairs(sections) do
    parser:option("--" .. section[1], ("add an item to %s"):format(section[3])):count "*":argname "TEXT"
  end
  parser:flag("--print", "print the state file and change nothing")
  parser:flag("--json", "print {program, changed} as JSON; changed is true or false")
end

-- ---- the request ----

-- { settings, items = list of { key, title, text }, changes }; nil and a message.
local function asked(args)
  local settings, message = rows.read(args.set)
  if not settings then return nil, message end
  local items = {}
  for _, section in ipairs(sections) do
    for _, text in ipairs(args[section[1]]) do
      if not text:find "%w" and not text:find "[\x80-\xFF]" then
        return nil, ("--%s: the text is empty"):format(section[1])
      end
      if not utf8.len(text) then return nil, ("--%s: %s is not UTF-8"):format(section[1], nearest.show(text)) end
      items[#items + 1] = { key = section[2], title = section[3], text = text }
    end
  end
  local changes = #settings + #items > 0
  if args.print and (changes or args.json) then
    return nil, "--print changes nothing and prints only the file: leave the other options out"
  end
  return { settings = settings, items = items, changes = changes }
end

local function names_of(place)
  local names = {}
  for index, program in ipairs(place.programs) do names[index] = program.name end
  return names
end

-- The goal that is meant if none is named: the directory's, else the only one.
local function meant(place, dir)
  if #place.programs == 0 then
    return nil, ("no standing goals in %s: `apsis init --program NAME` writes one"):format(show.line(place.root, 1000))
  end
  local manifest = config.load(dir)
  local own = manifest and manifest.program_name
  if own or #place.programs == 1 then return own or place.programs[1].name end
  return nil, "name the goal: " .. table.concat(names_of(place), ", ")
end

-- The program; nil and a message.
local function choose(place, args, dir)
  local name, message = args.name, nil
  if not name then name, message = meant(place, dir) end
  if not name then return nil, message end
  local program = place:find(name)
  if not program then
    local hint = nearest.hint(name, names_of(place))
    return nil, #place.programs == 0 and select(2, meant(place, dir))
      or ("no goal %s%s goals: %s"):format(nearest.show(name), hint ~= "" and hint or ";",
      table.concat(names_of(place), ", "))
  end
  if program.config then return program end
  return nil, ("%s is %s: %s"):format(program.name, program.status, program.reason)
end

-- ---- changing ----

-- Applies the options to the current text: { before, after, titles }; false if nothing changes; nil, message, code.
local function amend(goal, wanted)
  local result
  local ok, message, code = goal.store:write(function(text)
    local before, after = upkeep.document(text, goal.manifest), upkeep.document(text, goal.manifest)
    rows.apply(after, wanted.settings, direction.new(goal.manifest.metric))
    result = { before = before, after = after, titles = {} }
    for _, item in ipairs(wanted.items) do
      if after:add(item.key, item.text) then table.insert(result.titles, item.title) end
    end
    local words = rows.differences(before, after)
    table.move(result.titles, 1, #result.titles, #words + 1, words)
    if after:text() == before:text() then
      result = false
      return nil, "unchanged"
    end
    local fits, why = upkeep.fit(after, goal.manifest, true)
    if not fits then return nil, why, 3 end
    return after:text(), nil, ("%s: steered: %s"):format(goal.name, table.concat(words, ", "))
  end)
  if result == false then return false end
  if not ok then return nil, message, code end
  return result
end

local function editor_of()
  for _, name in ipairs { "VISUAL", "EDITOR" } do
    local value = os.getenv(name)
    if value and value:find "%S" then return value end
  end
  return "vi"
end

-- Runs the editor on the terminal. true; nil and how it failed.
local function run_editor(path)
  local editor = editor_of()
  io.stdout:flush()
  local ok, how, number = os.execute(editor .. " " .. quoted(path))
  if ok then return true end
  local missing = number == 127 and "; set VISUAL or EDITOR to an installed one" or ""
  return nil, ("the editor (%s) ended with %s %d%s"):format(show.line(editor), how == "signal" and "signal"
    or "exit code", number, missing)
end

-- The edit as a document, joined with the current text if that changed since the editor was opened.
local function on_newest(goal, opened, edit, text)
  if not text or text == opened.original then return edit.after end
  local joined, warnings = statefile.join(opened.shown, edit.after:text(), text,
    { "in your edit", "in what was written meanwhile" })
  edit.before, edit.after = statefile.parse(text, goal.name), statefile.parse(joined, goal.name)
  edit.said = table.move(warnings, 1, #warnings, #edit.put_back + 1, table.move(edit.put_back, 1, #edit.put_back, 1,
    {}))
  edit.same = joined == text
  return edit.after
end

-- Stores the edited text in place of what was opened, { original, shown }; result as amend's.
local function store_edit(goal, opened, edited)
  local before, after = statefile.parse(opened.shown, goal.name), statefile.parse(edited, goal.name)
  local result = { before = before, after = after, titles = {}, put_back = rows.put_back(before, after) }
  result.said = result.put_back
  if after:text() == opened.shown then
    result.same = true
  else
    local ok, message, code = goal.store:write(function(text)
      result.before, result.after = before, after
      local doc = on_newest(goal, opened, result, text)
      local fits, why = upkeep.fit(doc, goal.manifest, true)
      if not fits then return nil, why, 3 end
      return doc:text(), nil, goal.name .. ": state file edited"
    end)
    if not ok then return nil, message, code end
  end
  result.after:fields()
  result.said = table.move(result.after.warnings, 1, #result.after.warnings, #result.said + 1, result.said)
  return result
end

local function leave(dir, ...)
  fs.remove_tree(dir)
  return ...
end

local function kept(path, message, code)
  return nil, ("%s; your text is in %s"):format(message, path), code
end

-- Edits the state file in an editor: result as amend's; false if nothing changed; nil, message, code.
local function edit(goal)
  local read, message, code = goal.store:read()
  if not read then return nil, message, code end
  local shown = upkeep.document(read.text, goal.manifest):text()
  local dir
  dir, message = fs.tempdir "apsis-steer-"
  if not dir then return nil, message, 3 end
  local path = dir .. "/" .. goal.name .. ".md"
  local written, why = fs.write(path, shown)
  if not written then return leave(dir, nil, why, 3) end
  local done, how = run_editor(path)
  local edited, lost = fs.read(path)
  if not done and (not edited or edited == shown) then return leave(dir, nil, how .. ": nothing was changed", 3) end
  if not done then return kept(path, how .. ": nothing was changed", 3) end
  if not edited then return leave(dir, nil, lost .. ": nothing was changed", 3) end
  if edited == shown then return leave(dir, false) end
  if not edited:find "%S" then return leave(dir, nil, "the file was left empty: nothing was changed", 2) end
  if not utf8.len(edited) then return kept(path, "it is not UTF-8", 2) end
  local result
  result, message, code = store_edit(goal, { original = read.text, shown = shown }, edited)
  if not result then return kept(path, message, code) end
  return leave(dir, result)
end

-- ---- output ----

local function report(goal, result, args)
  local same = not result or result.same
  for _, text in ipairs(result and result.said or {}) do
    io.stderr:write("apsis: ", goal.name, ".md: ", show.line(text, 1000), "\n")
  end
  if args.json then return print(json.encode { program = goal.name, changed = not same }) end
  if same then return print(goal.name .. ": nothing changed") end
  local words = rows.differences(result.before, result.after)
  table.move(result.titles, 1, #result.titles, #words + 1, words)
  local what = #words > 0 and show.line(table.concat(words, ", "), 400) or "edited"
  print(show.wrap(("%s: %s (%s)"):format(goal.name, what, goal.where), show.width(), "  "))
  if goal.branch and #(goal.repo:refs "refs/remotes/origin/" or {}) > 0 then
    print(("if ticks run on another machine: git push origin %s"):format(goal.branch))
  end
end

local function print_state(goal)
  local read, message, code = goal.store:read()
  if not read then return code, message end
  show.raw(upkeep.document(read.text, goal.manifest):text())
  return 0
end

local function open_goal(place, program)
  local manifest = program.config
  local function log(level, text)
    if level == "warn" or level == "error" then io.stderr:write("apsis: ", show.line(text, 1000), "\n") end
  end
  local store, message, code = upkeep.store(place.repo, manifest, log)
  if not store then return nil, message, code end
  local spec = manifest.memory
  return { name = program.name, manifest = manifest, store = store, repo = place.repo,
    branch = spec.kind == "branch" and spec.branch or nil, where = (spec.kind == "branch" and spec.branch .. ":"
    or spec.folder .. "/")
      .. program.name .. ".md" }
end

local function steered(place, args, wanted, dir)
  local program, wrong = choose(place, args, dir)
  if not program then return 2, wrong end
  local goal, message, code = open_goal(place, program)
  if not goal then return code, message end
  if args.print then return print_state(goal) end
  local ok
  ok, message, code = goal.store:ready()
  if not ok then return code, message end
  local result
  if wanted.changes then result, message, code = amend(goal, wanted) else result, message, code = edit(goal) end
  if result == nil then return code, message end
  report(goal, result, args)
  return 0
end

function steer.run(args)
  local wanted, message = asked(args)
  if not wanted then return 2, message end
  local dir = args.directory or "."
  local place, code
  place, message, code = programs.open(dir)
  if not place then return code, message end
  code, message = steered(place, args, wanted, dir)
  place:close()
  return code, message
end

return steer
