"""`tapegrad where`: the way from a name to what was written down for it."""

import re
from pathlib import Path

import pytest

import tapegrad as torch
from tapegrad.inspect.where import operators_of, place, where
from tests.command import python

SOURCE = Path(torch.__file__).parent


def line_at(where_it_is):
    file, _, line = where_it_is.partition(":")
    return (SOURCE / file).read_text(encoding="utf-8").splitlines()[int(line) - 1 :][:12]


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("tanh", "def tanh"),
        ("tanh_", "def tanh"),
        ("torch.softmax", "def softmax"),
        ("F.gelu", "def gelu"),
        ("Tensor.scatter_add_", "def scatter_add"),
        ("Tensor.backward", "def backward"),
        ("Tensor.shape", "def shape"),
        ("nn.LayerNorm", "class LayerNorm"),
        ("optim.Adam", "class Adam"),
        ("linalg.inv", "def inv"),
    ],
)
def test_the_first_line_leads_to_the_declaration(name, declared):
    first = where(name).splitlines()[0]
    assert any(declared in line for line in line_at(first.split(": ")[1]))


def test_rules_kernels_and_what_is_saved_are_named():
    text = where("nn.functional.gelu")
    assert re.search(r"operator gelu: operators/pointwise/\w+\.py:\d+, primitive", text)
    assert re.search(r"vjp input: operators/pointwise/\w+\.py:\d+, saves input, approximate", text)
    assert re.search(r"kernel gelu: arrays/numpy/gelu\.py:\d+", text)
    assert re.search(r"batching rule gelu: arrays/batched/\w+\.py:\d+", text)
    assert re.search(r"test: tests/samples/\w+\.py:\d+, its row in all laws", text)


@pytest.mark.parametrize(
    ("layer", "operator"), [(torch.nn.LayerNorm, "layer"), (torch.nn.Conv2d, "conv")]
)
def test_a_layer_leads_to_its_operators(layer, operator):
    assert any(operator in op.name for op in operators_of(layer))


def test_what_has_no_source_of_python_says_so():
    assert place(len) == "builtins, without Python source"


def test_the_command_prints_it_and_fails_for_an_unknown_name():
    result = python("-m", "tapegrad", "where", "tanh", "optim.Adam")
    assert result.returncode == 0
    assert "torch.tanh: operators/pointwise/" in result.stdout
    assert "  update: optim/" in result.stdout
    unknown = python("-m", "tapegrad", "where", "nosuch")
    assert unknown.returncode == 1
    assert "tapegrad has no 'nosuch'" in unknown.stderr
