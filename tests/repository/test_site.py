"""The site: pages have their places, names are described, docstrings become Markdown."""

import base64
import re
import zlib

import pytest

import tapegrad as torch
from tests import needs
from tests.repository.pages import ROOT, blocks
from tools import notebooks
from tools.site import entry, names, playground
from tools.site.docstring import markdown, prose

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]


@pytest.fixture(scope="module")
def pages():
    needs.package("tensorboard", "is what a page of the reference describes")
    return names.pages()


def test_the_navigation_has_each_page_once():
    listed = re.findall(r"^ *- (?:[^:\n]*: )?(\S+\.md)$", NAV, re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))


def test_files_that_speak_of_a_page_of_the_documentation_know_its_place():
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob("tools/**/*.*"), *ROOT.glob("benchmarks/*")]
    mentions = {
        (path.name, page)
        for path in sources
        if path.suffix in (".py", ".md", ".toml")
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert mentions
    assert [each for each in sorted(mentions) if not (ROOT / each[1]).exists()] == []


@pytest.mark.parametrize("module", ["torch", "torch.Tensor", "torch.nn", "torch.optim"])
def test_every_public_name_is_in_the_reference_once(pages, module):
    known = [each.name for page in pages for each in page.entries]
    known += [name for page in pages for name in page.others]
    assert len(known) == len(set(known))
    assert {f"{module}.{name}" for name in names.public(module)} <= set(known)


def test_other_names_lead_to_a_description(pages):
    described = {each.name: page.path for page in pages for each in page.entries}
    others = {name: known for page in pages for name, known in page.others.items()}
    assert others.keys().isdisjoint(described)
    assert set(others.values()) <= described.keys()
    assert others["torch.Tensor.tanh"] == others["torch.tanh_"] == "torch.tanh"
    assert described["torch.tanh"] == "reference/torch/pointwise.md"
    assert described["torch.nn.Linear"] == "reference/torch.nn/linear.md"


def test_the_overview_leads_to_each_page(pages):
    text = entry.overview(pages)
    assert [page.path for page in pages if f"(/{page.path})" not in text] == []
    assert f"{sum(len(page.entries) + len(page.others) for page in pages)} public names" in text


def test_a_class_has_its_methods_but_not_those_of_every_layer():
    def methods(name, value):
        return "\n".join(entry.entry_of(names.Entry(name, value), "x"))

    assert "- `register_forward_hook()`: " in methods("torch.nn.Module", torch.nn.Module)
    assert "register_forward_hook" not in methods("torch.nn.LSTM", torch.nn.LSTM)
    assert "- `reset_parameters()`: " in methods("torch.nn.LSTM", torch.nn.LSTM)


def test_an_entry_has_signature_shape_formula_and_the_line_of_its_declaration():
    text = "\n\n".join(entry.entry_of(names.Entry("torch.tanh", torch.tanh), "https://x"))
    assert "tanh(input, *, out=None)" in text
    assert "**Shape:** any, and that of the result." in text
    assert "<msub><mi>g</mi><mi>x</mi></msub><mo>=</mo>" in text
    file, line = re.search(r"\(https://x/(\S+)#L(\d+)\)\.", text).groups()
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    assert "def tanh" in "\n".join(lines[int(line) - 1 :][:8])


def test_a_class_that_goes_by_a_module_of_pytorch_is_found_by_its_methods():
    assert torch.nn.Parameter.__module__.startswith("torch.")
    text = "\n\n".join(entry.entry_of(names.Entry("torch.nn.Parameter", torch.nn.Parameter), "x"))
    file, line = re.search(r"\(x/(\S+)#L(\d+)\)\.", text).groups()
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    assert lines[int(line) - 1].startswith("class Parameter")


def test_a_value_is_shown_and_its_class_is_not_described():
    text = list(entry.entry_of(names.Entry("torch.float32", torch.float32), "https://x"))
    assert [part for part in text if part] == [
        "## `torch.float32` { #torch.float32 }",
        "`torch.float32`",
    ]


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("One.\n\n    Two `a_b` a_b *c*.", "One.\n\nTwo `a_b` a\\_b \\*c\\*."),
        ("One.\n\n    Shape: (N,).\n    Raises: RuntimeError where\n    it fails.", 3),
        ("One.\n\n        y = x * w\n\n    Then.", "One.\n\n```text\ny = x * w\n```\n\nThen."),
        ("One.\n\n    Args:\n        x: a\n            b\n        *y: c\n", 3),
        (
            "One.\n\n    >>> f()  # doctest: +ELLIPSIS\n    1\n\n    >>> g()\n",
            "One.\n\n```pycon\n>>> f()\n1\n```\n\n```pycon\n>>> g()\n```",
        ),
    ],
)
def test_a_docstring_becomes_markdown(docstring, expected):
    text = markdown(docstring)
    if isinstance(expected, str):
        assert text == expected
    else:
        assert len(text.split("\n\n")) == expected
        assert "**" in text


def test_args_become_a_list():
    text = markdown("One.\n\n    Args:\n        x: a\n            b\n        *y, z: c\n")
    assert text == "One.\n\n**Args:**\n\n- `x`: a b\n- `*y, z`: c"


def test_prose_means_nothing_to_markdown_outside_of_code():
    assert prose("a < b[0] and `c < d[0]`") == "a &lt; b\\[0\\] and `c < d[0]`"


@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)
def test_a_link_to_the_playground_carries_the_programs_of_the_page(page):
    place, _, letters = playground.link(page).partition("#code=")
    assert place == playground.PLACE
    assert re.fullmatch(r"[\w-]+", letters)
    data = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    code = zlib.decompress(data, wbits=-zlib.MAX_WBITS).decode()
    (whole,) = blocks(page)
    first, last = code.split("\n\n")[0], code.rstrip().splitlines()[-1]
    assert whole.values[0].startswith(first) and last in whole.values[0]
    assert "# your answer" not in code and len(letters) < 4000
