#!/usr/bin/env python3
"""Opens pages in headless Chromium and says what a reader would meet: errors, requests, what does not fit, what is not drawn.

usage: browse.py [--shots DIR] [--views NAME,...] FILE-OR-ADDRESS...
One line of JSON for each file and view.
"""
import argparse, base64, json, os, tempfile, time

from chromium import Browser, complaints

VIEWS = {"phone": (360, 800, 2, "light"), "desktop": (1200, 900, 1, "light"), "phone-dark": (360, 800, 2, "dark"),
         "desktop-dark": (1200, 900, 1, "dark")}

# What is asked of the page itself. A canvas is painted when one of its pixels differs from another.
MEASURE = r"""
(() => {
  const canvases = [...document.querySelectorAll("canvas")].map(canvas => {
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const colours = new Set();
    for (const pixel of pixels) if (colours.add(pixel).size > 3) break;
    return { label: canvas.getAttribute("aria-label"), points: Number(canvas.dataset.points), painted: colours.size > 3 };
  });
  const root = document.documentElement, wide = [];
  for (const node of document.querySelectorAll("main *")) {
    if (node.closest(".scroll") && !node.classList.contains("scroll")) continue;
    if (node.getBoundingClientRect().right > root.clientWidth + 0.5) wide.push(node.tagName + "." + (node.getAttribute("class") || ""));
  }
  const cut = [...document.querySelectorAll(".cards th, .cards td, .bars .name, .bars .amount")].filter(node =>
    node.getBoundingClientRect().right > root.clientWidth + 0.5).map(node => node.textContent);
  return { drawn: root.dataset.drawn === "yes", cut: cut.slice(0, 5), title: document.title, canvases, wide: wide.slice(0, 5),
    overflow: root.scrollWidth - root.clientWidth,
    background: getComputedStyle(root).backgroundColor, harm: window.harm === undefined ? "none" : String(window.harm),
    elements: [...new Set([...document.querySelectorAll("*")].map(node => node.localName))].sort(),
    images: document.querySelectorAll("img, iframe, object, embed, link[rel=stylesheet]").length,
    pictures: [...document.querySelectorAll("img")].map(node => node.complete ? node.naturalWidth : 0),
    unlabelled: [...document.querySelectorAll("canvas, svg[role=img], table")].filter(node => !node.getAttribute("aria-label")).length,
    trees: [...document.querySelectorAll(".tree svg")].map(node => Number(node.dataset.points)),
    tables: [...document.querySelectorAll("table")].map(node => [node.getAttribute("aria-label"),
      [...node.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.innerText.replace(/\s+/g, " ").trim()))]),
    ranges: [...document.querySelectorAll(".switch input")].map(box => { // what the legend says at each position of the switch
      const legend = () => box.closest("figure").querySelector(".legend").innerText.replace(/\s+/g, " ");
      const before = legend();
      box.click();
      const after = legend();
      box.click();
      return [before, after, legend()];
    }),
    headings: [...document.querySelectorAll("h1, h2, h3")].map(node => node.textContent), text: document.body.innerText };
})()
"""


def look(browser, path, name, shots):
    width, height, ratio, scheme = VIEWS[name]
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    browser.events = []
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.ask(domain + ".enable", session)
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=ratio, mobile=width < 500)
    browser.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    url, began = path if path.startswith("http:") else "file://" + os.path.abspath(path), time.monotonic()
    browser.ask("Page.navigate", session, url=url)
    browser.until("Page.loadEventFired")
    browser.ask("Runtime.evaluate", session, awaitPromise=True, returnByValue=True,
                expression="new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
    result = browser.ask("Runtime.evaluate", session, expression=MEASURE, returnByValue=True)
    found = result["result"].get("value") or {"drawn": False}
    found.update(page=os.path.basename(path), view=name, errors=complaints(browser.events), seconds=round(time.monotonic() - began, 2))
    asked = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    found["requests"] = [one for one in asked if one != url and not one.startswith("data:")]
    if shots:
        size = browser.ask("Page.getLayoutMetrics", session)["cssContentSize"]
        image = browser.ask("Page.captureScreenshot", session, captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width, "height": size["height"], "scale": 1})
        with open(os.path.join(shots, os.path.splitext(found["page"])[0] + "-" + name + ".png"), "wb") as file:
            file.write(base64.b64decode(image["data"]))
    browser.ask("Target.closeTarget", targetId=target)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", metavar="DIR", help="a picture of each page and view")
    parser.add_argument("--views", default="phone,desktop", help="of " + ", ".join(VIEWS))
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="apsis-browser.", ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            for path in arguments.files:
                for name in arguments.views.split(","):
                    print(json.dumps(look(browser, path, name, arguments.shots), sort_keys=True), flush=True)
        finally:
            browser.close()


main()
