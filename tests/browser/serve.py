#!/usr/bin/env python3
"""What browsers see of a project that is served while its journal grows, one finding a line: NAME<tab>VALUE.

usage: serve.py APSIS URL FEED: APSIS is the program, URL what it serves from this folder with --control, FEED feed.lua.
"""
import json, os, re, socket, subprocess, sys, threading, time, urllib.parse

from live import Page, chromium

APSIS, URL, FEED = sys.argv[1:]
PORT = urllib.parse.urlsplit(URL).port
LINES = "document.documentElement.dataset.lines"
# The journal's lines by the page's own count, which a line that is lost or doubled would change.
COUNTED = """[...document.querySelectorAll('[aria-label=Outcomes] .amount')].reduce((sum, one) => sum + Number(one.textContent), 0)"""
HARM = "window.harm === undefined && !document.querySelector('img, iframe, i, main script') ? 'none' : 'harm'"


def tell(name, value):
    print("%s\t%s" % (name, value), flush=True)


def feed(first, last):
    subprocess.run([APSIS, "exec", FEED, "logs/results.jsonl", str(first), str(last)], check=True)


def held(number):
    """A candidate that waits for approval: the newest that was kept, under another number."""
    with open("logs/results.jsonl") as lines:
        line = [one for one in map(json.loads, lines) if one["outcome"] == "kept"][-1]
    line.update(experiment=number, candidate="c%04d" % number)
    os.makedirs("runs/%04d" % number)
    os.makedirs(".apsis/held", exist_ok=True)
    with open("runs/%04d/proposal.json" % number, "w") as file:
        json.dump({"now": 1}, file)
    with open(".apsis/held/c%04d.json" % number, "w") as file:
        json.dump({"experiment": number, "now": 1, "text": "waits for approval", "since": 1, "started": 1, "run": 1,
                   "count": 1, "current": "c0000", "line": line}, file)


class Proxy(threading.Thread):
    """Passes bytes on, and can drop every connection. The host is rewritten: the server answers to its own only."""
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.pairs = self.listener.getsockname()[1], []

    def run(self):
        while True:
            client, server = self.listener.accept()[0], socket.create_connection(("127.0.0.1", PORT))
            self.pairs.append((client, server))
            threading.Thread(target=self.copy, args=(client, server), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client), daemon=True).start()

    def copy(self, one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data.replace(b"127.0.0.1:%d" % self.port, b"127.0.0.1:%d" % PORT))
        except OSError:
            pass

    def drop(self):
        pairs, self.pairs = self.pairs, []
        for one in [one for pair in pairs for one in pair]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        return len(pairs)


def has(page, count):
    return page.until("%s === '%d'" % (LINES, count)) and page.get("%s + ' ' + (%s)" % (LINES, COUNTED))


with chromium() as browser:
    one, two = Page(browser, URL), Page(browser, URL, "dark", 360)
    proxy = Proxy()
    proxy.start()
    three = Page(browser, URL.replace(":%d/" % PORT, ":%d/" % proxy.port))
    tell("begun", has(one, 11))
    one.get("document.querySelector('canvas').dataset.mine = 'yes'; document.querySelector('.scroll[tabindex]').focus()")
    feed(11, 40)
    tell("both move", [has(page, 41) for page in (one, two)])
    tell("the same elements, the same focus", one.get("document.querySelector('canvas').dataset.mine + ' ' + document.activeElement.className"))
    tell("best", one.get("document.querySelector('.facts dd').textContent"))
    tell("in words", re.sub(r"; (\d+) kept.*", r"; \1 kept", one.get("document.querySelector('canvas').getAttribute('aria-label')")))
    has(three, 41)
    dropped = proxy.drop()
    feed(41, 60)
    tell("a proxy that drops", [dropped > 0, has(three, 61)])
    tell("reloaded", [one.open(URL), has(one, 61)][1])
    one.get("document.querySelector('.now form button').click()")
    one.until("document.querySelector('.now form button').textContent === 'resume'")
    tell("paused", [os.path.exists(".apsis/pause"), one.get("document.querySelector('.now form button').textContent")])
    tell("the other is shown it", two.until("document.querySelector('.now form button').textContent === 'resume'"))
    one.get("document.querySelector('.now form button').click()")
    tell("resumed", one.until("document.querySelector('.now form button').textContent === 'pause'") and not os.path.exists(".apsis/pause"))
    one.get("document.querySelector('.now input').value = 'look <b>here</b>'; document.querySelector('.now form button:last-child').click()")
    one.until("document.querySelector('.state').textContent.startsWith('noted')")
    tell("directed", subprocess.run([APSIS, "direct", "--list"], capture_output=True, text=True).stdout.split("  ", 1)[-1].strip())
    for number in (70, 71):
        held(number)
    one.until("document.querySelectorAll('.asks').length === 2")
    one.get("document.querySelectorAll('.asks')[1].querySelector('button:last-child').click()")
    one.until("document.querySelectorAll('.asks').length === 1")
    tell("asked", [one.get("document.querySelector('.asks').textContent"), open(".apsis/held/c0071.answer").read().strip()])
    index = Page(browser, URL + "../")
    index.until("document.querySelector('a[data-key]').focus() || document.activeElement.dataset.key")
    tell("index", index.get("document.querySelector('tbody td:nth-last-child(2)').textContent"))
    feed(61, 63)
    tell("the index moves", [index.until("document.querySelector('tbody td:nth-last-child(2)').textContent.startsWith('63')"),
                             index.get("document.activeElement.dataset.key"), index.complaints()])
    index.get("document.querySelector('a[data-key]').click()")
    tell("and leads to the page", has(index, 64))
    tell("harm", [page.get(HARM) for page in (one, two, three, index)])
    tell("complaints", [one.complaints(), two.complaints()])
    asked = [event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"]
    tell("asked of others", [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:"))])
    os.rename("logs/results.jsonl", "logs/gone")
    one.until("document.querySelector('.state').textContent.includes('removed')")
    tell("removed", [one.get("document.querySelector('.state').textContent"), one.until("document.querySelector('.empty') !== null")])
    os.rename("logs/gone", "logs/results.jsonl")
    tell("back", has(one, 64))
