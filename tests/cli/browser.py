"""A headless Chromium, controlled by the DevTools protocol over a pair of pipes.
Source: https://chromedevtools.github.io/devtools-protocol/, and --remote-debugging-pipe: messages of
JSON that end in a NUL, read from descriptor 3 and written to descriptor 4."""

import json
import os
import select
import subprocess
import sys
import time

from time_limit import TIME_LIMIT_S

# The browser's own background activity would count as requests and take time.
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
         "--disable-extensions", "--disable-dev-shm-usage", "--mute-audio", "--force-device-scale-factor=1")

KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "Backspace": (8, ""), "Home": (36, ""),
        "End": (35, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""),
        " ": (32, " ")}
MODIFIERS = {"alt": 1, "control": 2, "shift": 8}


# Not all shells can name a descriptor above 9.
AS_3_AND_4 = """import os, sys
for target, source in enumerate(sys.argv[1:3], 3):
    os.dup2(int(source), target)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class AnyPage:
    """What the pages of all browsers have in common. They have `problems`, errors and warnings of the console and exceptions, and
    `requests`, except that of the page itself."""

    def __init__(self):
        self.problems = []
        self.requests = []

    def until(self, expression):
        """Waits until the expression is true and returns its value."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while not (value := self.value(f"Promise.resolve({expression})")):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}; {self.problems}")
            time.sleep(0.01)
        return value

    def place(self, selector):
        """Scrolls an element into view and returns its centre once two frames have drawn it at the same place."""
        return self.until(f"""new Promise((done) => {{
            const element = document.querySelector({json.dumps(selector)});
            const middle = () => {{
                const {{x, y, width, height}} = element.getBoundingClientRect();
                return [x + width / 2, y + height / 2];
            }};
            element.scrollIntoView({{block: "nearest"}});
            const before = String(middle());
            requestAnimationFrame(() => requestAnimationFrame(() => done(String(middle()) === before && middle())));
        }})""")

    def press_on(self, selector, **how):
        self.click(*self.place(selector), **how)


class Browser:
    """A browser process; each page is a tab."""

    def __init__(self, program, folder):
        self.folder = folder
        from_us, to_us = os.pipe(), os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AS_3_AND_4, str(from_us[0]), str(to_us[1]), program, *QUIET,
             "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"],
            pass_fds=(from_us[0], to_us[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_us[0])
        os.close(to_us[1])
        self.out, self.inside = from_us[1], to_us[0]
        self.buffer = b""
        self.last_id = 0
        self.pages = {}

    def close(self):
        for descriptor in (self.out, self.inside):
            os.close(descriptor)
        self.process.kill()
        self.process.wait()

    def read(self, deadline):
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.inside], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.inside, 1 << 20)
            if not data:
                raise EOFError("the browser is gone")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result. Events that arrive before it are passed to their pages."""
        self.last_id += 1
        command = {"id": self.last_id, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + TIME_LIMIT_S
        while True:
            message = self.read(deadline)
            if message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            page = self.pages.get(message.get("sessionId"))
            if page:
                page.take_event(message["method"], message["params"])

    def open(self, url, width=1280, height=800, scheme="light"):
        """Opens a page and waits for its load event."""
        page = Page(self, width, height, scheme)
        page.go(url)
        return page


class Page(AnyPage):
    def __init__(self, browser, width, height, scheme):
        super().__init__()
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.prefer(scheme)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take_event(self, method, event):
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(part.get("value")) for part in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.problems.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent" and event["type"] != "Document":
            self.requests.append(event["request"]["url"][:100])

    def go(self, url):
        self.call("Page.navigate", url=str(url))
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme, motion="reduce"):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])

    def value(self, expression):
        """Evaluates a JavaScript expression; waits for promises."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, count=1, button="left", modifiers=()):
        held = sum(MODIFIERS[name] for name in modifiers)
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button=button, clickCount=count, modifiers=held)

    def drag(self, x0, y0, x1, y1):
        self.move(x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, button="left", buttons=1)
        self.mouse("mouseMoved", x1, y1, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def wheel(self, x, y, pixels, modifiers=()):
        """Scrolls down, or up if pixels is negative."""
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=pixels, modifiers=sum(MODIFIERS[name] for name in modifiers))

    def key(self, key, *modifiers):
        code, text = KEYS.get(key) or (ord(key.upper()), key)
        held = sum(MODIFIERS[name] for name in modifiers)
        if held & ~MODIFIERS["shift"]:
            text = ""
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": held}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session)
