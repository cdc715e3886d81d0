"""A real browser without a window, driven as a person would."""

import json
import shutil

import pytest


def start(folder):
    """Chromium with a fresh profile in `folder`; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    switches = (
        "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
        f"disable-component-update disable-sync window-size=1280,800 user-data-dir={folder}"
    )
    for switch in switches.split():
        options.add_argument("--" + switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Page:
    """A page that is open in the browser, or is opened there."""

    def __init__(self, browser, path=None):
        self.browser = browser
        if path is not None:
            self.drain()
            browser.get(path.as_uri())

    def drain(self):
        return self.browser.get_log("browser"), self.browser.get_log("performance")

    def do(self, script):
        """The value of an expression in the page."""
        return self.browser.execute_script(f"return ({script})")

    def ready(self):
        """Milliseconds from the navigation to the first drawing."""
        script = """
            const done = arguments[0], wait = setInterval(() => {
              if (document.body.dataset.ready === undefined) return;
              clearInterval(wait);
              done(Number(document.body.dataset.ready));
            }, 10);
        """
        return self.browser.execute_async_script(script)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def panel(self):
        return self.find("#panel").text

    def at(self, item):
        """Move the mouse onto an item of the drawing; its chain of actions."""
        from selenium.webdriver import ActionChains

        x, y = self.do(
            f"(({{x, y}}) => [x - cy.width() / 2, y - cy.height() / 2])"
            f"(cy.getElementById('{item}').renderedPosition())"
        )
        canvas = self.find("#canvas")
        return ActionChains(self.browser).move_to_element_with_offset(canvas, round(x), round(y))

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        chain = ActionChains(self.browser)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def vertex(self, name, n=0):
        """The item of the `n`-th vertex with a name."""
        numbers = self.do(f"data.vertices.flatMap((v, i) => v.name === '{name}' ? [i] : [])")
        return f"v{numbers[n]}"

    def labels(self):
        """What is written in the boxes that are drawn."""
        return self.do("cy.nodes('.plain').map((n) => n.data('label').split('\\n')[0])")

    def complaints(self):
        """What the console says, and every address that the page has asked for but its own."""
        console, events = self.drain()
        messages = [json.loads(event["message"])["message"] for event in events]
        requests = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        own = self.browser.current_url
        assert own in [each["request"]["url"] for each in requests]  # they are seen
        asked = [each["request"]["url"] for each in requests if each["documentURL"] == own]
        return [entry["message"] for entry in console] + [
            url for url in asked if url != own and not url.startswith("data:")
        ]
