---@meta apsis.process
-- apsis.process: commands, each under its own supervisor (the cage), to a result. Nothing that a command starts
-- outlives it: when its main process ends, is killed or times out, everything below it is killed; the same when apsis
-- dies, even by kill -9. The command runs in a pid namespace (with its own /proc; as an ordinary user inside a user
-- namespace that maps the user to itself, so sudo and other set-user-id programs do not work there). Where namespaces
-- are refused, or with APSIS_CAGE=subreaper in the environment, descendants are found by their parents instead; a
-- command that kills both its supervisors can then leave orphans. It has no terminal, default signals, an empty signal
-- mask, no core files and no descriptors but 0, 1 and 2.

---@class apsis.process
local process = {}

---What to run. Exactly one of `argv` and `shell`. Unknown keys raise.
---@class apsis.process.Spec
---@field argv? string[] program (looked up in the command's PATH, relative to `cwd`) and arguments; any bytes but zero
---@field shell? string for `sh -c`
---@field cwd? string default: the current directory
---@field env? table<string, string|number|false> changes to the inherited environment; false unsets
---@field clean_env? boolean start from an empty environment
---@field stdin? string path to read from; default /dev/null. A command in a box may change the mode of such a file that is its
---user's, and without Landlock open it once more, to write: give it stdin_text
---@field stdin_text? string bytes to read; not together with `stdin`
---@field timeout_s? number SIGTERM to all of it then, SIGKILL `grace_s` later; default none
---@field grace_s? number default 2; 0 is SIGKILL at once
---@field limits? apsis.process.Limits
---@field log? string file (no link) to append both streams to, as they arrive
---@field stdout_file? string file (no link) to append stdout to
---@field stderr_file? string file to append stderr to
---@field log_limit_bytes? number bytes written to each of these files, default 256 MiB. Of what follows only the
---last `tail_bytes` are written, at the end, after the line `[apsis: N bytes left out here]`
---@field head_bytes? number first bytes of each stream kept in the result, default 16 KiB
---@field tail_bytes? number last bytes of each stream, beyond the head, default 64 KiB
---@field scanner? userdata an open scanner of apsis.metric; is fed all of stdout
---@field cage? apsis.process.Cage

---How it is kept in. Without it, a pid namespace where there are any, and no more. In a box (namespaces, landlock) it has no
---new privileges and no capabilities, and is not started where the box cannot be had (ESANDBOX, with what was refused).
---@class apsis.process.Cage
---@field mode "watched"|"subreaper"|"namespaces"|"landlock"
---@field paths? string[] of a box: p, h, r or w and an absolute real path each, the shorter ones first. p: an empty folder of its
---own, writable and thrown away; h: hidden, an empty folder instead; r: shown, read-only; w: writable; l: a link,
---followed by a slash and its absolute target. All else is read-only.
---With landlock p is hidden too.
---@field network? boolean of a box; without, it has a loopback of its own (landlock: no sockets but pairs)
---@field private_mb? number all that is written to its p folders, in memory; default 64
---@field disk_reserve_mb? number ended, with excess "disk", once less than this is free where it works; default 0

---Limits of each process (setrlimit), not of their sum.
---@class apsis.process.Limits
---@field cpu_s? number CPU seconds; then SIGXCPU, a second later SIGKILL
---@field memory_mb? number address space, MiB
---@field file_mb? number size of a written file, MiB; then SIGXFSZ
---@field processes? number of the user; the kernel does not enforce it for root
---@field open_files? number

---How a command ended. A crash, a timeout, an exit code are all results.
---@class apsis.process.Result
---@field outcome "exit"|"signal"|"timeout"|"killed" timeout: it was still running at `timeout_s`, whatever it did
---upon SIGTERM; killed: handle:kill() ended it
---@field code? integer exit code; nil unless outcome is "exit", so that `code == 0` is success
---@field signal? integer number of the signal that ended it, if one did (also after a timeout or kill)
---@field signal_name? string such as "SIGKILL"
---@field excess? "disk"|"processes" what a killed one took too much of
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
---@field tail? string last bytes beyond the head; nil if the head is all. head .. tail is all if #head + #tail == bytes
---@field bytes integer how many there were

---Ends, by SIGKILL and at once, what commands of a killed process left running: whose environment has APSIS_WORKSPACE below
---dir, and that no running process of this program is an ancestor of.
---@param dir string
---@return integer? ended how many
---@return string? message
---@return string? code
function process.sweep(dir) end

---A running or ended command. A waitable handle (see apsis.wait). To be closed; garbage collection kills.
---@class apsis.process.Handle
local handle = {}

---Starts a command. A command that cannot be executed is only known by the supervisor: then it is `handle:wait()` that
---returns nil, message, code. Raises on a malformed spec.
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
---@return apsis.process.Result? result nil: the command could not be executed, or "EINTR" (a signal; it runs on)
---@return string? message
---@return string? code
function handle:wait() end

---Asks it to end: SIGTERM to all of it now, SIGKILL after `grace_s`. Returns at once. No effect on an ended command; a
---second call can only shorten the grace. Raises on a closed handle or negative seconds.
---@param grace_s? number default: the spec's; 0 is SIGKILL at once
function handle:kill(grace_s) end

---The result, without waiting: nil while it runs (which only a wait notices the end of).
---@return apsis.process.Result? result
---@return string? message why it could not be executed
---@return string? code
function handle:result() end

---The process id of the supervisor; the command's own is unknown outside its namespace.
---@return integer
function handle:pid() end

---Kills what is running, at once, and waits (at most some seconds) until nothing is left of it. Idempotent; also
---`<close>`.
function handle:close() end

return process
