"""A headless Firefox, controlled by WebDriver BiDi over a WebSocket, with the interface of browser.py.
Source: https://w3c.github.io/webdriver-bidi/, and the prefs of Firefox in about:config."""

import json
import re
import subprocess
import time

from browser import AnyPage
from time_limit import TIME_LIMIT_S
from websocket import WebSocket

# Nothing but the pages of the tests may use the network or the CPU.
PREFS = {
    "app.normandy.enabled": False, "app.update.enabled": False, "browser.aboutwelcome.enabled": False, "browser.cache.disk.enable": False,
    "browser.download.alwaysOpenPanel": False, "browser.newtabpage.enabled": False, "browser.pagethumbnails.capturing_disabled": True,
    "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False, "browser.search.update": False,
    "browser.sessionstore.resume_from_crash": False, "browser.shell.checkDefaultBrowser": False, "browser.startup.homepage": "about:blank", "browser.startup.page": 0, "browser.tabs.warnOnClose": False,
    "datareporting.policy.dataSubmissionEnabled": False, "dom.ipc.processPrelaunch.enabled": False, "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False, "remote.prefs.recommended": True,
    "services.settings.server": "data:,", "places.history.enabled": False, "toolkit.cosmeticAnimations.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False, "ui.prefersReducedMotion": 1,
}
COLOUR_SCHEME = "layout.css.prefers-color-scheme.content-override"
SCHEMES = {"dark": 0, "light": 1}

# https://w3c.github.io/webdriver/#keyboard-actions
KEYS = {"Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "shift": "\ue008", "control": "\ue009", "alt": "\ue00a", "Escape": "\ue00c",
        "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
BUTTONS = {"left": 0, "right": 2}
NUMBERS = {"NaN": float("nan"), "-0": 0, "Infinity": float("inf"), "-Infinity": float("-inf")}


def value_of(remote):
    """The value of a RemoteValue. An object that has none in JSON is None."""
    value = remote.get("value")
    if remote["type"] == "array":
        return [value_of(item) for item in value]
    if remote["type"] == "object":
        return {key: value_of(item) for key, item in value}
    if remote["type"] == "number":
        return NUMBERS.get(value, value)
    return value if remote["type"] in ("string", "boolean") else None


class Firefox:
    """A browser process. Each open page is a window, because only the front tab of a window is drawn. Windows are used again."""

    def __init__(self, program, folder):
        prefs = {**PREFS, "browser.download.folderList": 2, "browser.download.dir": str(folder)}
        (folder / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in prefs.items()))
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [program, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0", "--remote-allow-system-access"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.last_id = 0
        self.pages = {}
        self.windows = []  # without a page
        self.scheme = None
        try:
            self.connect()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def connect(self):
        self.socket = WebSocket(self.port(), "/session", TIME_LIMIT_S)
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.chrome = self.call("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"][0]["context"]

    def port(self):
        """Waits for the port that Firefox prints."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while not (found := re.search(r"WebDriver BiDi listening on ws://\S+:(\d+)\n", self.log.read_text(errors="replace"))):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError(f"Firefox has not started: {self.log.read_text(errors='replace')}")
            time.sleep(0.01)
        return int(found[1])

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def call(self, method, **parameters):
        """Sends a command and returns its result. Events that arrive before it are passed to their pages."""
        self.last_id += 1
        self.socket.send(json.dumps({"id": self.last_id, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.read())
            if message.get("id") == self.last_id:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]
            if message["type"] == "event":
                self.take_event(message["method"], message["params"])

    def take_event(self, method, event):
        page = self.pages.get(event.get("context") or event.get("source", {}).get("context"))
        if page:
            page.take_event(method, event)

    def evaluate(self, context, expression):
        """Evaluates a script in a page; waits for promises."""
        answer = self.call("script.evaluate", expression=expression, target={"context": context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return value_of(answer["result"])

    def prefer(self, scheme):
        """For all pages."""
        if scheme != self.scheme:
            self.evaluate(self.chrome, f"Services.prefs.setIntPref({json.dumps(COLOUR_SCHEME)}, {SCHEMES[scheme]})")
        self.scheme = scheme

    def open(self, url, width=1280, height=800, scheme="light"):
        """Opens a page and waits for its load event."""
        page = Page(self, width, height, scheme)
        page.go(url)
        return page


class Page(AnyPage):
    def __init__(self, browser, width, height, scheme):
        super().__init__()
        self.browser = browser
        self.prefer(scheme)
        self.context = browser.windows.pop() if browser.windows else browser.call("browsingContext.create", type="window")["context"]
        browser.pages[self.context] = self
        self.call("browsingContext.activate")  # only the active window has the keyboard
        self.resize(width, height)

    def call(self, method, **parameters):
        return self.browser.call(method, context=self.context, **parameters)

    def take_event(self, method, event):
        if method == "log.entryAdded" and event["level"] in ("error", "warn"):
            self.problems.append(event["text"])
        elif method == "network.beforeRequestSent" and not event["navigation"]:
            self.requests.append(event["request"]["url"][:100])

    def go(self, url):
        self.call("browsingContext.navigate", url=str(url), wait="complete")

    def resize(self, width, height):
        self.call("browsingContext.setViewport", viewport={"width": width, "height": height}, devicePixelRatio=1)

    def prefer(self, scheme):
        self.browser.prefer(scheme)

    def value(self, expression):
        """Evaluates a JavaScript expression; waits for promises."""
        return self.browser.evaluate(self.context, expression)

    def act(self, kind, *actions, **source):
        self.call("input.performActions", actions=[{"type": kind, "id": kind, "actions": actions, **source}])

    def act_with(self, modifiers, kind, *actions):
        """Acts while keys are held."""
        held = [KEYS[name] for name in modifiers]
        if held:
            self.act("key", *({"type": "keyDown", "value": key} for key in held))
        self.act(kind, *actions)
        if held:
            self.act("key", *({"type": "keyUp", "value": key} for key in held))

    def move(self, x, y):
        self.act("pointer", {"type": "pointerMove", "x": x, "y": y})

    def click(self, x, y, count=1, button="left", modifiers=()):
        press = [{"type": kind, "button": BUTTONS[button]} for kind in ("pointerDown", "pointerUp")]
        self.act_with(modifiers, "pointer", {"type": "pointerMove", "x": x, "y": y}, *press * count)

    def drag(self, x0, y0, x1, y1):
        self.act("pointer", {"type": "pointerMove", "x": x0, "y": y0}, {"type": "pointerDown", "button": 0},
                 {"type": "pointerMove", "x": (x0 + x1) / 2, "y": (y0 + y1) / 2}, {"type": "pointerMove", "x": x1, "y": y1},
                 {"type": "pointerUp", "button": 0})

    def wheel(self, x, y, pixels, modifiers=()):
        """Scrolls down, or up if pixels is negative."""
        self.act_with(modifiers, "wheel", {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": pixels})

    def key(self, key, *modifiers):
        value = KEYS.get(key, key)
        self.act_with(modifiers, "key", {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value})

    def write(self, text):
        self.act("key", *({"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")))

    def close(self):
        self.go("about:blank")
        self.browser.windows.append(self.context)
        self.browser.pages.pop(self.context)
