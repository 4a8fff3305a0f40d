---@meta apsis.process
-- apsis.process: runs commands, each under its own supervisor (the cage), to a result. Nothing that a command starts
-- outlives it: when its main process ends, is killed or times out, everything below it is killed; also when apsis dies,
-- even by kill -9. The command runs in a pid namespace (with its own /proc; as an ordinary user inside a user namespace
-- that maps the user to itself, so sudo and other set-user-id programs do not work there). Without namespaces, or with
-- APSIS_CAGE=subreaper in the environment, descendants are found by their parents; a command that kills both its
-- supervisors can then leave orphans. It has no terminal, default signals, an empty signal mask, no core files and only
-- the descriptors 0, 1 and 2.

---@class apsis.process
local process = {}

---What to run. Exactly one of `argv` and `shell`. Unknown keys raise.
---@class apsis.process.Spec
---@field argv? string[] program (looked up in the command's PATH, relative to `cwd`) and arguments; any bytes except
---zero
---@field shell? string for `sh -c`
---@field cwd? string default: the current directory
---@field env? table<string, string|number|false> changes to the inherited environment; false unsets
---@field clean_env? boolean start from an empty environment
---@field stdin? string path to read from; default /dev/null. If the user owns the file, a command in a box can change
---its mode and, without Landlock, reopen it for writing: use stdin_text instead
---@field stdin_text? string bytes to read; excludes `stdin`
---@field timeout_s? number SIGTERM to every process, SIGKILL `grace_s` later; default: no timeout
---@field grace_s? number default 2; 0 is SIGKILL at once
---@field limits? apsis.process.Limits
---@field log? string file (not a link) to append both streams to, as they arrive
---@field stdout_file? string file (not a link) to append stdout to
---@field stderr_file? string file (not a link) to append stderr to
---@field log_limit_bytes? number bytes written to each of these files, default 256 MiB. Of the rest only the last
---`tail_bytes` are written, at the end, after the line `[apsis: N bytes left out here]`
---@field head_bytes? number first bytes of each stream in the result, default 16 KiB
---@field tail_bytes? number last bytes of each stream after the head, default 64 KiB
---@field record? string file (not a link) to which the supervisor appends a line when the command has ended, even
---if apsis has been killed meanwhile: "exit CODE 0 ..." if it ended by itself. Then the supervisor writes stdout_file
---and stderr_file (of what is beyond the limit the last 256 KiB), and the result has no output
---@field scanner? userdata an open scanner of apsis.metric, which reads all of stdout
---@field cage? apsis.process.Cage

---How the command is confined. By default only a pid namespace, if possible. In a box (namespaces, landlock) it has no
---new privileges and no capabilities, and does not start if the box cannot be made (ESANDBOX, with the refused step).
---filtered: a subreaper without new privileges and with the filter of system calls that boxes have.
---@class apsis.process.Cage
---@field mode "watched"|"subreaper"|"namespaces"|"landlock"|"filtered"
---@field paths? string[] of a box: p, h, r, w or l and an absolute real path each, the shorter ones first. p: a private
---empty folder, writable and discarded; h: hidden, an empty folder instead; r: visible, read-only; w: writable; l: a
---link, followed by a slash and its absolute target. Everything else is read-only. With landlock, p is hidden too.
---@field network? boolean of a box; otherwise it has only its own loopback (landlock: only socket pairs)
---@field private_mb? number limit for what is written to its p folders, in memory; default 64
---@field disk_reserve_mb? number killed, with excess "disk", when its disk has less free than this; default 0

---Limits of each process (setrlimit), not of their sum.
---@class apsis.process.Limits
---@field cpu_s? number CPU seconds; then SIGXCPU, a second later SIGKILL
---@field memory_mb? number address space, MiB
---@field file_mb? number size of a written file, MiB; then SIGXFSZ
---@field processes? number of the user; not enforced by the kernel for root
---@field open_files? number

---How a command ended. A crash, a timeout, an exit code are all results.
---@class apsis.process.Result
---@field outcome "exit"|"signal"|"timeout"|"killed" timeout: it was still running at `timeout_s`, however it
---reacted to SIGTERM; killed: by handle:kill()
---@field code? integer exit code; nil unless outcome is "exit", so that `code == 0` means success
---@field signal? integer number of the signal that ended it, if one did (also after a timeout or kill)
---@field signal_name? string such as "SIGKILL"
---@field excess? "disk"|"processes" the limit for which it was killed
---@field wall_s number start to the end of the main process
---@field user_s number CPU of the main process and all its reaped descendants
---@field sys_s number
---@field max_rss_bytes integer largest resident set of any one of these processes
---@field stdout apsis.process.Stream
---@field stderr apsis.process.Stream
---@field log? string the spec's `log`
---@field log_error? string "CODE: message" of the first failed write to a log; the rest of that log is missing

---@class apsis.process.Stream
---@field head string first bytes
---@field tail? string last bytes beyond the head; nil if the head is complete. head .. tail is complete if #head +
---#tail == bytes
---@field bytes integer length of the whole stream

---Kills at once what commands of a killed apsis left running: processes whose environment has APSIS_WORKSPACE below dir
---and that have no running apsis among their ancestors.
---@param dir string
---@return integer? ended how many
---@return string? message
---@return string? code
function process.sweep(dir) end

---A running or finished command. A waitable handle (see apsis.wait). Close it; garbage collection kills the command.
---@class apsis.process.Handle
local handle = {}

---Starts a command. Only the supervisor learns that a command cannot be executed: `handle:wait()` then returns nil,
---message, code. Raises on a malformed spec.
---@param spec apsis.process.Spec
---@return apsis.process.Handle? handle nil: "E2BIG", "EMFILE", "EAGAIN", "ENOENT" (of a log or stdin) and the like
---@return string? message
---@return string? code
function process.start(spec) end

---Starts a command and waits for its end; in the scheduler's current task it yields meanwhile. When it returns or
---raises, or the coroutine is closed, nothing of the command is left running. A trapped signal (apsis.wait.trap) during
---a blocking run ends the command with its grace and returns nil, "EINTR: interrupted by SIGINT", "EINTR".
---
---    local result = assert(process.run { shell = "exit 3" })
---    assert(result.outcome == "exit" and result.code == 3)
---@param spec apsis.process.Spec
---@return apsis.process.Result? result nil: "ENOENT" (no such command or cwd), "EACCES" (not executable), and as start
---@return string? message
---@return string? code
function process.run(spec) end

---Waits for the end; in the scheduler's current task it yields meanwhile. May be called again. Raises on a closed
---handle.
---@return apsis.process.Result? result nil: the command could not be executed, or "EINTR" (a signal; it is still
---running)
---@return string? message
---@return string? code
function handle:wait() end

---Asks it to end: SIGTERM to every process now, SIGKILL after `grace_s`. Returns at once. No effect on a finished
---command; a second call can only shorten the grace. Raises on a closed handle or negative seconds.
---@param grace_s? number default: the spec's; 0 is SIGKILL at once
function handle:kill(grace_s) end

---The result, without waiting: nil while it runs (only a wait notices its end).
---@return apsis.process.Result? result
---@return string? message why it could not be executed
---@return string? code
function handle:result() end

---The process id of the supervisor; the command's own is unknown outside its namespace.
---@return integer
function handle:pid() end

---Kills what is running at once and waits (a few seconds at most) until nothing is left of it. Idempotent; also
---`<close>`.
function handle:close() end

return process
