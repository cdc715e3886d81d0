"""What functions refuse first, in PyTorch's words: the calls of `first_complaints.txt`.

A line is a call and what PyTorch raises for it, `torch.dot(ones(2), ones(3)) => RuntimeError: ...`,
the message as far as it matters; where PyTorch is installed, it is asked, too (`tests/oracle`).
"""

import builtins
from math import inf, nan
from pathlib import Path

import pytest

import tapegrad
from tapegrad.core import errors
from tests.messages import raises_beginning

SHORT = {
    "b1": "bool", "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "f2": "float16", "b2": "bfloat16", "f4": "float32", "f8": "float64", "c8": "complex64",
    "c16": "complex128",
}  # fmt: skip


def rows():
    """The calls, each with the class of its error and the beginning of the message."""
    lines = Path(__file__).with_name("first_complaints.txt").read_text().splitlines()
    for line in lines:
        call, _, found = line.partition(" => ")
        name, _, message = found.partition(": ")
        yield call, name, message


def names(torch):
    """What the calls are made of, of tapegrad or of PyTorch."""
    return {
        **{short: getattr(torch, name) for short, name in SHORT.items()},
        "F": torch.nn.functional,
        "inf": inf,
        "nan": nan,
        "torch": torch,
        "index": lambda *shape: torch.zeros(shape, dtype=torch.int64),
        "leaf": lambda *shape, dtype=None: torch.ones(shape, dtype=dtype, requires_grad=True),
        "ones": lambda *shape, dtype=None: torch.ones(shape, dtype=dtype),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "name", "message"), list(rows()))
def test_the_first_complaint_is_pytorchs(call, name, message):
    error = getattr(builtins, name, None) or errors.LinAlgError
    with raises_beginning(error, message):
        eval(call, names(tapegrad))
