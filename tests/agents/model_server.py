#!/usr/bin/env python3
"""A loopback stand-in for the models behind the coding agents.

model_server.py PORT_FILE WORD_FILE LOG_FILE

It speaks Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent, each as a stream
or at once. WORD_FILE has one word, which decides what a conversation does:
  improve, worse   the agent writes 25 or 7 to value.txt by a tool of its own, then ends with a few words
  scope            it writes to propose.lua, which is read_only
  shell            it writes 26 by a shell command with a redirection
  daemon           it writes 27 by one that leaves a daemon
  hang             it starts a shell command that does not end, and again where the agent does not wait for it
  endless          it writes 28 by a shell command, and then calls its shell again and again
  silence          no answer at all
  401, 429, 500    that HTTP status
  drive            the agent drives apsis through its MCP tools: it begins with status, does what each result says is
                   next, and writes 25 to value.txt in the directory that a result names. SERVER_TRACE: the file that
                   gets each request's body
It asks the first tool that it knows of those that the agent offers. LOG_FILE gets a line of JSON per request: the
protocol, the model, how many results of tools it has seen, and whether the agent offers a shell. Each answer takes 1200 and 34 tokens.
"""
import http.server
import itertools
import json
import os
import re
import sys
import time

PORT_FILE, WORD_FILE, LOG_FILE = sys.argv[1:]
TRACE = os.environ.get("SERVER_TRACE")
PROMPT, ANSWER = 1200, 34
CALLS = itertools.count(1)  # calls of tools need ids of their own
WORDS = "I changed the value.\nASI learned=it was tried"


def shell_call(tools, command):
    """A call of the agent's shell: (name, arguments), or None."""
    for name, arguments in (
        ("Bash", {"command": command, "description": "a command"}),
        ("bash", {"command": command, "description": "a command"}),
        ("run_shell_command", {"command": command, "description": "a command"}),
        ("exec_command", {"cmd": command}),
        ("shell_command", {"command": command}),
        ("shell", {"command": ["bash", "-lc", command]}),
    ):
        if name in tools:
            return name, arguments
    return None


def write_calls(tools, folder, path, text):
    """The calls that write a file, one after the other, by a tool for files if there is one that needs no patch."""
    path = folder + "/" + path if folder else path
    if "Read" in tools and "Write" in tools:
        return [("Read", {"file_path": path}), ("Write", {"file_path": path, "content": text + "\n"})]
    if "write_file" in tools:
        return [("write_file", {"file_path": path, "content": text + "\n"})]
    return [shell_call(tools, "printf '%s\\n' '" + text + "' > " + path)]


def calls_of(word, tools, folder):
    if word == "scope":
        return write_calls(tools, folder, "propose.lua", "return nil")
    commands = {"shell": "echo 26 | cat > value.txt",
                "daemon": "echo 27 > value.txt; setsid sleep 3600 > /dev/null 2>&1 < /dev/null &"}
    if word in commands:
        return [shell_call(tools, commands[word])]
    if word == "hang":
        return 1000 * [shell_call(tools, "sleep 3600")]
    if word == "endless":
        return [shell_call(tools, "echo 28 > value.txt")] + 1000 * [shell_call(tools, "true")]
    return write_calls(tools, folder, "value.txt", "25" if word == "improve" else "7")


def strings(value):
    """Every text in a value, also in JSON within a text."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            inner = None
        return strings(inner) if isinstance(inner, (dict, list)) else [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in strings(one)] if isinstance(value, list) else []


def drive_call(tools, texts):
    """What a driving agent calls after these results: (name, arguments), or None at its end. It knows nothing but what
    the results say; it begins with status."""
    def tool(name, arguments):
        full = next((t for t in tools if re.search("apsis_+" + name + "$", t or "")), None)
        return full and (full, arguments)

    if not texts:
        return tool("status", {})
    last = texts[-1]
    into = re.findall(r"^directory: (.*)$", last, re.M)
    if into:
        path = into[0] + "/value.txt"
        if "write_file" in tools:
            return "write_file", {"file_path": path, "content": "25\n"}
        return shell_call(tools, "echo 25 > '" + path + "'")
    told = re.findall(r"^next: (.*)$", "\n".join(texts), re.M)[-1]
    if "it is kept" in told or "stop here" in told:
        return None
    asked = re.search(r"call (\w+)(?: with (\{.*?\}))?", told)
    return asked and tool(asked.group(1), json.loads(asked.group(2) or "{}"))


class Anthropic:
    name, path = "anthropic", "/v1/messages"

    def results(self, body):
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        return [b.get("content") for b in blocks if b.get("type") == "tool_result"]

    def read(self, body, _):
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        results = sum(b.get("type") == "tool_result" for b in blocks)
        return [t.get("name") for t in body.get("tools", [])], results, body.get("model")

    def answer(self, model, call):
        if call:
            block = {"type": "tool_use", "id": f"toolu_{next(CALLS)}", "name": call[0], "input": call[1]}
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": WORDS}
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": WORDS}
        stop = "tool_use" if call else "end_turn"
        usage = {"input_tokens": PROMPT, "output_tokens": ANSWER}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [block],
                   "stop_reason": stop, "stop_sequence": None, "usage": usage}
        begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        events = [{"type": "message_start", "message": begun},
                  {"type": "content_block_start", "index": 0, "content_block": empty},
                  {"type": "content_block_delta", "index": 0, "delta": delta},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": ANSWER}},
                  {"type": "message_stop"}]
        return message, events


class Responses:
    name, path = "responses", "/responses"

    def results(self, body):
        items = [i for i in body.get("input", []) if isinstance(i, dict)]
        return [i.get("output") for i in items if str(i.get("type", "")).endswith("_output")]

    def read(self, body, _):
        results = sum(str(i.get("type", "")).endswith("_output") for i in body.get("input", []) if isinstance(i, dict))
        tools = body.get("tools", [])
        spaces = [t["name"] + "__" + one["name"] for t in tools for one in t.get("tools", [])]
        return [t.get("name") for t in tools] + spaces, results, body.get("model")

    def answer(self, model, call):
        if call:
            item = {"type": "function_call", "id": f"fc_{next(CALLS)}", "call_id": f"call_{next(CALLS)}", "name": call[0],
                    "arguments": json.dumps(call[1]), "status": "completed"}
            space, _, name = call[0].rpartition("__")  # a namespace's tool
            if space:
                item.update(namespace=space, name=name)
        else:
            item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": WORDS, "annotations": []}]}
        usage = {"input_tokens": PROMPT, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": ANSWER,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": PROMPT + ANSWER}
        whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": model,
                 "output": [item], "usage": usage}
        events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": whole}]
        return whole, events


class Chat:
    name, path = "chat", "/chat/completions"

    def results(self, body):
        return [m["content"] for m in body["messages"] if m["role"] == "tool"]

    def read(self, body, _):
        results = sum(m["role"] == "tool" for m in body["messages"])
        return [t["function"]["name"] for t in body.get("tools", [])], results, body.get("model")

    def answer(self, model, call):
        message = {"role": "assistant", "content": None if call else WORDS}
        if call:
            message["tool_calls"] = [{"index": 0, "id": f"call_{next(CALLS)}", "type": "function",
                                      "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
        stop = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": PROMPT, "completion_tokens": ANSWER, "total_tokens": PROMPT + ANSWER}
        base = {"id": "c1", "created": 1, "model": model}
        whole = {**base, "object": "chat.completion", "usage": usage,
                 "choices": [{"index": 0, "message": message, "finish_reason": stop}]}
        base["object"] = "chat.completion.chunk"
        events = [{**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                  {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}, "[DONE]"]
        return whole, events


class Gemini:
    name, path = "gemini", "enerateContent"

    def results(self, body):
        parts = [p for c in body.get("contents", []) for p in c.get("parts", [])]
        return [p["functionResponse"].get("response") for p in parts if "functionResponse" in p]

    def read(self, body, path):
        parts = [p for c in body.get("contents", []) for p in c.get("parts", [])]
        tools = [f["name"] for t in body.get("tools", []) for f in t.get("functionDeclarations") or []]
        return tools, sum("functionResponse" in p for p in parts), re.search("models/([^:]+)", path).group(1)

    def answer(self, model, call):
        part = {"text": WORDS}
        if call:
            part = {"functionCall": {"name": call[0], "args": call[1], "id": f"f{next(CALLS)}"}}
        usage = {"promptTokenCount": PROMPT, "candidatesTokenCount": ANSWER, "totalTokenCount": PROMPT + ANSWER}
        whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": usage, "modelVersion": model}
        return whole, [whole]


PROTOCOLS = [Anthropic(), Responses(), Chat(), Gemini()]
STATUS = {401: ("authentication_error", "UNAUTHENTICATED"), 429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
          500: ("api_error", "INTERNAL")}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            if isinstance(event, dict) and "type" in event:
                self.wfile.write(b"event: " + event["type"].encode() + b"\n")
            text = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(b"data: " + text.encode() + b"\n\n")
        self.wfile.flush()

    def body(self):
        data = b""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().strip() or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return json.loads(data or b"{}")

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        found = "/models" in self.path
        self.send({"object": "list", "data": [{"id": "mock-1", "object": "model"}], "models": []} if found else {},
                  200 if found else 404)

    def do_POST(self):
        try:
            self.answer(self.body())
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self, body):
        if "ountTokens" in self.path or "count_tokens" in self.path:
            return self.send({"input_tokens": 100, "totalTokens": 100})
        protocol = next((p for p in PROTOCOLS if p.path in self.path), None)
        if not protocol:
            return self.send({}, 404)
        if TRACE:
            with open(TRACE, "a") as trace:
                trace.write(json.dumps(body) + "\n")
        tools, results, model = protocol.read(body, self.path)
        word = open(WORD_FILE).read().strip()
        with open(LOG_FILE, "a") as log:
            log.write(json.dumps({"protocol": protocol.name, "model": model, "results": results, "word": word,
                                  "shell": shell_call(tools, "") is not None}) + "\n")
        if word.isdigit():
            kind, status = STATUS[int(word)]
            return self.send({"type": "error", "error": {"type": kind, "status": status, "code": int(word),
                                                         "message": "the server says " + word}}, int(word))
        if word == "silence":
            time.sleep(3600)
        folder = re.search(r"(/[^\s\\\"`<]*/apsis/[0-9a-f]{16}/provide-\d+)", json.dumps(body))
        if word == "drive":
            texts = ["\n".join(strings(one)) for one in protocol.results(body)]
            call = tools and drive_call(tools, texts)
        else:
            calls = calls_of(word, tools, folder and folder.group(1)) if tools else []
            call = calls[results] if results < len(calls) else None
        whole, events = protocol.answer(model, call)
        if body.get("stream") or "stream" in self.path:
            return self.send_events(events)
        return self.send(whole)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(PORT_FILE + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
