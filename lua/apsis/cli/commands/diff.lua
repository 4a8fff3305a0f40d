-- diff: the patch of a candidate: the best's from the baseline, another's from its first parent, or from any other
-- candidate.
local host = require "apsis.host"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local terminal = require "apsis.cli.terminal"

local diff = { place = 100, pages = true, summary = "what the best or another candidate changed",
  example = "apsis diff best | git apply" }

function diff.options(parser)
  parser:argument("id", "c0042, 42, current, baseline or (default) best"):args "?"
  parser:argument("other", "compare with OTHER (default: the best with the baseline, others with their parent)")
    :args "?"
  parser:flag("--parent", "compare with the parent: what the step to the best changed")
  reader.directory_option(parser)
end

-- The record to compare with: OTHER, the baseline or the first parent. record | nil, message, code; false if there is
-- none.
local function base_of(self, args, record)
  if args.other then return self:find(args.other) end
  if (args.id or "best") == "best" and not args.parent then return self:find "baseline" end
  local parent = record.parents and record.parents[1]
  if not parent then return false end
  return self:find(parent)
end

local function needs_commit(record)
  if record.commit then return true end
  return nil, ("%s has no commit (%s)"):format(record.id, record.outcome), 2
end

local function records(self, args)
  local record, message, code = self:find(args.id or "best", true)
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
  if args.other and args.parent then return 2, "--parent and OTHER contradict: leave one out" end
  local self, message, code = reader.with_lines(args.directory)
  if not self then return code, message .. reader.misplaced(args.other or args.id, args.other and args.id) end
  local record, base
  record, base, code = records(self, args)
  if not record then return code, base end
  if not base or base == record then
    return 0, ("%s changed nothing: it is where the others start"):format(record.id)
  end
  local repo <close>, why, with = self:repository()
  if not repo then return with, why end
  local text
  text, message = repo:diff(base.commit, record.commit)
  if not text then return 3, message end
  io.stdout:write(host.isatty(1) and terminal.paint_patch(show.escape(text)) or text)
  return 0
end

return diff
