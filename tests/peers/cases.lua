-- cases: walks the tables of this folder. A case is what another program's own test, or a source document, asks for.
-- Each passes, or differs on purpose; docs/explain/peers.md has the reasons and the counts, and done() compares them with the
-- tables.
local fs = require "apsis.fs"
local json = require "apsis.json"
local tap = require "tap"

local cases = { tally = { pass = 0, differ = 0, none = 0 }, differing = {}, missing = {}, seen = {} }

local DOC <const> = "../../docs/explain/peers.md"

local function shown(value)
  if type(value) == "string" then return value end
  local ok, text = pcall(json.encode, value)
  return ok and text or tostring(value)
end

-- The test's name: the number in the peer's list, what the group asks, and what it is asked of.
local function named(number, title, what)
  assert(not cases.seen[number], "case " .. number .. " is there twice")
  cases.seen[number] = true
  return ("%s: %s%s"):format(number, title, what ~= "" and ": " .. what:gsub("%c", " "):sub(1, 80) or "")
end

local function check(name, number, case, ask)
  if case.peer == nil then
    cases.tally.pass = cases.tally.pass + 1
  else
    cases.tally.differ, cases.differing[number] = cases.tally.differ + 1, true
    name = name .. " (differs on purpose)"
  end
  tap.test(name, function()
    local got = ask(case[2])
    if case.peer ~= nil and shown(got) == shown(case.peer) then
      error "is as the peer has it now: take it out of docs/explain/peers.md and the case's `peer`"
    end
    tap.equal(got, case[3])
  end)
end

-- A group of cases that ask one question: title says it, ask(given) answers it. A row: { number, given, expected }, and
-- `peer`, what the peer expects, if apsis differs on purpose; `name`, if given says too little.
function cases.group(title, ask, rows)
  for _, row in ipairs(rows) do check(named(row[1], title, row.name or shown(row[2])), row[1], row, ask) end
end

-- One case that has a question of its own: body() returns what apsis does.
function cases.one(number, title, body, expected, peer)
  check(named(number, title, ""), number, { number, nil, expected, peer = peer }, body)
end

-- Cases that cannot be expressed, because apsis has no such thing: { number, what }.
function cases.cannot(why, rows)
  for _, row in ipairs(rows) do
    named(row[1], row[2], "")
    cases.tally.none, cases.missing[row[1]] = cases.tally.none + 1, true
    tap.count = tap.count + 1
    print(("ok %d - %s: %s # SKIP %s"):format(tap.count, row[1], row[2], why))
  end
end

-- Statements that a test elsewhere holds: { number, statement, file below tests/, words of that test }, and `differs` if
-- the test holds what apsis does instead.
function cases.held(rows)
  for _, row in ipairs(rows) do
    local number, path, words = row[1], "../" .. row[3], row[4]
    local way = row.differs and "differ" or "pass"
    cases.tally[way] = cases.tally[way] + 1
    cases.differing[number] = row.differs
    tap.test(("%s (%s%s)"):format(named(number, row[2], ""), row[3], row.differs and ", differs on purpose" or ""), function()
      local text = assert(fs.read(path))
      assert(text:find(words, 1, true), ("%s has no test with the words %q"):format(row[3], words))
    end)
  end
end

-- ---- docs/explain/peers.md ----

-- The rows of the table below a heading: a list of cells for each.
local function rows_below(text, heading)
  local rows, part = {}, text:match("\n## " .. heading .. "\n(.-)\n## ") or text:match("\n## " .. heading .. "\n(.*)$")
  for line in (part or ""):gmatch "[^\n]+" do
    local cells = {}
    for cell in line:gmatch "|([^|\n]*)%f[|]" do cells[#cells + 1] = cell:match "^%s*(.-)%s*$" end
    if #cells > 1 and not cells[1]:find "^%-+$" then rows[#rows + 1] = cells end
  end
  table.remove(rows, 1)
  return rows
end

-- The numbers of a peer's rows below a heading, each with its reasons.
local function given_below(peer, text, heading, columns)
  local given = {}
  for _, cells in ipairs(rows_below(text, heading)) do
    local of, number = cells[1]:match "^(%S+) (%S+)$"
    if of == peer then
      given[number] = true
      for index = 2, columns do assert(cells[index] and cells[index] ~= "", cells[1] .. " has no reason") end
    end
  end
  return given
end

local function check_reasons(peer, text)
  tap.equal(given_below(peer, text, "What differs on purpose", 4), cases.differing)
  local missing = given_below(peer, text, "What does not apply", 3)
  if next(missing) then tap.equal(missing, cases.missing) end -- of the other peers the tables alone have the reasons
end

local function check_counts(peer, text)
  local tally, sum, found = cases.tally, {}, false
  for _, cells in ipairs(rows_below(text, "Counts")) do
    if cells[1] == "together" then
      for index = 2, 5 do tap.equal(tonumber(cells[index]), sum[index], "together") end
    else
      for index = 2, 5 do sum[index] = (sum[index] or 0) + tonumber(cells[index]) end
    end
    if cells[1] == peer then
      found = true
      tap.equal({ tonumber(cells[2]), tonumber(cells[3]), tonumber(cells[4]), tonumber(cells[5]) },
        { tally.pass + tally.differ + tally.none, tally.pass, tally.differ, tally.none })
    end
  end
  assert(found, "no row of " .. peer)
end

-- Ends a file of cases.
function cases.done(peer)
  local text = assert(fs.read(DOC))
  tap.test("docs/explain/peers.md gives a reason for each case of " .. peer .. " that differs, and no other", function()
    check_reasons(peer, text)
  end)
  tap.test("docs/explain/peers.md counts the cases of " .. peer, function() check_counts(peer, text) end)
  tap.done()
end

return cases
