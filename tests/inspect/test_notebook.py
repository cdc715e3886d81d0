"""A notebook in which tensors, layers, graphs, summaries, memory and profiles show themselves."""

import os
import re
import warnings

import pytest

from tests import needs
from tests.inspect import chromium
from tests.repository.pages import ROOT

nbformat = needs.package("nbformat", "writes notebooks")
needs.package("nbconvert", "runs notebooks")
needs.package("ipykernel", "runs their cells")

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
    "torch.inspect.graph(torch.nn.functional.mse_loss(model(x), x[:, :3]), gradients=True).show()",
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
        ExecutePreprocessor(timeout=600).preprocess(book, {"metadata": {"path": str(ROOT)}})
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
         "Kept for backward", "<iframe srcdoc"],
        strict=True,
    ):  # fmt: skip
        assert word in page
    starts = ["tensor(", "tensor(", "Sequential(", "=====", "<", "Peak "]
    for text, start in zip(texts[:6], starts, strict=True):
        assert text.startswith(start)
    assert all(len(page) < 60_000 for page in pages[:6])
    assert not any("<script" in page for page in pages[:6])


def test_show_shows_the_graph_right_there_and_says_nothing(notebook):
    (output,) = notebook.cells[8].outputs
    assert output.output_type == "display_data" and "<iframe srcdoc" in output.data["text/html"]


def test_only_the_first_graph_brings_the_page(notebook):
    first, later = shown(notebook, 7), notebook.cells[8].outputs[0].data
    assert len(first["text/html"]) > 150_000 > 15_000 > len(later["text/html"])


def test_the_cell_that_had_the_page_brings_it_again_when_it_runs_again(monkeypatch):
    from tapegrad.inspect import graph_frame

    runs = [("a", 1), ("a", 1), ("b", 2), ("b", 3), ("a", 4), ("b", 5), None]
    monkeypatch.setattr(graph_frame, "_running_cell", iter(runs).__next__)
    book = graph_frame._Notebook()
    assert [book.needs_page() for _ in runs] == [True, False, False, False, True, False, True]


def test_an_output_whose_page_is_gone_says_what_to_do(notebook, browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(notebook.cells[8].outputs[0].data["text/html"], encoding="utf-8")
    browser.get(path.as_uri())
    browser.switch_to.frame(browser.find_element("css selector", "iframe"))
    chromium.Page(browser).until("document.querySelector('pre').textContent.includes('Run this')")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


LIGHTNESS = """
    const words = ["pre", "b", "td", "summary"].map((tag) => ".jp-OutputArea-output " + tag);
    return [...document.querySelectorAll(words.join())].map((each) => {
      const [red, green, blue] = getComputedStyle(each).color.match(/[0-9.]+/g).map(Number);
      return (red + green + blue) / 765;
    });
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_of_the_notebook_is_whole_in_a_browser(notebook, browser, tmp_path, theme):
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter(theme=theme).from_notebook_node(notebook)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    text = browser.find_element("tag name", "body").text
    for word in ("4 x 8", "Self CPU %", "Kept for backward", "Sequential()", "Total params"):
        assert word in text
    assert not re.search(r"NotImplementedError|Traceback|Warning", text)
    for lightness in browser.execute_script(LIGHTNESS):  # of words, the page being dark or white
        assert lightness > 0.6 if theme == "dark" else lightness < 0.4
    frames = browser.find_elements("css selector", "iframe")
    assert len(frames) == 2
    for frame in frames:
        browser.switch_to.frame(frame)
        drawn = chromium.Page(browser)
        drawn.ready()
        assert drawn.do("document.documentElement.dataset.theme") == theme
        assert {"Addmm", "Tanh", "MseLoss", "result"} <= set(drawn.labels())
        browser.switch_to.default_content()
