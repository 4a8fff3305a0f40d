-- diff: the patch of a candidate against its first parent, or against another candidate.
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"

local diff = { place = 100, summary = "what a candidate changed", example = "apsis diff c0042 | git apply" }

function diff.options(parser)
  parser:argument("id", "c0042, 42, current, baseline or (default) best"):args "?"
  parser:argument("other",
    "compare with OTHER instead of the parent; all changes so far: apsis diff best baseline"):args "?"
  reader.directory_option(parser)
end

-- The record to compare with: OTHER, or the first parent. record | nil, message, code; false if there is none.
local function base_of(self, args, record)
  if args.other then return self:find(args.other) end
  local parent = record.parents and record.parents[1]
  if not parent then return false end
  return self:find(parent)
end

local function needs_commit(record)
  if record.commit then return true end
  return nil, ("%s has no commit (%s)"):format(record.id, record.outcome), 2
end

local function records(self, args)
  local record, message, code = self:find(args.id or "best")
  if not record then return nil, message, code end
  local base
  base, message, code = base_of(self, args, record)
  if base == nil then return nil, message, code end
  for _, one in ipairs { record, base or nil } do
    local ok
    ok, message, code = needs_commit(one)
    if not ok then return nil, message, code end
  end
  return record, base
end

function diff.run(args)
  local self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.other or args.id, args.other and args.id) end
  local record, base
  record, base, code = records(self, args)
  if not record then return code, base end
  if not base then return 0, ("%s changed nothing: it is where the others start"):format(record.id) end
  local repo <close>, why, with = self:repository()
  if not repo then return with, why end
  local text
  text, message = repo:diff(base.commit, record.commit)
  if not text then return 3, message end
  show.raw(text)
  return 0
end

return diff
