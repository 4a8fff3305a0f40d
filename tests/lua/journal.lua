-- journal: what a line of results.jsonl must be; whatever else stands there is refused with file, line and reason, or with these when
-- it is read again. (What a fold makes of good lines: contract.)
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local history = require "apsis.core.history"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local note = require "apsis.live.note"
local tap = require "tap"

local dir = assert(fs.tempdir())
local path = dir .. "/results.jsonl"
local metric = direction.new { name = "score" }
local baseline = '{"experiment":0,"outcome":"baseline","primary_metric":1,"samples":[1],"tree":"a"}'

-- The lines folded: history, or nil and why not. fields: as fold takes them; true: all.
local function folded(texts, fields)
  assert(fs.write(path, table.concat(texts, "\n") .. "\n"))
  local source = journal.reader(path)
  local made = history.new(metric, source)
  local ok, message, code = made:fold(source, nil, fields)
  if not ok then
    source:close()
    tap.equal(code, "EJOURNAL")
    return nil, message
  end
  return made, source
end

tap.test("a line that is none is refused with its file, line and reason", function()
  for line, reason in pairs {
    ["not JSON"] = "EJSON: 1:1: ", ["false"] = "not a JSON object", ["null"] = "not a JSON object", [""] = "EJSON: ",
    ["[]"] = "experiment: ",
    ['{"experiment":1.5,"outcome":"kept"}'] = "experiment: not an integer",
    ['{"experiment":-1,"outcome":"kept"}'] = "experiment: not an integer from 0",
    ['{"experiment":9223372036854775807,"outcome":"kept"}'] = "experiment: not an integer from 0 to 10^15",
    ['{"experiment":1,"outcome":"best"}'] = "outcome: unknown best",
    ['{"experiment":1,"outcome":"kept","candidate":"c0002"}'] = "candidate: not its experiment's",
    ['{"experiment":1,"outcome":"kept","tokens":"7"}'] = "tokens: not a number",
    ['{"experiment":1,"outcome":"kept","samples":[1,"2"]}'] = "samples[2]: not a number",
    ['{"experiment":1,"outcome":"kept","parents":{"a":"c0000"}}'] = "parents: not a list",
    ['{"experiment":1,"outcome":"kept","secondary_metrics":"x"}'] = "secondary_metrics: not a mapping",
    ['{"experiment":1,"outcome":"measured","trace":[7]}'] = "trace[1]: not a mapping",
    ['{"experiment":1,"outcome":"measured","trace":[{"id":"c0000","value":"1"}]}'] = "trace[1].value: not a number",
    ['{"experiment":1,"outcome":"kept","acceptance":{"gain":7}}'] = "acceptance.gain: not a mapping",
    ['{"experiment":0,"outcome":"kept"}'] = "experiment 0 occurs twice, first at line 1",
  } do
    local made, message = folded({ baseline, line }, true)
    tap.equal(made, nil, line)
    tap.equal(message:sub(1, #path + 4), path .. ":2: ", line)
    tap.equal(message:find(reason, 1, true), #path + 5, message)
    tap.matches(message, "restore that line from a backup")
  end
end)

tap.test("a line that cannot be appended is no line", function()
  fs.remove(path)
  local made = assert(journal.open(path))
  assert(made:append({ experiment = 0, outcome = "baseline", parents = {} }, metric))
  assert(fs.write(path, "changed"))
  local line, message, code = made:append({ experiment = 1, outcome = "kept", parents = {} }, metric)
  tap.equal({ line, code, made.count, made:text(2) }, { nil, "EOTHER", 1, nil })
  tap.matches(message, "another program has changed it")
  made:close()
end)

tap.test("what a fold leaves out of a line is checked when the line is read again", function()
  for line, reason in pairs {
    ['{"experiment":1,"outcome":"kept","candidate":"c0002"}'] = "candidate: not its experiment's",
    ['{"experiment":1,"outcome":"kept","candidate":"c0001","candidate":"c0001"}'] = "duplicate key candidate",
  } do
    local made, source = folded { baseline, line }
    local ok, message = pcall(function() return made:at(2).hypothesis end)
    tap.equal(ok or message.code, 3, "it ends the command, without a traceback")
    message = message.message
    tap.equal(message:sub(1, #path + 4), path .. ":2: ")
    tap.equal(message:find(reason, 1, true) ~= nil, true, message)
    source:close()
    made, message = folded { baseline, line, '{"experiment":2,"outcome":"measured","trace":[{"id":"c0001","value":3}]}' }
    tap.equal(made, nil)
    tap.equal(message:sub(1, #path + 4), path .. ":2: ", "a fold that needs it names it")
    tap.equal(select(2, message:gsub("restore", "")), 1)
  end
end)

-- Of each kind one that fits; and a value of each JSON type.
local fitting = { number = 0.5, whole = 1, string = "c0000", boolean = true, table = {} }
local values = { 5, 1.5, -5, 1e300, "text", "nan", true, json.null, { 1 }, { "c0000" }, { a = 1 }, { a = {} }, json.array {},
  { json.null }, { {} } }

local function fits(value, wanted)
  if wanted == "whole" then return math.type(value) == "integer" and value >= 0 end
  return type(value) == wanted
end

-- Calls visit(value, path, whether it is right) with each wrong value, and the right one, of a kind and of what is in it.
local function walk(wanted, key, visit)
  if type(wanted) == "string" then
    for _, value in ipairs(values) do visit(value, key, fits(value, wanted) or value == json.null and not key:find "%]$") end
    return
  end
  for _, value in ipairs { 5, "text", true, wanted.list and { a = 1 } or { 1 } } do visit(value, key, false) end
  if wanted.list then walk(wanted.list, key .. "[1]", function(value, at, right) visit({ value }, at, right) end)
  elseif wanted.map then walk(wanted.map, key .. ".a", function(value, at, right) visit({ a = value }, at, right) end) end
  for name, inner in pairs(wanted.keys or {}) do
    local whole = {}
    for _, needed in ipairs(wanted.needs or {}) do
      local of = wanted.keys[needed]
      whole[needed] = type(of) == "string" and fitting[of] or json.array {}
    end
    walk(inner, key .. "." .. name, function(value, at, right)
      local given = {}
      for needed, other in pairs(whole) do given[needed] = other end
      given[name] = value
      visit(given, at, right and not (value == json.null and whole[name] ~= nil))
    end)
  end
end

-- What the user would have lost: status, log and show ended with a traceback of apsis's own, and no word of the line.
tap.test("each field of a line, and what is in it, is refused if it has another type, with file, line and field", function()
  local free = { notes = true } -- a strategy's own
  for _, field in ipairs(lines.fields) do
    tap.equal(field.type == "table" and not field.kind and not free[field.name], false, field.name .. " has a kind")
    if field.name ~= "experiment" and field.name ~= "outcome" and field.name ~= "candidate" then
      walk(field.kind or field.type, field.name, function(value, at, right)
        local line = { experiment = 1, outcome = "kept", candidate = "c0001", [field.name] = value }
        local made, message = journal.of_bytes(path, json.encode(line) .. "\n"):each(function() end)
        if right then return tap.equal(message, nil, at) end
        tap.equal(made, nil, at .. " " .. json.encode(value))
        tap.equal(message:sub(1, #path + 4 + #field.name), path .. ":1: " .. field.name, message)
      end)
    end
  end
end)

tap.test("and so is state.json, which is rebuilt then", function()
  assert(fs.mkdir(dir .. "/logs"))
  local read = 0
  walk(note.fields, "logs/state.json", function(value, at, right)
    if type(value) ~= "table" or value[1] ~= nil then return end
    value.version = 1
    assert(fs.write(dir .. "/logs/state.json", json.encode(value)))
    local found, remark = note.read(dir)
    read = read + 1
    tap.equal(remark, not right and remark or nil, at)
    tap.equal(right or next(found) == nil and remark:find("rebuilt", 1, true) ~= nil, true, at)
  end)
  tap.equal(read > 100, true)
end)

tap.test("a damaged number far beyond the others takes no room for those between, and all are found", function()
  local line = '{"experiment":%d,"outcome":"kept","primary_metric":%d,"candidate":"c%04d","commit":"a"}'
  local made, source = folded { baseline, line:format(72036854770, 7, 72036854770), line:format(1, 1, 1), line:format(3000000, 3, 3000000) }
  for number, value in pairs { [1] = 1, [3000000] = 3, [72036854770] = 7 } do
    tap.equal(made:get(("c%04d"):format(number)).value, value)
  end
  tap.equal(made:get "c0002", nil)
  tap.equal(made:next_experiment(), 72036854771)
  source:close()
  local again
  made, again = folded { baseline, line:format(72036854770, 7, 72036854770), line:format(72036854770, 7, 72036854770) }
  tap.equal(made, nil)
  tap.equal(again:find("experiment 72036854770 occurs twice, first at line 2", 1, true) ~= nil, true, again)
end)

tap.test("what is appended is read again by its number, and bytes of a journal as its file", function()
  assert(fs.remove_tree(path))
  local own = assert(journal.open(path))
  for number = 1, 40 do assert(own:append({ experiment = number, outcome = "skipped_no_change" }, metric)) end
  for number = 1, 40 do tap.equal(own:read(number).experiment, number) end
  tap.equal(own:read(41), nil)
  own:close()
  local bytes, seen = journal.of_bytes("branch:x.jsonl", assert(fs.read(path))), {}
  assert(bytes:each(function(line, at) seen[at] = line.experiment end))
  tap.equal({ #seen, seen[1], seen[40], bytes:read(0), bytes:read(41) }, { 40, 1, 40 })
  local reader = journal.reader(path)
  tap.equal(reader:read(1), nil, "no line is known yet")
  assert(reader:each(function() end))
  for number = 1, 40 do tap.equal({ bytes:read(number).experiment, reader:read(number).experiment }, { number, number }) end
  for _, source in ipairs { bytes, reader } do
    for _, first in ipairs { 1, 2, 16, 17, 18, 33, 40 } do
      local from = {}
      assert(source:each(function(line, at) from[#from + 1] = line.experiment == at and at or -1 end, nil, first))
      tap.equal({ from[1], #from }, { first, 41 - first })
    end
    tap.equal({ source:each(function(_, at) return at == 20 and "too odd" or nil end) }, { nil, source.path
      .. ":20: too odd; the journal is the record of what was measured, so nothing is skipped: restore that line from a backup, "
      .. "or move it out of the file by hand, then run again", "EJOURNAL" })
    tap.equal({ source:each(function() return "as it is", true end) }, { nil, "as it is", "EJOURNAL" })
  end
  tap.equal(select(2, reader:known()), 40)
  reader:close()
end)

tap.test("a journal that is gone ends what reads it, with 3, and takes no line after that", function()
  local own = assert(journal.open(path))
  assert(own:append({ experiment = 41, outcome = "skipped_no_change" }, metric))
  assert(os.remove(path))
  local broken = { fatal = true, message = path .. ": No such file or directory", code = 3 }
  tap.equal({ pcall(own.read, own, 1) }, { false, broken })
  tap.equal(own.broken, broken)
  own:close()
end)

tap.test("a line that cannot be read ends what visits the lines", function()
  local _, source = folded { baseline }
  source.lines = function() return function() error("line 1 is unreadable", 0) end end
  tap.equal({ source:each(error) }, { nil, path .. ": line 1 is unreadable", "EIO" })
  source:close()
end)

tap.test("of the newest records each is its own line's, also when nobody holds them", function()
  local texts = { baseline }
  for number = 1, 299 do texts[number + 1] = ('{"experiment":%d,"outcome":"skipped_no_change"}'):format(number) end
  local made, source = folded(texts)
  collectgarbage()
  for _, index in ipairs { 300, 299, 45, 44, 43, 1 } do tap.equal(made:at(index).experiment, index - 1) end
  source:close()
end)

tap.test("a line that somebody left without its candidate or its parents has those that the rest of it shows", function()
  for _, whole in ipairs { true, false } do
    local made, source = folded({ baseline, '{"experiment":1,"outcome":"kept","candidate":null,"parents":null,'
      .. '"proposal":{"operator":"a","parents":["c0000"]},"primary_metric":2,"timestamp":"2026-01-01T00:00:00Z"}',
      '{"experiment":2,"outcome":"asked","timestamp":"2026-01-01T00:00:00Z"}' }, whole)
    tap.equal({ made:at(2).id, made:at(2).candidate, made:at(2).parents }, { "c0001", "c0001", { "c0000" } })
    tap.equal({ made:at(3).id, made:at(3).parents }, { nil, {} })
    source:close()
  end
end)

tap.test("later samples of a line that does not say its candidate are its experiment's", function()
  local made, source = folded({ baseline, '{"experiment":1,"outcome":"measured","trace":[{"id":"c0000","value":3}]}' }, true)
  tap.equal(made:at(1).samples, { 1, 3 })
  tap.equal(made:value_of "c0000", 2)
  source:close()
  assert(fs.remove_tree(dir))
end)

tap.done()
