---@meta apsis.server
-- apsis.server: answers to HTTP/1.1 requests of this machine, over libmicrohttpd, which is loaded when the first server
-- is opened. Listens on 127.0.0.1 only, without a thread: a server makes progress whenever the program waits for any
-- handle. Requests are taken when they are whole and answered in any order; who may ask is for the program to check.
-- Limits: 128 connections, heads of 32 KiB (more is answered with 431), bodies of 64 KiB (more ends the connection), 4
-- MiB that a stream's client has not read, and 10 s in which nothing moves on a connection.

---@class apsis.server
local server = {}

---A whole request.
---@class apsis.server.Request
---@field id integer what it is answered by
---@field method string
---@field path string decoded, without the query
---@field headers table<string, string> by lower-case name; of a repeated one the last
---@field body? string nil: it was larger than 64 KiB

---A server. A waitable handle (see apsis.wait): done when a request can be taken. Close it; or garbage collection does.
---@class apsis.server.Server
local handle = {}

---Begins to listen on 127.0.0.1. Raises if the port is not from 0 to 65535.
---@param port integer 0: one that the kernel chooses
---@return apsis.server.Server? server nil: "EADDRINUSE", "EACCES", "ENOLIB" (libmicrohttpd is not installed), "ENOMEM"
---@return string? message
---@return string? code
function server.open(port) end

---@return integer port on which it listens
function handle:port() end

---The oldest whole request that was not taken yet.
---@return apsis.server.Request? request nil: there is none
function handle:take() end

---Answers a request that was taken. Raises on a status outside 200 to 599, and on headers with a line end in them.
---@param id integer
---@param status integer
---@param headers table<string, string>
---@param body? string nil: a stream follows, by send and finish
---@return true? answered nil: "ENOENT" (its client has gone, or it is answered), "ENOMEM"
---@return string? message
---@return string? code
function handle:answer(id, status, headers, body) end

---Adds to a stream. A client that has gone is noticed some time after something was sent.
---@param id integer
---@param text string
---@return true? sent nil: "ENOENT" (its client has gone), "EFULL" (its client does not read; the stream ends), "ENOMEM"
---@return string? message
---@return string? code
function handle:send(id, text) end

---Ends a stream once everything is sent.
---@param id integer
---@return true? finished nil: "ENOENT"
---@return string? message
---@return string? code
function handle:finish(id) end

---Closes every connection. Idempotent; also `<close>`.
function handle:close() end

return server
