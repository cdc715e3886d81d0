"""The pictures of docs/profiler.md, made anew.

python -m tools.profiler_pictures      needs matplotlib, nbconvert, ipykernel and chromium
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
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


def main() -> int:
    """Write the pictures."""
    write_memory()
    write_plots()
    write_notebook()
    return 0


if __name__ == "__main__":
    sys.exit(main())
