"""A notebook in which tensors, layers, graphs, summaries, memory and profiles show themselves."""

import os
import re
import shutil
import subprocess
import warnings

import pytest

from tests.pages import ROOT

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

CELLS = [
    "import tapegrad as torch",
    "torch.manual_seed(0)\nx = torch.randn(4, 8)\nx",
    "(x * 2).sum(1).requires_grad_() * 3",
    """
model = torch.nn.Sequential(
    torch.nn.Linear(8, 16), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Dropout(0.1)),
    torch.nn.Linear(16, 3),
)
model
""",
    "torch.inspect.summary(model, (4, 8), verbose=0)",
    """
with torch.profiler.profile() as prof:
    loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2, 0]))
    loss.backward()
prof
""",
    """
with torch.inspect.memory() as seen:
    torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2, 0])).backward()
seen
""",
    "torch.inspect.graph(torch.nn.functional.mse_loss(model(x), x[:, :3]))",
]


@pytest.fixture(scope="module")
def notebook():
    from nbconvert.preprocessors import ExecutePreprocessor

    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS]
    )
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tools around the kernel have some of their own
        patch.setenv("PYTHONPATH", path)
        ExecutePreprocessor(timeout=120).preprocess(book, {"metadata": {"path": str(ROOT)}})
    return book


def shown(book, number):
    """What a cell shows, by media type."""
    (output,) = [o for o in book.cells[number].outputs if o.output_type == "execute_result"]
    return output.data


def test_everything_shows_itself_as_a_page_and_as_text(notebook):
    pages = [shown(notebook, number).get("text/html", "") for number in range(1, 8)]
    texts = [shown(notebook, number)["text/plain"] for number in range(1, 8)]
    for page, word in zip(
        pages,
        ["4 x 8", "made by MulBackward0", "Linear(in_features=8", "Total params", "AddmmBackward0",
         "Kept for backward", "MseLossBackward0"],
        strict=True,
    ):  # fmt: skip
        assert word in page
    starts = ["tensor(", "tensor(", "Sequential(", "=====", "<", "Peak "]
    for text, start in zip(texts[:6], starts, strict=True):
        assert text.startswith(start)
    assert all(len(page) < 60_000 for page in pages[:6])
    assert not any("<script" in page for page in pages[:6])


def test_the_page_of_the_notebook_is_whole_in_a_browser(notebook, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed")
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter(exclude_input=False).from_notebook_node(notebook)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    result = subprocess.run(
        [*command, f"--user-data-dir={tmp_path}", (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    for word in ("4 x 8", "Self CPU %", "Kept for backward", "<details", "<svg"):
        assert word in result.stdout
    assert not re.search(r"NotImplementedError|Traceback", result.stdout)
