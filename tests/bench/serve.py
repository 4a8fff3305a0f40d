#!/usr/bin/env python3
"""What `apsis report --serve` takes beside a run, in processor time: opening a long journal, the page, and then new lines every second
with two browsers that look. Prints one figure a line.

usage: serve.py APSIS [--lines 100000] [--rate 50] [--seconds 20]
"""
import argparse, http.client, os, pathlib, subprocess, sys, tempfile, threading, time, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/browser"))
from live import Page, chromium

TICK = os.sysconf("SC_CLK_TCK")


def spent(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid):
    return next(int(line.split()[1]) // 1024 for line in open("/proc/%d/status" % pid) if line.startswith("VmHWM"))


def read(url):
    try:
        with urllib.request.urlopen(url) as answer:
            while answer.read1(65536):
                pass
    except (OSError, http.client.HTTPException): # the server has ended
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("apsis")
    for name, value in (("lines", 100000), ("rate", 50), ("seconds", 20)):
        parser.add_argument("--" + name, type=int, default=value)
    given = parser.parse_args()
    apsis = os.path.abspath(given.apsis)
    with tempfile.TemporaryDirectory(prefix="apsis-bench.") as folder:
        run = lambda *command: subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        run(apsis, "init", "--example")
        os.makedirs(folder + "/logs")
        run("git", "init", "-q")
        run(apsis, "exec", str(ROOT / "tests/browser/journal.lua"), "logs/results.jsonl", str(given.lines))
        server = subprocess.Popen([apsis, "report", "--serve"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()
            print("%d lines; opened in %.2f s" % (given.lines, spent(server.pid)))
            before = spent(server.pid)
            page = urllib.request.urlopen(url).read()
            print("page of %d kB, gathered in %.2f s; %d MB" % (len(page) // 1000, spent(server.pid) - before, memory(server.pid)))
            with chromium() as browser:
                began = time.monotonic()
                look = Page(browser, url)
                look.until("document.documentElement.dataset.drawn", 120)
                paint = look.get("performance.getEntriesByName('first-contentful-paint')[0].startTime")
                drawn, heap = time.monotonic() - began, look.get("performance.memory.usedJSHeapSize") // 1000000
                print("in the browser: first paint after %.2f s, drawn after %.2f s; %d MB of its heap" % (paint / 1000, drawn, heap))
            for _ in range(2):
                threading.Thread(target=read, args=(url + "events/1-%d" % given.lines,), daemon=True).start()
            time.sleep(2)
            before, began = spent(server.pid), time.monotonic()
            for second in range(given.seconds):
                first = given.lines + second * given.rate
                run(apsis, "exec", str(ROOT / "tests/browser/feed.lua"), "logs/results.jsonl", str(first), str(first + given.rate - 1))
                time.sleep(max(0, began + second + 1 - time.monotonic()))
            took, passed = spent(server.pid) - before, time.monotonic() - began
            print("beside %.0f experiments/s: %.2f %% of a core; %d MB" %
                  (given.rate * given.seconds / passed, 100 * took / passed, memory(server.pid)))
        finally:
            server.terminate()
            server.wait()


main()
