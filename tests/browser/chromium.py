"""A headless Chromium over the DevTools protocol, by a pipe; nothing but Python's own library. The browser is a child of who opens
it, in a session of its own, and gone when it is closed. For browse.py and live.py."""
import json, os, shutil, signal, subprocess, sys, time

PATIENCE = 60  # seconds for one answer, on a machine that does other work


class Browser:
    def __init__(self, folder):
        program = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)
        if not program:
            sys.exit("no chromium here: .ci/deps test installs it")
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()

        def pipes():  # the browser reads commands from 3 and answers on 4
            high_read, high_write = os.dup2(to_read, 30), os.dup2(to_write, 31)
            os.dup2(high_read, 3), os.dup2(high_write, 4)

        environment = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + folder + "/profile", "about:blank"],
            preexec_fn=pipes, close_fds=False, start_new_session=True, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        self.number, self.rest, self.events = 0, b"", []
        signal.signal(signal.SIGALRM, self.late)

    def late(self, *_):
        raise TimeoutError("the browser gave no answer in %d s" % PATIENCE)

    def read(self):
        while b"\0" not in self.rest:
            signal.alarm(PATIENCE)
            more = os.read(self.into, 1 << 20)
            signal.alarm(0)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def until(self, name):
        while not any(event.get("method") == name for event in self.events):
            self.events.append(self.read())

    def close(self):
        try:
            self.ask("Browser.close")
            self.process.wait(10)
        except Exception:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.into), os.close(self.out)


def complaints(events):
    found = []
    for event in events:
        method, said = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            found.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            found.append(" ".join(str(one.get("value", one.get("description"))) for one in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            found.append(said["entry"]["text"])
    return found
