"""Pages of `apsis report --serve` in headless Chromium, for the tests that look at them while a run goes on."""
import base64, contextlib, json, tempfile, time

from chromium import Browser, complaints


class Page:
    """A page in a profile of its own, as in another browser."""
    def __init__(self, browser, url, scheme="light", width=1200, height=900):
        self.browser = browser
        context = browser.ask("Target.createBrowserContext")["browserContextId"]
        self.target = browser.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.ask(domain + ".enable", self.session)
        browser.ask("Emulation.setDeviceMetricsOverride", self.session, width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        browser.ask("Emulation.setEmulatedMedia", self.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.open(url)

    def open(self, url):
        self.browser.ask("Page.navigate", self.session, url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def get(self, expression):
        answer = self.browser.ask("Runtime.evaluate", self.session, expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, expression, seconds=20):
        """Waits until it is true; returns its value."""
        late = time.monotonic() + seconds
        while True:
            try:
                value = self.get(expression)
            except RuntimeError:
                value = None
            if value or time.monotonic() > late:
                return value
            time.sleep(0.1)

    def complaints(self):
        mine = [event for event in self.browser.events if event.get("sessionId") == self.session]
        return complaints(mine)

    def shot(self, path):
        image = self.browser.ask("Page.captureScreenshot", self.session)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))


@contextlib.contextmanager
def chromium():
    with tempfile.TemporaryDirectory(prefix="apsis-browser.", ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            yield browser
        finally:
            browser.close()
