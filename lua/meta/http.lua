---@meta apsis.http
-- apsis.http: one HTTP/1.1 request to one response, over libcurl, which is loaded at the first request. Only http and https;
-- certificates are verified; redirects are not followed; no content is decoded, and none but plain content asked for.
-- Connections are kept for the next request. Every status is a result: 404 and 500 too. Proxies (http_proxy, https_proxy,
-- all_proxy, no_proxy) and authorities (SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE) are taken from the environment as
-- curl takes them, but a request to localhost, *.localhost, 127.0.0.0/8 or [::1] never goes through a proxy. No message
-- shows a header's value, nor user, password, query or fragment of a URL.

---@class apsis.http
local http = {}

---What to ask. Unknown keys raise.
---@class apsis.http.Spec
---@field url string user and password in it are sent as basic authorization
---@field method? "GET"|"HEAD"|"POST"|"PUT"|"PATCH"|"DELETE"|"OPTIONS" default GET
---@field headers? table<string, string> by name; an empty value is sent as such. Content-Length and Transfer-Encoding raise;
---User-Agent is "apsis/VERSION" unless given; a Content-Type is only sent when given
---@field body? string any bytes; not with HEAD
---@field timeout_s? number for the whole of it, default 600, at least 0.001
---@field connect_timeout_s? number for name lookup, connection and TLS, default 30
---@field max_bytes? number of the response's body, default 64 MiB; a larger one is ETOOBIG

---A complete response; one that was cut short is an error instead.
---@class apsis.http.Response
---@field status integer
---@field headers table<string, string> by lower-case name; repeated ones are joined by ", " in their order; no trailers
---@field body string
---@field seconds number from the start to the last byte

---What was moved by a request that failed.
---@class apsis.http.Moved
---@field sent integer bytes of the request's body; 0 where no connection came to be
---@field received integer bytes of the response's body

---A running or ended request. A waitable handle (see apsis.wait). To be closed; garbage collection drops it.
---@class apsis.http.Handle
local handle = {}

---Starts a request; it goes on while it, or handles beside it, are waited for. Raises on a malformed spec.
---@param spec apsis.http.Spec
---@return apsis.http.Handle? handle nil: "EURL", "ENOLIB" (libcurl is not installed), "ENOMEM"
---@return string? message
---@return string? code
function http.start(spec) end

---Asks and waits for the response; in the scheduler's current task it yields meanwhile. A trapped signal (apsis.wait.trap)
---during a blocking request drops it and returns nil, "EINTR: interrupted by SIGINT", "EINTR".
---
---    local response, message, code = http.request { url = "http://127.0.0.1:1/v1/models", timeout_s = 5 }
---    assert(response == nil and code == "ECONNECT")
---@param spec apsis.http.Spec
---@return apsis.http.Response? response nil: "EURL" (malformed, or another protocol), "ERESOLVE", "ECONNECT", "ETIMEDOUT",
---"ETLS", "ESEND", "ERECV" (cut short, no answer, or no HTTP), "ETOOBIG" (the body, or headers over 256 KiB or 1000),
---"EINTR", and as start
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved where the request was started, but for EINTR
function http.request(spec) end

---Waits for the response; in the scheduler's current task it yields meanwhile. May be called again. Raises on a closed
---handle.
---@return apsis.http.Response? response nil: as http.request; after "EINTR" it runs on
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved
function handle:wait() end

---The response, without waiting: nil alone while it runs (which only a wait notices the end of).
---@return apsis.http.Response? response
---@return string? message
---@return string? code
---@return apsis.http.Moved? moved
function handle:result() end

---Drops the connection of an unfinished request. Idempotent; also `<close>`.
function handle:close() end

return http
