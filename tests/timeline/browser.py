# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, driven through its DevTools protocol over a pipe: no further package is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One open page; `problems` gathers what its console says as warning or error, and uncaught exceptions."""

    def __init__(self, browser, file, width=1400, height=760, dark=False):
        self.problems, self.loaded, self.number, self.buffer = [], False, 0, b""
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        command = (f'exec "$0" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run '
                   f'--user-data-dir={self.profile.name} --remote-debugging-pipe about:blank '
                   f'3<&{to_browser} 4>&{from_browser}')
        self.process = subprocess.Popen(["sh", "-c", command, browser], pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=f"file://{os.path.abspath(file)}")
        self.wait_until(lambda: self.loaded, "the page has loaded")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.to, self.back):
            os.close(pipe)
        time.sleep(0.2)
        try:
            self.profile.cleanup()
        except OSError:
            pass  # a child of the browser still writes there

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.send(message)
        while True:
            answer = self.receive(120)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def send(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]

    def receive(self, seconds):
        """The next message; events are noted on the way."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.back, 1 << 16)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        self.note(message)
        return message

    def note(self, message):
        what, of = message.get("method"), message.get("params", {})
        if what == "Page.loadEventFired":
            self.loaded = True
        if what == "Runtime.exceptionThrown":
            details = of["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        if what == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in of["args"]))
        if what == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
            self.problems.append(of["entry"]["text"])

    def wait_until(self, holds, what, seconds=120):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"not in time: {what}")
            try:
                self.receive(1)
            except TimeoutError:
                pass

    def value(self, expression):
        """Of a JavaScript expression; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']['text']}")
        return result["result"].get("value")

    def frame(self):
        """After what was asked for has been drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1, buttons=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, file):
        self.frame()
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
