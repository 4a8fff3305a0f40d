-- check: the correctness gate, run before anything is measured. Exits 1 with the reason when the packing is not valid.
local circles, reason = dofile("rules.lua").read("packing.lua")
if not circles then
  io.stderr:write("invalid packing: ", reason, "\n")
  os.exit(1)
end
print("valid: " .. #circles .. " circles")
