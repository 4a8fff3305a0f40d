-- acceptance: the public name of noise/acceptance.lua.
return require "apsis.noise.acceptance"
