---@meta apsis.http
-- apsis.http: one HTTP/1.1 request to one response, over libcurl, which is loaded at the first request. Only http and
-- https; verifies certificates; follows no redirect; requests and returns content without compression. Keeps
-- connections for later requests. Every status is a result, including 404 and 500. Reads proxies (http_proxy,
-- https_proxy, all_proxy, no_proxy) and authorities (SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE) from the environment
-- as curl does, but a request to localhost, *.localhost, 127.0.0.0/8 or [::1] never uses a proxy. No message contains a
-- header's value, or the user, password, query or fragment of a URL.

---@class apsis.http
local http = {}

---The request. Unknown keys raise.
---@class apsis.http.Spec
---@field url string user and password in it are sent as basic authorization
---@field method? "GET"|"HEAD"|"POST"|"PUT"|"PATCH"|"DELETE"|"OPTIONS" default GET
---@field headers? table<string, string> by name; values may be empty. Content-Length and Transfer-Encoding raise;
---User-Agent defaults to "apsis/VERSION"; Content-Type is sent only if given
---@field body? string any bytes; not with HEAD
---@field timeout_s? number for the whole request, default 600, at least 0.001
---@field connect_timeout_s? number for name lookup, connection and TLS, default 30
---@field max_bytes? number of the response's body, default 64 MiB; a larger one is ETOOBIG

---A complete response; a truncated one is an error.
---@class apsis.http.Response
---@field status integer
---@field headers table<string, string> by lower-case name; repeated ones are joined by ", " in their order; no trailers
---@field body string
---@field seconds number from the start to the last byte

---The bytes transferred by a failed request.
---@class apsis.http.Moved
---@field sent integer bytes of the request's body; 0 without a connection
---@field received integer bytes of the response's body

---A running or finished request. A waitable handle (see apsis.wait). Close it; garbage collection also does.
---@class apsis.http.Handle
local handle = {}

---Starts a request; it makes progress whenever the program waits for any handle. Raises on a malformed spec.
---@param spec apsis.http.Spec
---@return apsis.http.Handle? handle nil: "EURL", "ENOLIB" (libcurl is not installed), "ENOMEM"
---@return string? message
---@return string? code
function http.start(spec) end

---Sends a request and waits for the response; in the scheduler's current task it yields meanwhile. A trapped signal
---(apsis.wait.trap) during a blocking request drops it and returns nil, "EINTR: interrupted by SIGINT", "EINTR".
---
---    local response, message, code = http.request { url = "http://127.0.0.1:1/v1/models", timeout_s = 5 }
---    assert(response == nil and code == "ECONNECT")
---@param spec apsis.http.Spec
---@return apsis.http.Response? response nil: "EURL" (malformed, or another protocol), "ERESOLVE", "ECONNECT",
---"ETIMEDOUT", "ETLS", "ESEND", "ERECV" (truncated, no answer, or no HTTP), "ETOOBIG" (the body, or headers over 256
---KiB or 1000), "EINTR", and as start
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved if the request was started, except for EINTR
function http.request(spec) end

---Waits for the response; in the scheduler's current task it yields meanwhile. May be called again. Raises on a closed
---handle.
---@return apsis.http.Response? response nil: as http.request; after "EINTR" it is still running
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved
function handle:wait() end

---The response, without waiting: only nil while it runs (only a wait notices its end).
---@return apsis.http.Response? response
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved
function handle:result() end

---Drops the connection of an unfinished request. Idempotent; also `<close>`.
function handle:close() end

return http
