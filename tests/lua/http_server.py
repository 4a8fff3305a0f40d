# SPDX-License-Identifier: MIT
"""A server for tests/lua/http.lua: raw sockets, so that it can answer wrongly. One behaviour for each path. Prints its port, and
with a certificate and key as arguments a second one that speaks TLS. Ends when it is killed."""
import socket
import ssl
import sys
import threading

meeting = threading.Barrier(2)
dropped = threading.Semaphore(0)


def read_request(conn, rest):
    while b"\r\n\r\n" not in rest:
        more = conn.recv(65536)
        if not more:
            return None
        rest += more
    head, body = rest.split(b"\r\n\r\n", 1)
    fields = {}
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        fields[name.lower()] = value.strip()
    length = int(fields.get(b"content-length", 0))
    while len(body) < length:
        more = conn.recv(65536)
        if not more:
            return None
        body += more
    return head, fields, body[:length], body[length:]


def reply(body, status=b"200 OK", headers=(), close=True):
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
    if close:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def hold(conn):
    try:
        while conn.recv(65536):
            pass
    except OSError:
        pass
    dropped.release()


def for_ever(conn, piece):
    try:
        while True:
            conn.sendall(piece)
    except OSError:
        pass


FIXED = {
    b"/json": reply(b'{"answer": 42, "nul": "\\u0000"}', headers=[b"Content-Type: application/json"]),
    b"/nul": reply(b"a\0b\0"),
    b"/empty-body": reply(b"", b"204 No Content"),
    b"/repeated": reply(b"", headers=[b"X-A: 1", b"x-a:2", b"X-Empty:", b"Retry-After: \t 7 ", b"X-A:  3"]),
    b"/redirect": reply(b"", b"302 Found", headers=[b"Location: /json"]),
    b"/interim": b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n" + reply(b"later"),
    b"/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                 b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: no\r\n\r\n",
    b"/until-close": b"HTTP/1.0 200 OK\r\n\r\nall of it",
    b"/short": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
    b"/short-chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde",
    b"/garbage": b"\x00\xffI am no web server\r\n\r\n",
    b"/nothing": b"",
    b"/half-head": b"HTTP/1.1 200 OK\r\nContent-Le",
    b"/announced": b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n",
}


def answer(conn, peer, head, body):
    method, target = head.split(b" ", 2)[:2]
    path = target.split(b"?")[0]
    if path in FIXED:
        conn.sendall(FIXED[path])
    elif path.startswith(b"/status/"):
        conn.sendall(reply(b"no", path[8:] + b" Because"))
    elif path == b"/echo":
        conn.sendall(reply(body, headers=[b"X-Method: " + method]))
    elif path == b"/head":
        conn.sendall(reply(b"" if method == b"HEAD" else head))
    elif path == b"/peer":
        conn.sendall(reply(b"%d" % peer[1], close=False))
        return True
    elif path == b"/meet":
        meeting.wait(30)
        conn.sendall(reply(b"met"))
    elif path == b"/dropped":
        dropped.acquire(timeout=30)
        conn.sendall(reply(b"yes"))
    elif path == b"/silent":
        hold(conn)
    elif path == b"/stall":
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
        hold(conn)
    elif path == b"/endless":
        conn.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for_ever(conn, b"1000\r\n" + b"x" * 4096 + b"\r\n")
    elif path == b"/endless-headers":
        conn.sendall(b"HTTP/1.1 200 OK\r\n")
        for_ever(conn, b"X-A: 1\r\n" * 1000)
    elif target.startswith(b"http://"):
        conn.sendall(reply(b"proxied " + target))
    else:
        conn.sendall(reply(b"", b"404 Not Found"))
    return False


def serve(conn, peer, context):
    try:
        if context:
            conn = context.wrap_socket(conn, server_side=True)
        rest, again = b"", True
        while again:
            request = read_request(conn, rest)
            if request is None:
                break
            head, _, body, rest = request
            again = answer(conn, peer, head, body)
    except (OSError, ValueError):
        pass
    finally:
        conn.close()


def listen(context):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept():
        while True:
            conn, peer = listener.accept()
            threading.Thread(target=serve, args=(conn, peer, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


ports = [listen(None)]
if len(sys.argv) > 2:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[1], sys.argv[2])
    ports.append(listen(tls))
print(*ports, flush=True)
threading.Event().wait()
