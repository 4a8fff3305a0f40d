-- setup: shows, without measuring anything, whether a project can run: a line per check, `ok`, or FAIL and what to do.
local checks = require "apsis.live.checks"
local common = require "apsis.cli.common"
local json = require "apsis.json"
local reader = require "apsis.live.reader"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"

local setup = { place = 20, summary = "check that the project can run: git, files, provider, verifier",
  example = "apsis setup" }

function setup.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "the checks as a JSON list")
end

local function first_failure(results)
  for _, result in ipairs(results) do
    if not result.ok then return result.code end
  end
  return 0
end

-- Aligned lines, one per check; further lines of a check are indented.
local function print_results(results)
  local width = 0
  for _, result in ipairs(results) do width = math.max(width, #result.check) end
  local below = "\n" .. (" "):rep(width + 8)
  for _, result in ipairs(results) do
    local word = result.ok and (result.note and "note" or "ok") or "FAIL"
    local detail = show.escape(tostring(result.detail or "")):gsub("\n", below)
    print((("%-4s  %s%s  %s"):format(word, result.check, (" "):rep(width - #result.check), detail):gsub(" +$", "")))
  end
  io.stdout:flush()
end

local function summary(results)
  local failed = {}
  for _, result in ipairs(results) do
    if not result.ok then failed[#failed + 1] = result.check end
  end
  return ("%d of %d checks failed: %s"):format(#failed, #results, table.concat(failed, ", "))
end

-- The next commands, as typed from here.
local function next_text(self, dir, baseline)
  local at, saved = show.at(dir), session.saved(self.home)
  if saved then return saved end
  local first = baseline and baseline.value and "" or ("apsis baseline%s && "):format(at)
  if self.otherwise then first = ("apsis baseline --again%s && "):format(at) end
  if self.manifest.provider then return ("next: %sapsis run%s"):format(first, at) end
  return ("next: %sapsis submit%s"):format(first, at ~= "" and " -C" .. at or "")
end

function setup.run(args)
  local self, message, code = session.configure(args.dir)
  local seen = self and reader.open(args.dir)
  local baseline = seen and seen.history.newest_baseline
  local results = self and checks.perform(self, baseline)
    or { { check = "manifest", ok = false, detail = message, code = code } }
  if self then self:close() end
  if args.json then
    print(json.encode(json.array(results)))
    return first_failure(results)
  end
  print_results(results)
  local failed = first_failure(results)
  if failed == 0 then print(next_text(self, args.dir, baseline)) end
  return failed, failed ~= 0 and summary(results) or nil
end

return setup
