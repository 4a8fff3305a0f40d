-- judge: what a submitted tree changed against its parent, judged by the project's own rules as a provider's changes
-- are, whatever wrote the request. An answer for the loop. Called by intake.
local asi = require "apsis.live.provider.shared.asi"
local scope = require "apsis.live.scope"

local judge = {}

local LARGEST_EDIT = 1048576 -- bytes of a file that select is shown

local kinds = { added = "added", deleted = "deleted", modified = "modified", renamed = "added", type = "type" }

-- Changes between two trees, as scope judges them: { path, kind, mode, size, target, id }.
local function changes_of(world, parent, tree)
  local list, message = world.repo:changes(parent.commit, tree)
  if not list then return nil, message end
  local changes = {}
  for _, one in ipairs(list) do
    local text = one.status ~= "deleted" and one.mode ~= "160000" and world.repo:read(tree, one.path) or ""
    changes[#changes + 1] = { path = one.path, kind = kinds[one.status], mode = one.mode, id = one.id, size = #text,
      target = one.mode == "120000" and text or nil, text = text }
    if one.old_path then changes[#changes + 1] = { path = one.old_path, kind = "deleted" } end
  end
  return changes
end

-- What is kept of the changes, on the parent: a tree, and the edits as select sees them.
local function take(world, parent, kept, answer)
  local edits, shown = {}, {}
  for _, change in ipairs(kept) do
    local path = world:project_path(change.path)
    local deleted = change.kind == "deleted"
    edits[change.path] = not deleted and { id = change.id, mode = change.mode }
    if deleted then shown[path] = false
    elseif change.mode:find "^100" and change.size <= LARGEST_EDIT then shown[path] = change.text end
  end
  local message
  answer.edits = shown
  answer.tree, message = world:left(world.repo:edit_tree(parent.commit, edits))
  if not answer.tree then answer.violation = message end
end

-- What a request says about its change, as an answer has it: fields of the journal, and notes.
function judge.texts(request)
  local answer, lines = { description = request.title }, {}
  for name, text in pairs(request.asi or {}) do
    lines[#lines + 1] = ("ASI %s=%s"):format(name, (text:gsub("[\r\n]+", " ")))
  end
  table.sort(lines)
  asi.read_text(answer, table.concat(lines, "\n"))
  return answer
end

-- The answer of a request = { tree, asi } to a proposal of a parent. As a provider's, without tokens.
function judge.answer(world, parent, request)
  local answer = judge.texts(request)
  local changes, message = changes_of(world, parent, request.tree or "")
  if not changes then return { error = "the submitted files cannot be read: " .. message } end
  local kept, violations = world.scope:judge(changes, { prefix = world.prefix,
    max_file_mb = world.manifest.max_file_mb, ignored = function(path) return world.repo:is_ignored(path) end })
  if #violations > 0 then answer.violation = scope.summary(violations) else take(world, parent, kept, answer) end
  return answer
end

return judge
