-- help: the keys.
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"

local help = { name = "help" }

local rows = {
  { "1 2 3 4", "now, journal, best path, search; Tab: the next of them" },
  { "up down", "move (also j and k); PgUp, PgDn, Space: by pages; Home, End (g, G): first, last" },
  { "Enter", "open a candidate; there Tab or left and right: facts, diff, log, prompt, answer" },
  { "/", "in the journal: show only lines that contain a text; Esc: all again" },
  { "p", "pause the run, or resume it: as `apsis pause` and `apsis resume`" },
  { "d", "leave a note that the next prompts carry: as `apsis direct -m`" },
  { "m", "on a candidate: measure it once more, as `apsis eval --candidate`; nothing is recorded" },
  { "Esc, q", "back; from the first screens q leaves. Ctrl-C leaves at once. A run goes on without watch" },
}

for _, keys_of in rooms.each "watch_keys" do
  for _, one in ipairs(keys_of()) do table.insert(rows, #rows, { one.key, one.help }) end
end

local PICTURE <const> = "The picture: the line is the best so far, dots are candidates, bright ones were kept. In a "
  .. "long run a column stands for several experiments and shows the lowest, highest and latest value."

function help.rows(_, _, width)
  local list = { { { "Keys", "bold" } }, "" }
  local function add(text, label)
    for line in (show.wrap(text, width - 12, "") .. "\n"):gmatch "([^\n]*)\n" do
      list[#list + 1] = { { ("  %-10s"):format(label), "bold" }, { line } }
      label = ""
    end
  end
  for _, row in ipairs(rows) do add(row[2], row[1]) end
  list[#list + 1] = ""
  add(PICTURE, "")
  return list
end

function help.key() return false end

return help
