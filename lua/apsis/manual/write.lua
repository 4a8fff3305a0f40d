-- write: writes the manual's pages below a directory: `man`, as manual pages man1/, man5/ and man7/; `markdown`, as
-- docs/reference has them. Run by make: apsis exec lua/apsis/manual/write.lua man|markdown DIR
local fs = require "apsis.fs"
local pages = require "apsis.manual.pages"

local form, dir = ...

local forms = {}

-- The modules' pages are for editors and docs/; the manual has one page for each topic and command.
function forms.man(page)
  if page.group == "modules" then return nil end
  return ("man%d/%s.%d"):format(page.section, page.name, page.section)
end

function forms.markdown(page)
  return (page.group ~= "" and page.group .. "/" or "") .. page.name .. ".md"
end

assert(forms[form] and dir, "usage: apsis exec lua/apsis/manual/write.lua man|markdown DIR")
local render = require("apsis.manual." .. form)
for _, page in ipairs(pages.all()) do
  local name = forms[form](page)
  if name then
    assert(fs.mkdir((dir .. "/" .. name):match "^(.*)/"))
    assert(fs.write(dir .. "/" .. name, render(page)))
  end
end
