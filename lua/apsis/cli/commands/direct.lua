-- direct: the user's notes for the next prompts. Appended durably; a running loop reads them before its next plan.
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local files = require "apsis.live.files"
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local state = require "apsis.state"

local direct = { place = 130, summary = "leave a note that the next prompts carry",
  example = "apsis direct --message 'leave the parser alone; look at the allocator'" }

function direct.options(parser)
  common.project_argument(parser)
  parser:mutex(
    parser:option("-m --message", "the note"):argname "TEXT",
    parser:flag("--list", "print the notes"),
    parser:flag("--clear", "forget all notes"))
  parser:flag("--json", "the notes as a JSON list; with --message: the new note")
end

local function list(home, args)
  local notes = files.directions(home).list
  if args.json then
    print(json.encode(json.array(notes)))
    return 0
  end
  for _, note in ipairs(notes) do
    local from = note.applies_from_iteration
    print(("%s  %s%s"):format(show.line(note.timestamp or "-", 40), show.line(note.message, 400),
      from and (" (from experiment %g)"):format(from) or ""))
  end
  return 0
end

local function append(path, text, as_json)
  if not utf8.len(text) then return 2, "--message: is not UTF-8" end
  local file <close>, message = state.journal(path)
  if not file then return 3, message end
  local ok
  local note = json.encode { message = text, timestamp = journal.timestamp(clock.time()) }
  ok, message = file:append(note)
  if not ok then return 3, message end
  print(as_json and note or "noted; the next prompts carry it")
  return 0
end

function direct.run(args)
  if args.message and not args.message:find("%S") then return 2, "--message: is empty" end
  if not (args.message or args.list or args.clear) then
    return 2, "nothing to do: give --message TEXT, --list or --clear\nexample: " .. direct.example
  end
  local self, message, code = reader.configure(args.dir)
  if not self then return code, message end
  local path = self.home .. "/logs/directions.jsonl"
  if args.list then return list(self.home, args) end
  local ok
  ok, message = fs.mkdir(self.home .. "/logs")
  if not ok then return 3, message end
  if args.message then return append(path, args.message, args.json) end
  ok, message = state.replace(path, "")
  if not ok then return 3, message end
  print(args.json and "[]" or "all notes forgotten")
  return 0
end

return direct
