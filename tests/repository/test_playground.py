"""The playground: its examples in CPython, its page in a browser in which Python is this one's."""

import http.server
import json
import os
import re
import subprocess
import sys
import threading

import pytest

from tests.inspect import chromium
from tests.repository.pages import ROOT

FOLDER = ROOT / "docs" / "playground"
EXAMPLES = json.loads((FOLDER / "examples" / "examples.json").read_text(encoding="utf-8"))
RUN = """
import contextlib, io, json, sys, webbrowser
sys.path.insert(0, sys.argv[1])
plain = webbrowser.GenericBrowser("sh")
webbrowser.get = lambda using=None: plain  # as Pyodide's, whatever is preferred
import runner
found = []
for code in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        result = runner.run(code)
    found.append({**result, "output": said.getvalue()})
json.dump(found, sys.stdout)
"""
PYODIDE = """
const asked = (code) => {
  const request = new XMLHttpRequest();
  request.open("POST", "/run", false);
  request.send(code);
  return JSON.parse(request.responseText);
};
export async function loadPyodide() {
  let print = null;
  const run = (code) => {
    if (code.includes("too deep")) throw new RangeError("Maximum call stack size exceeded");
    const found = asked(code);
    print(found.output);
    return { get: (key) => found[key], destroy() {} };
  };
  return {
    setStdout({ batched }) { print = batched; }, setStderr() {}, setStdin() {},
    async loadPackage() {},
    unpackArchive() {}, FS: { writeFile() {} }, pyimport: () => ({ run }),
  };
}
"""


def ran(codes, folder):
    """What `runner.run` gives for each program, and what it printed."""
    found = subprocess.run(
        [sys.executable, "-c", RUN, str(FOLDER)],
        input=json.dumps(codes),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(found.stdout)


def test_the_examples_run_and_draw_their_graphs(tmp_path):
    names = sorted(path.name for path in FOLDER.glob("examples/*.py"))
    assert sorted(EXAMPLES) == names
    codes = [(FOLDER / "examples" / name).read_text(encoding="utf-8") for name in names]
    for name, each in zip(names, ran(codes, tmp_path), strict=True):
        assert each["output"] and "Traceback" not in each["output"], (name, each["output"])
        assert each["page"].startswith("<!doctype html>") and not each["missing"], name


def test_what_goes_wrong_in_a_program_is_said(tmp_path):
    error, lack, end, shown, nothing = ran(
        [
            "x = 1\nprint('before')\nx.y\n",
            "import lacking.things",
            "raise SystemExit(3)",
            "import torch\nfrom torch.inspect import graph\nx = torch.ones(2, requires_grad=True)\n"
            "graph(x.exp(), title='this one').show()\nloss = x.sum()",
            "print(1)",
        ],
        tmp_path,
    )
    assert error["output"].startswith("before\nTraceback") and "line 3" in error["output"]
    assert "runner.py" not in error["output"] and "script.py" not in error["output"]
    assert lack["missing"] == "lacking" and end["output"] == "ended with 3\n"
    assert "<title>this one</title>" in shown["page"]
    assert nothing == {"page": "", "missing": "", "output": "1\n"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a server of the playground whose Python runs in a process here."""
    folder = tmp_path_factory.mktemp("programs")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(FOLDER))

        def answer(self, text, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def do_GET(self):
            if self.path == "/playground.js":
                text = (FOLDER / "playground.js").read_text(encoding="utf-8")
                text, n = re.subn(r'PYODIDE = "https://[^"]+"', 'PYODIDE = "/pyodide/"', text)
                assert n == 1
                self.answer(text, "text/javascript")
            elif self.path == "/pyodide/pyodide.mjs":
                self.answer(PYODIDE, "text/javascript")
            elif self.path == "/tapegrad.whl":
                self.answer("", "application/zip")
            else:
                super().do_GET()

        def do_POST(self):
            code = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(json.dumps(ran([code], folder)[0]), "application/json")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def test_a_program_is_edited_run_and_linked_to(address, browser):
    page = chromium.Page(browser)
    browser.get(address)
    page.until("document.body.dataset.begun !== undefined && state === 'ready'")
    assert page.find("#examples option").text == "First steps"
    assert page.find("#code").get_property("value").startswith("import tapegrad as torch")
    assert page.find("#colours .keyword").text == "import"
    page.find("#run").click()
    page.until("state === 'ready' && output.textContent.includes('grad_fn=<SumBackward0>')")
    assert not page.find("#hint").is_displayed()
    browser.switch_to.frame(page.find("#graph"))
    page.ready()
    assert {"Tanh", "Sum", "x"} <= set(page.labels())
    browser.switch_to.default_content()
    code = "# äß → <b>\nwhile True:"
    page.find("#code").clear()
    page.find("#code").send_keys(code + "\npass")
    assert page.do("element('code').value") == code + "\n    pass"
    assert "<b>" in page.find("#colours .comment").text
    page.do("(hashOf(element('code').value).then((hash) => { location.hash = hash; }), 1)")
    page.until("location.hash.length > 10")
    browser.refresh()
    page.until("document.body.dataset.begun !== undefined && state === 'ready'")
    assert page.do("element('code').value") == code + "\n    pass"


def test_a_program_that_ends_python_does_not_end_the_page(address, browser):
    page = chromium.Page(browser)
    browser.get(address)
    page.until("document.body.dataset.begun !== undefined && state === 'ready'")
    page.do("(setCode('# too deep'), run(), 1)")
    page.until("output.textContent.includes('Python starts anew') && state === 'ready'")
    page.do("(setCode('print(6 * 7)'), run(), 1)")
    page.until("output.textContent.startsWith('42') && state === 'ready'")


def test_it_says_where_python_could_not_be_loaded_from(address, browser):
    page = chromium.Page(browser)
    browser.get(address + "nowhere/../index.html")
    page.until("document.body.dataset.begun !== undefined && state === 'ready'")
    page.do("(SAID.failed('no answer'), 1)")
    assert "is there a network?" in page.find("#output").text
    assert not page.find("#run").is_enabled()
