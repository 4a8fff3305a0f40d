-- captured: what a command prints, as text; so a screen shows what `apsis show` does, and does what `apsis pause` does.

local function sink(parts)
  local function add(self, ...)
    for _, text in ipairs { ... } do parts[#parts + 1] = tostring(text) end
    return self
  end
  return { write = add, flush = function(self) return self end, setvbuf = function() return true end }
end

-- What run(args) prints on standard output and standard error, and the message that it returns; its exit code.
return function(run, args)
  local parts, out, err, printed = {}, io.stdout, io.stderr, print
  local to = sink(parts)
  rawset(io, "stdout", to)
  rawset(io, "stderr", to)
  rawset(_G, "print", function(...) to:write(table.concat({ ... }, "\t"), "\n") end)
  local ok, code, message = pcall(run, args)
  rawset(io, "stdout", out)
  rawset(io, "stderr", err)
  rawset(_G, "print", printed)
  if not ok then
    if type(code) ~= "table" or not code.fatal then error(code, 0) end
    code, message = code.code, code.message
  end
  if message then to:write(message, "\n") end
  return table.concat(parts), code
end
