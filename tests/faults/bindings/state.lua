-- state: every function of apsis.state, for allocations.c: `return run, prepare`.
local fs = require "apsis.fs"

local function prepare(dir)
  assert(fs.remove_tree(dir .. "/state"))
  assert(fs.mkdir(dir .. "/state"))
  assert(fs.write(dir .. "/state/torn", ("line\n"):rep(100) .. "torn"))
  assert(fs.write(dir .. "/state/long", ("y"):rep(200000) .. "\nz\n"))
end

local function need(value, message) return value or error(message, 2) end

local function run(step, dir)
  local state = require "apsis.state"
  local at = dir .. "/state"
  step("the lock", function()
    local lock <close> = need(state.lock(at .. "/lock"))
    local second, message, code = state.lock(at .. "/lock")
    if second or code ~= "LOCKED" then error(message, 0) end
    lock:close()
  end)
  step("a journal", function()
    local journal <close>, cut = need(state.journal(at .. "/journal"))
    assert(cut == nil)
    for index = 1, 3 do need(journal:append(("line %d"):format(index))) end
    assert(need(journal:size()) % 7 == 0)
    journal:close()
    journal:close()
  end)
  step("a torn journal", function()
    local journal <close>, cut = state.journal(at .. "/torn")
    need(journal, cut)
    assert(cut == nil or cut.cut_bytes == 4)
    local none, message, code = state.journal(at)
    if none or not code then error(message, 0) end
  end)
  step("lines", function()
    local count, following, message, _, lines = 0, state.lines(at .. "/long")
    need(following, message)
    local _ <close> = lines
    for text in following do count = count + #text end
    assert(count == 200001)
    local none, refused, code = state.lines(at .. "/nope")
    if none or code ~= "ENOENT" then error(refused, 0) end
  end)
  step("left early, and to the collector", function()
    local following, message = state.lines(at .. "/torn")
    need(following, message)
    following()
    state.journal(at .. "/journal")
    state.lock(at .. "/lock2")
    collectgarbage()
  end)
  step("replace", function()
    need(state.replace(at .. "/file", "new"))
    need(state.replace(at .. "/file", "newer", { sync = true }))
    assert(need(fs.read(at .. "/file")) == "newer")
    local none, message, code = state.replace(at .. "/nope/file", "x")
    if none or code ~= "ENOENT" then error(message, 0) end
  end)
end

return run, prepare
