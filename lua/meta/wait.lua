---@meta apsis.wait
-- apsis.wait: the only place where a program waits. process.start, http.start and wait.timer return waitable handles.
-- In the coroutine set by wait.task, primitives that wait (process.run, handle:wait, wait.sleep) yield the handle they
-- wait for; the scheduler resumes the coroutine once that handle is done. Anywhere else they block.

---@class apsis.wait
local wait = {}

---@class apsis.wait.Timer a waitable handle, done when its time is over or it is closed
local timer = {}

function timer:close() end

---Waits until at least one handle is done, the timeout has passed or a trapped signal has come that no call has
---reported yet. Every call advances all the handles. Never yields. Closed handles are done. Raises on: a handle that is
---not waitable; no handle and no timeout.
---@param handles table list of waitable handles
---@param timeout_s? number seconds; default: no timeout; 0 only looks
---@return integer[]? done indexes, ascending; empty after a timeout or signal; nil: "ENOMEM"
---@return integer|string interrupts SIGINT, SIGTERM and SIGHUP trapped so far; or the message
---@return string? code
function wait.any(handles, timeout_s) end

---A handle that is done after this many seconds. Raises on negative seconds.
---@param seconds number
---@return apsis.wait.Timer
function wait.timer(seconds) end

---Waits; in the scheduler's current task it yields meanwhile. Raises on negative seconds.
---@param seconds number
---@return true? slept nil: "EINTR", a trapped signal ended a blocking sleep
---@return string? message
---@return string? code
function wait.sleep(seconds) end

---Waits until standard input has something to read, or has ended; in the scheduler's current task it yields meanwhile.
---What Lua's own buffer holds does not count: io.stdin:setvbuf "no". Raises if most is not from 0 to 1048576.
---@param most? integer read what is there, up to this many bytes; 0 (the default): read nothing
---@return true|string|nil ready the bytes read ("" at the end); true if none were asked for; nil: "EINTR", a trapped
---signal ended a blocking wait
---@return string? message
---@return string? code
function wait.input(most) end

---Seconds of a clock that never jumps (CLOCK_MONOTONIC); only differences are meaningful.
---@return number
function wait.now() end

---Seconds since 1970, with a fraction.
---@return number
function wait.time() end

---How many signals were trapped so far. Marks them as reported: they do not end the next wait.
---@return integer count
---@return string? name of the newest, such as "SIGINT"
function wait.interrupts() end

---From now on SIGINT, SIGTERM and SIGHUP are counted and end a wait, not the program; SIGPIPE is ignored. After the
---second one the program ends within 5 s all the same; called again, those before do not count for that any more.
---@return true? trapped nil: no descriptor was free
---@return string? message
---@return string? code
function wait.trap() end

---Sets the coroutine that yields instead of blocking (the scheduler does so around each resume); nil: none. Without an
---argument only returns it. Raises on anything but a coroutine.
---@param co? thread
---@return thread? task the current one
function wait.task(co) end

return wait
