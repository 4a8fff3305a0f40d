-- mutate: the provider, which the problems share.
local folder = (...):match "^(.*)/[^/]*$"
return dofile(folder .. "/../provider.lua")(folder)
