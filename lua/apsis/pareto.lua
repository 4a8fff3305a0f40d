-- pareto: the public name of pareto/numbers.lua.
return require "apsis.pareto.numbers"
