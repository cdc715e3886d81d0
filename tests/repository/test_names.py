"""Ten seconds from a PyTorch name to its file: by the file's name, or by `inspect.getsource`."""

import inspect
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F

ROOT = Path(torch.__file__).parent
HOMES = {"": torch, "linalg.": torch.linalg, "fft.": torch.fft, "special.": torch.special, "F.": F}

# What a textbook calls a family, by a word of a file's name: the names that belong to it.
FAMILIES = {
    "arithmetic": "add sub mul div subtract multiply true rsub neg negative positive",
    "bitwise": "and or xor not shift logical",
    "comparison": "eq ne lt gt le ge greater less equal not isclose allclose",
    "cumulative": "cum",
    "creation": "zeros ones full empty eye tensor",
    "exp": "exp log",
    "loss": "loss entropy",
    "pool": "pool",
    "random": "rand normal bernoulli poisson multinomial",
    "relu": "elu celu selu hardtanh hardswish hardsigmoid",
    "rounding": "floor ceil trunc fix frac",
    "trigonometry": "sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh sinc",
}


def operators():
    """The public name of each function of ours, the file of its declaration, and the text."""
    for prefix, home in HOMES.items():
        for name in dir(home):
            function = getattr(home, name, None) if name[0] != "_" else None
            if not callable(function) or isinstance(function, (type, ModuleType)):
                continue
            declared = inspect.unwrap(function)
            file = inspect.getsourcefile(declared) if inspect.isfunction(declared) else None
            if file is not None and Path(file).is_relative_to(ROOT):
                stem = Path(file).relative_to(ROOT).with_suffix("").as_posix()
                yield prefix + name, stem, inspect.getsource(declared)


def words(text):
    return [word for word in re.split(r"[_./0-9]+", text.lower()) if word]


def is_guessable(name, stem):
    """Whether a name shares a word with its file, or is of the family the file is named for."""
    mine, its = words(name.rpartition(".")[2]), words(stem)
    if any(a == b or (min(len(a), len(b)) > 2 and (a in b or b in a)) for a in mine for b in its):
        return True
    families = [FAMILIES[word].split() for word in its if word in FAMILIES]
    return any(word.startswith(k) for family in families for k in family for word in mine)


OPERATORS = list(operators())


def test_most_names_share_a_word_with_their_file():
    lost = sorted(name for name, stem, _ in OPERATORS if not is_guessable(name, stem))
    share = 1 - len(lost) / len(OPERATORS)
    assert len(OPERATORS) > 800
    assert share >= 0.85, f"{share:.0%}; a reader would not find {', '.join(lost)}"


def test_nearly_all_sources_show_the_name():
    lost = sorted(
        name
        for name, _, text in OPERATORS
        if not re.search(rf"\b{re.escape(name.rpartition('.')[2].rstrip('_'))}\b", text)
    )
    assert len(lost) <= 0.05 * len(OPERATORS), f"aliases of another name: {', '.join(lost)}"


@pytest.mark.parametrize(
    ("function", "file", "line"),
    [
        (torch.tanh, "operators/pointwise/trigonometry.py", "def tanh("),
        (torch.tanh_, "operators/pointwise/trigonometry.py", "def tanh("),
        (torch.add, "operators/pointwise/arithmetic.py", "def add("),
        (torch.Tensor.mul_, "operators/pointwise/arithmetic.py", "def mul("),
        (F.gelu, "operators/pointwise/gelu.py", "def gelu("),
    ],
)
def test_the_source_is_the_declaration(function, file, line):
    declared = inspect.unwrap(function)
    assert inspect.getsourcefile(declared) == str(ROOT / file)
    assert line in inspect.getsource(function)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (torch.tanh, "input out"),
        (torch.atan2, "input other out"),
        (torch.softmax, "input dim dtype out"),
    ],
)
def test_the_signature_stays_the_public_one(function, names):
    parameters = inspect.signature(function).parameters
    assert " ".join(parameters) == names
    assert parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["out"].default is None


def test_a_traceback_names_the_operator():
    try:
        torch.tanh("text")
    except TypeError as error:
        frames = traceback.extract_tb(error.__traceback__)
        assert "tanh" in [frame.name for frame in frames]
    else:
        pytest.fail("no error")


def test_names_of_a_new_file_would_be_seen():
    assert is_guessable("F.leaky_relu", "operators/pointwise/relu_threshold")
    assert is_guessable("arcsin", "operators/pointwise/trigonometry")
    assert not is_guessable("logsumexp", "operators/reduction/fold")
    assert "tapegrad" in sys.modules
