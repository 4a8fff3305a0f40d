-- limits: the most that a command may use, and in words why it was ended. Called by verify, files and provider/command.
local limits = {}

-- The limits of process.run. settings: the manifest's limits; own: cpu_sec and memory_mb, the same or the provider's.
function limits.of(settings, own)
  return { cpu_s = own.cpu_sec, memory_mb = own.memory_mb, file_mb = settings.file_mb, processes = settings.processes,
    open_files = settings.open_files }
end

-- By a result's `excess`.
limits.excess = { disk = "it nearly filled the disk of its workspace (limits.disk_reserve_mb)",
  processes = "it started too many processes (limits.processes)" }

return limits
