"""A headless Chromium, spoken to through a pipe in its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name leads anywhere
    "--remote-debugging-pipe",
)
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]  # out of the way first
for place, end in zip((3, 4), ends):  # where the protocol wants them
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab without a network; ``problems`` are what it has said in its console."""

    def __init__(self, write, read):
        self._write, self._read = write, read
        self._n, self._rest, self.session = 0, b"", None
        self.problems, self.asked_for = [], []

    def send(self, method, **params):
        self._n += 1
        message = {"id": self._n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            said = self._message()
            if said.get("id") == self._n:
                assert "error" not in said, said["error"]
                return said["result"]

    def wait_for(self, event):
        while self._message().get("method") != event:
            pass

    def _message(self):
        while b"\0" not in self._rest:
            piece = os.read(self._read, 2**16)
            assert piece, "the browser has ended"
            self._rest += piece
        line, self._rest = self._rest.split(b"\0", 1)
        said = json.loads(line)
        if said.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.problems.append(said["params"])
        if said.get("method") == "Runtime.consoleAPICalled":
            self.problems.append(said["params"])
        if said.get("method") == "Network.requestWillBeSent":
            self.asked_for.append(said["params"]["request"]["url"])
        return said

    def open(self, path, *, width, scheme, height=900):
        self.problems, self.asked_for = [], []
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media="screen", features=features)
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression):
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self):
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def pdf(self):
        """As paper has it, whatever the reader's screen likes."""
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        self.send("Emulation.setEmulatedMedia", media="print", features=features)
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True)["data"])


@contextmanager
def chromium(folder):
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine; apt-get install chromium")
    to_browser, write = os.pipe()
    read, from_browser = os.pipe()

    words = [to_browser, from_browser, path, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *map(str, words)],
        pass_fds=(to_browser, from_browser),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        browser = Browser(write, read)
        tab = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=tab, flatten=True)
        browser.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.send(f"{domain}.enable")
        browser.send(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )
        yield browser
    finally:
        process.terminate()
        process.wait(timeout=240)
        os.close(write)
        os.close(read)
