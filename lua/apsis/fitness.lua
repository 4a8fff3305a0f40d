-- fitness: the public name of fitness/numbers.lua.
return require "apsis.fitness.numbers"
