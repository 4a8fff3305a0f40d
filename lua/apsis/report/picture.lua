-- picture: the picture that the evaluator of a candidate left as $APSIS_ARTIFACTS/picture.svg, for the report. It may
-- hold whatever a candidate put in it, so it never becomes markup: the page shows it as an image, from a data URI,
-- where a browser runs no script and loads nothing.
local fs = require "apsis.fs"
local links = require "apsis.project.links"
local sha256 = require "apsis.project.sha256"

local picture = {}

local LARGEST = 1 << 20 -- bytes

-- of(home, folder, record) -> { id, source } of a candidate; folder: of its experiment, in the project's home. nil if
-- its evaluator left none, or one of more than 1 MiB.
function picture.of(home, folder, record)
  local path = folder .. "/artifacts/picture.svg"
  if not links.none(home, path) then return nil end
  local stat = fs.stat(home .. "/" .. path)
  local bytes = stat and stat.type == "file" and stat.size <= LARGEST and fs.read(home .. "/" .. path)
  return bytes and { id = record.id, source = "data:image/svg+xml;base64," .. sha256.base64(bytes) } or nil
end

return picture
