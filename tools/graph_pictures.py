"""The pictures of graphs.md and compile.md in docs/how-to, made anew in a browser.

python -m tools.graph_pictures      needs chromium, chromedriver and selenium
"""

import sys
import tempfile
from pathlib import Path

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph, watch
from tests.inspect import chromium
from tests.inspect.graph_models import GPT

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


class Net(nn.Module):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


def classifier():
    """The loss of two layers, with the gradients of a pass."""
    torch.manual_seed(0)
    net = Net()
    x, target = torch.randn(5, 8), torch.tensor([0, 1, 2, 1, 0])
    with watch():
        loss = nn.functional.cross_entropy(net(x), target)
    return graph(loss, gradients=True, title="a classifier")


def sigmoids():
    """Eight layers in which the gradient vanishes."""
    torch.manual_seed(0)
    layers = [each for _ in range(8) for each in (nn.Linear(16, 16), nn.Sigmoid())]
    model, x = nn.Sequential(*layers), torch.randn(4, 16)
    with watch():
        loss = model(x).mean()
    return graph(loss, gradients=True, title="eight layers of sigmoid")


def gpt():
    """Twelve blocks of attention."""
    torch.manual_seed(0)
    model = GPT(12, width=16, heads=4, words=50)
    with watch():
        loss = model(torch.arange(10)[None])
    return graph(loss, gradients=True, title="a GPT of twelve blocks")


def program():
    """A training step of two layers, compiled to C."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="c")
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step(torch.randn(32, 4), torch.randn(32, 2))
    return graph(step, title="a training step")


PICTURES = {  # file: the graph, and what is done to its page
    "graph.png": (
        classifier,
        "select('v' + data.vertices.findIndex((v) => v.name[0] === 'T' && v.kept.length))",
    ),
    "graph-step.png": (
        classifier,
        "setTheme('dark'), document.getElementById('saved').click(), stepBy(4), stepBy(1)",
    ),
    "graph-vanishing.png": (sigmoids, "1"),
    "graph-gpt.png": (
        gpt,
        """open.clear();
        for (const name of ["GPT", "blocks.1", "blocks.1.attention"])
          open.add(data.groups.findIndex((g) => g.name === name));
        draw();
        goTo(data.vertices.findIndex((v) => v.name === "SoftmaxBackward0" &&
          v.module === "GPT.blocks.1.attention"))""",
    ),
    "program.png": (
        program,
        "fit(), select('v' + data.vertices.findIndex((v) => v.part && v.part.operators.tanh))",
    ),
}


def main() -> int:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        browser = chromium.start(folder)
        size = {"width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for name, (make, act) in PICTURES.items():
            path = Path(folder) / "page.html"
            make().save(path)
            browser.get(path.as_uri())
            browser.execute_script(act)
            browser.execute_async_script("setTimeout(arguments[0], 900)")
            browser.save_screenshot(str(FOLDER / name))
            print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")
        browser.quit()
    classifier().save(FOLDER / "graph.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
