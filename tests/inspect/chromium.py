"""A real browser without a window, driven as a person would."""

import json

from tests import needs

PATIENCE_S = 120  # what a test waits for comes at once; on a busy machine, in its time


def start(folder):
    """Chromium with a fresh profile in `folder`; skips the test where there is none."""
    webdriver = needs.package("selenium.webdriver", "drives the browser")
    program = needs.program("chromium chromium-browser", "install it to have a browser")
    driver = needs.program("chromedriver", "install it to drive the browser")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    switches = (
        "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
        f"disable-component-update disable-sync window-size=1280,800 user-data-dir={folder}"
    )
    for switch in switches.split():
        options.add_argument("--" + switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(PATIENCE_S)
    return browser


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

    def until(self, condition):
        """Wait for an expression in the page to be true."""
        from selenium.webdriver.support.wait import WebDriverWait

        wait = WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.02)
        wait.until(lambda _: self.do(condition), condition)

    def ready(self):
        """Wait for the first drawing."""
        self.until("document.body.dataset.ready !== undefined")

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
