-- writable: checks what --writable names: it must be inside the project, and should match files, but not those that
-- measure. Called by project.
local programs = require "apsis.live.programs"
local scope = require "apsis.live.scope"
local shape = require "apsis.project.shape"
local show = require "apsis.cli.table"

local writable = {}

-- Why one of the globs cannot stand in a manifest; nil if all can.
function writable.refused(globs)
  for _, glob in ipairs(globs) do
    local inside, why = shape.inside(glob)
    if not inside then return ("--writable: %s; nothing was written"):format(why) end
  end
end

local function rules(globs)
  local list = {}
  for index, glob in ipairs(globs) do list[index] = { path = shape.inside(glob), mode = "writable" } end
  return scope.new(list)
end

local function tell(text) print(show.wrap(text, show.width(), "")) end

-- Warns of a glob that matches no file, and if candidates may change what measures. result: the trial's.
function writable.warn(choice, result)
  for _, glob in ipairs(choice.writable) do
    if #rules({ glob }):paths(result.entries, "writable", result.prefix) == 0 then
      tell(("--writable: no file matches %s, so candidates can only add files there"):format(show.line(glob, 200)))
    end
  end
  local program = programs.own { run = choice.measure }
  if program and rules(choice.writable):mode(program) == "writable" then
    tell(("candidates may change ./%s, which measures: add `- {path: %s, mode: hidden}` below files in manifest.yaml")
      :format(show.line(program, 200), show.line(program, 200)))
  end
end

return writable
