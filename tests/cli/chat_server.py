#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A scripted OpenAI-compatible server for tests: it answers what its script says, and writes down what it was asked.

    chat_server.py PORT_FILE SCRIPT.jsonl [LOG.jsonl]

It listens on 127.0.0.1 on a free port, which it writes to PORT_FILE once it listens. POST .../chat/completions is answered
from the script (also as server-sent events, where the request says "stream": true); GET .../models lists the models the
script's lines name. It ends on SIGTERM, when its parent ends, and after 120 s without a request. tests/cli/server.sh
starts it in a shell test. It uses Python's standard library only and judges nothing.

The script: one JSON object a line (blank lines and lines that begin with # are skipped). Which line answers a request:
  1. the first line with `match` or `model` that fits it and has uses left
       "match": REGEX    found in the text of the messages, or in the request's body as it came
       "model": REGEX    the request's whole model name
       "times": N        how often the line is used; unlimited for these lines where not given
  2. otherwise the lines without them, in order, each once (or `times`)
  3. when these are used up, the line with "default": true, otherwise the last of them again.

What a line answers:
  {"content": "text"}                          a message; an array of texts: one choice each
  {"content_parts": [{"type": "text", ...}]}   the message's content as a list of parts
  {"tool_calls": [{"name": N, "arguments": {}}]}   beside content or alone; finish is then "tool_calls"
  {"prose": true}                              a refusal in words
  {"bytes": N}                                 content of N bytes
  {"empty": true}                              no choices
  {"choices": [...]}                           the choices as they are to be sent
     with  "finish": "length"   the finish_reason; "stop" where not given
           "usage": {"prompt_tokens": 12, "completion_tokens": 3}   a quarter of the characters where not given; null: none
  {"status": 429, "headers": {"Retry-After": "1"}, "body": ...}   body: text or JSON; an OpenAI error where not given
  {"body": "text"}                             any body, with status 200
  {"garbage": true}  {"html": true}            not JSON; a gateway's error page with status 200
  {"close": true}  {"reset": true}             the connection closed, or reset, without an answer
  {"program": "FILE.py"}                       what answer(request, number) of that file returns: any of these, as a dict.
                                               FILE is beside the script; request: {method, path, headers, body, text, model},
                                               number: which request this is, from 1. One call at a time.
     each with  "stall_s": N          silence for so long before the answer, or with "stall": "middle" in its midst
                "truncate": true      the connection closed after half of the promised bytes
                "headers": {...}      more headers

The log: one JSON object for each request, written before it is answered: number (of the chat request, null for others),
at (seconds since the start), line (of the script, null for none), method, path, headers (names in lower case; of a key only
"sha256:" and the first 16 digits, for Authorization of all that follows the colon), body (decoded where it is JSON).
"""
import hashlib
import http.server
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time
import traceback

IDLE_S = float(os.environ.get("CHAT_SERVER_IDLE_S", "120"))
SECRET = {"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"}
KEYS = {
    "match", "model", "times", "default", "content", "content_parts", "tool_calls", "prose", "bytes", "empty", "choices",
    "finish", "usage", "status", "headers", "body", "garbage", "html", "close", "reset", "program", "stall_s", "stall",
    "truncate",
}
PROSE = "I'm sorry, but I can't help with changing this program. Is there something else you would like to talk about?"
HTML = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"
ERRORS = {400: "invalid_request_error", 401: "invalid_api_key", 404: "not_found_error", 429: "rate_limit_exceeded"}


def checked(line):
    """The line, once nothing in it is unknown."""
    if not isinstance(line, dict):
        raise ValueError("not an object")
    unknown = sorted(set(line) - KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")
    return line


class Script:
    """The lines and how often each was used."""

    def __init__(self, path):
        self.folder = os.path.dirname(os.path.abspath(path))
        self.lines, self.programs, self.lock, self.program_lock = [], {}, threading.Lock(), threading.Lock()
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if text.strip() and not text.startswith("#"):
                    try:
                        self.lines.append(self.line(json.loads(text), number))
                    except (OSError, ValueError, SyntaxError, KeyError, re.error) as problem:
                        raise ValueError(f"{path}:{number}: {problem}") from problem
        if not self.lines:
            raise ValueError(f"{path}: no line")

    def line(self, entry, number):
        checked(entry)
        chosen = "match" in entry or "model" in entry
        unlimited = entry.get("default") or (chosen and "times" not in entry)
        if entry.get("program"):
            self.load(entry["program"])
        return {
            "entry": entry, "number": number, "chosen": chosen, "left": float("inf") if unlimited else entry.get("times", 1),
            "match": re.compile(entry.get("match", ""), re.MULTILINE), "model": re.compile(entry.get("model", ".*"), re.DOTALL),
        }

    def load(self, name):
        path = os.path.join(self.folder, name)
        scope = {"__name__": "answers", "__file__": path}
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), scope)
        self.programs[name] = scope["answer"]

    def choose(self, request):
        """The script's line for this request, one use of it taken."""
        fits = lambda line: (line["match"].search(request["text"]) or line["match"].search(request["raw"])) \
            and line["model"].fullmatch(request["model"])
        with self.lock:
            plain = [line for line in self.lines if not line["chosen"]]
            for line in [line for line in self.lines if line["chosen"] and fits(line)] + \
                    [line for line in plain if not line["entry"].get("default")] + \
                    [line for line in plain if line["entry"].get("default")]:
                if line["left"] > 0:
                    line["left"] -= 1
                    return line
            return plain[-1] if plain else None

    def answer(self, line, request, number):
        """What to send: the line itself, or what its program says."""
        if line is None:
            return {"status": 500, "body": {"error": {"message": "the script has no line for this request"}}}
        name = line["entry"].get("program")
        if not name:
            return line["entry"]
        try:
            with self.program_lock:
                return {**line["entry"], **checked(self.programs[name](request, number)), "program": None}
        except Exception:  # the test is to see it
            return {"status": 500, "body": {"error": {"message": traceback.format_exc()}}}

    def models(self):
        named = [line["entry"]["model"] for line in self.lines if "model" in line["entry"]]
        return sorted(set(named)) or ["scripted"]


def text_of(body):
    """The words of all messages, one after another."""
    parts = []
    for message in body.get("messages") or [] if isinstance(body, dict) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else [content]:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                parts.append(text)
    return "\n".join(parts)


def calls_of(entry, number):
    calls = []
    for index, call in enumerate(entry.get("tool_calls") or []):
        arguments = call.get("arguments", {})
        calls.append({
            "id": call.get("id", f"call_{number}_{index}"), "type": "function",
            "function": {"name": call["name"], "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        })
    return calls


def contents_of(entry, copies):
    """The content of each choice."""
    if entry.get("prose"):
        content = PROSE
    elif "bytes" in entry:
        content = "x" * entry["bytes"]
    elif "content_parts" in entry:
        content = {"parts": entry["content_parts"]}
    else:
        content = entry.get("content")
    if isinstance(content, list):
        return content
    return [content["parts"] if isinstance(content, dict) else content] * copies


def completion_of(entry, request, number):
    """A chat.completion as the API has it."""
    calls, body = calls_of(entry, number), request["body"]
    copies = body.get("n") if isinstance(body.get("n"), int) and body["n"] > 0 else 1
    choices = []
    for index, content in enumerate([] if entry.get("empty") else contents_of(entry, copies)):
        message = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = calls
        finish = entry.get("finish") or ("tool_calls" if calls else "stop")
        choices.append({"index": index, "message": message, "finish_reason": finish})
    choices = entry.get("choices", choices)
    completion = {
        "id": f"chatcmpl-{number}", "object": "chat.completion", "created": int(time.time()), "model": request["model"],
        "choices": choices,
    }
    said = sum(len(json.dumps(choice)) for choice in choices)
    usage = entry.get("usage", {"prompt_tokens": len(request["text"]) // 4 + 1, "completion_tokens": said // 4 + 1})
    if usage is not None:
        total = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        completion["usage"] = {"total_tokens": total, **usage}
    return completion


def pieces(text, size):
    return [text[at:at + size] for at in range(0, len(text), size)]


def events_of(completion, with_usage):
    """The same as server-sent events: what a streaming client is sent."""
    base = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def event(choices, **more):
        return "data: " + json.dumps({**base, "choices": choices, **more}) + "\n\n"

    def delta(index, part, finish=None):
        return event([{"index": index, "delta": part, "finish_reason": finish}])

    events = []
    for choice in completion["choices"]:
        index, message = choice["index"], choice["message"]
        content = message.get("content") or ""
        content = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        events.append(delta(index, {"role": "assistant", "content": ""}))
        events += [delta(index, {"content": piece}) for piece in pieces(content, max(16, len(content) // 8))]
        for at, call in enumerate(message.get("tool_calls") or []):
            function = call["function"]
            head = {"index": at, "id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": ""}}
            events.append(delta(index, {"tool_calls": [head]}))
            for piece in pieces(function["arguments"], 48):
                events.append(delta(index, {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
        events.append(delta(index, {}, choice["finish_reason"]))
    if with_usage and "usage" in completion:
        events.append(event([], usage=completion["usage"]))
    return [text.encode() for text in events + ["data: [DONE]\n\n"]]


def body_of(entry, request, number):
    """The bytes of an answer that is not streamed, and their type."""
    if entry.get("garbage"):
        return b'{"choices": [{"message": \x00\xff\xfe not json', "application/json"
    if entry.get("html"):
        return HTML.encode(), "text/html; charset=utf-8"
    body, status = entry.get("body"), entry.get("status", 200)
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    if body is None and status >= 300:
        kind = ERRORS.get(status, "server_error")
        body = {"error": {"message": f"scripted status {status}", "type": kind, "param": None, "code": kind}}
    elif body is None:
        body = completion_of(entry, request, number)
    return json.dumps(body).encode(), "application/json"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.saw(+1)
        try:
            self.server.note(None, None, self, None)
            if self.path.split("?")[0].rstrip("/").endswith("/models"):
                models = [{"id": name, "object": "model", "owned_by": "tests"} for name in self.server.script.models()]
                self.send({"body": {"object": "list", "data": models}}, {"body": {}}, 0)
            else:
                self.send({"status": 404}, {"body": {}}, 0)
        finally:
            self.server.saw(-1)

    def do_POST(self):
        self.server.saw(+1)
        try:
            self.post()
        except ConnectionError:  # the client did not wait for the end
            self.close_connection = True
        finally:
            self.server.saw(-1)

    def post(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not self.path.split("?")[0].endswith("/chat/completions"):
            self.server.note(None, None, self, body if body is not None else raw)
            return self.send({"status": 404}, {"body": {}}, 0)
        if not isinstance(body, dict):
            self.server.note(None, None, self, raw)
            return self.send({"status": 400, "body": {"error": {"message": "the body is not a JSON object"}}}, {"body": {}}, 0)
        request = {
            "method": "POST", "path": self.path, "headers": self.server.headers_of(self), "body": body, "raw": raw,
            "text": text_of(body), "model": str(body.get("model", "")),
        }
        line = self.server.script.choose(request)
        number = self.server.note(line, request, self, body)
        self.send(self.server.script.answer(line, request, number), request, number)

    def send(self, entry, request, number):
        middle = entry.get("stall") == "middle"
        if not middle:
            time.sleep(entry.get("stall_s", 0))
        if entry.get("close") or entry.get("reset"):
            if entry.get("reset"):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close() if entry.get("reset") else self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        plain = entry.get("status", 200) != 200 or entry.get("garbage") or entry.get("html") or entry.get("body") is not None
        if request["body"].get("stream") and not plain:
            options = request["body"].get("stream_options") or {}
            parts = events_of(completion_of(entry, request, number), options.get("include_usage"))
            self.head(entry, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
            parts = [b"%x\r\n%s\r\n" % (len(part), part) for part in parts] + [b"0\r\n\r\n"]
        else:
            body, kind = body_of(entry, request, number)
            self.head(entry, {"Content-Type": kind, "Content-Length": str(len(body))})
            parts = [body[:len(body) // 2], body[len(body) // 2:]]
        half = (len(parts) + 1) // 2
        self.write(parts[:half])
        if middle:
            time.sleep(entry.get("stall_s", 0))
        if entry.get("truncate"):
            self.close_connection = True
            return
        self.write(parts[half:])

    def write(self, parts):
        for part in parts:
            self.wfile.write(part)
            self.wfile.flush()

    def head(self, entry, headers):
        self.send_response(entry.get("status", 200))
        more = entry.get("headers") or {}
        named = {name.lower() for name in more}
        for name, value in [*((n, v) for n, v in headers.items() if n.lower() not in named), *more.items()]:
            self.send_header(name, str(value))
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script, log):
        self.script, self.log, self.lock = script, log, threading.Lock()
        self.started, self.number, self.open_requests, self.last = time.monotonic(), 0, 0, time.monotonic()
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def saw(self, change):
        with self.lock:
            self.open_requests += change
            self.last = time.monotonic()

    def headers_of(self, handler):
        headers = {}
        for name, value in handler.headers.items():
            name = name.lower()
            headers[name] = "sha256:" + hashlib.sha256(value.encode()).hexdigest()[:16] if name in SECRET else value
        return headers

    def note(self, line, request, handler, body):
        """Writes the request down; the number of a chat request."""
        with self.lock:
            if request:
                self.number += 1
            number = self.number if request else None
            if self.log:
                record = {
                    "number": number, "at": round(time.monotonic() - self.started, 3), "line": line and line["number"],
                    "method": handler.command, "path": handler.path, "headers": self.headers_of(handler), "body": body,
                }
                self.log.write(json.dumps(record) + "\n")
                self.log.flush()
            return number

    def watch(self, parent):
        """Ends the process with its parent, or when nothing asks any more."""
        while True:
            time.sleep(0.2)
            with self.lock:
                idle = self.open_requests == 0 and time.monotonic() - self.last > IDLE_S
            if idle or os.getppid() != parent:
                os._exit(0)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: chat_server.py PORT_FILE SCRIPT.jsonl [LOG.jsonl]")
    parent = os.getppid()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: os._exit(0))
    try:
        script = Script(sys.argv[2])
    except (OSError, ValueError) as problem:
        sys.exit(f"chat_server.py: {problem}")
    server = Server(script, open(sys.argv[3], "a", encoding="utf-8") if len(sys.argv) == 4 else None)
    threading.Thread(target=server.watch, args=(parent,), daemon=True).start()
    with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
        file.write(f"{server.server_address[1]}\n")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


if __name__ == "__main__":
    main()
