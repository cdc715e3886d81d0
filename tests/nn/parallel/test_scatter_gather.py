"""Arguments for several devices, without any."""

from collections import OrderedDict, namedtuple

import pytest

import tapegrad as torch
from tapegrad.nn.parallel import scatter_gather

Pair = namedtuple("Pair", "a b")

CALLS = [
    ("scatter", ([1, "a", {"b": 2}], [0, 1])),
    ("scatter", ((1, (2,)), [0, 1])),
    ("scatter", ((), [0, 1])),
    ("scatter", ([], [0])),
    ("scatter", ({}, [0, 1])),
    ("scatter", (Pair(1, [2]), [0, 1])),
    ("scatter", (OrderedDict(a=1), [0])),
    ("scatter_kwargs", ((1, 2), {"a": 3}, [0, 1])),
    ("scatter_kwargs", ((1, 2), None, [0, 1])),
    ("scatter_kwargs", ((), {"a": 3}, [0, 1])),
    ("scatter_kwargs", ((), None, [0, 1])),
    ("gather", ([(None, {"a": None})] * 2, 0)),
    ("gather", ([{"a": None}, {}], 0)),
    ("gather", ([Pair(None, None)] * 2, "cpu")),
    ("gather", ([1, 2], 0)),
]


def outcome(module, name, args):
    try:
        return repr(getattr(module, name)(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]


@pytest.mark.parametrize(("name", "args"), CALLS)
def test_what_is_no_tensor_is_repeated_as_in_pytorch(pytorch, name, args):
    theirs = outcome(pytorch.nn.parallel.scatter_gather, name, args)
    assert outcome(scatter_gather, name, args) == theirs


@pytest.mark.parametrize("make", [lambda t: t.ones(2), lambda t: [t.ones(2), 1]])
@pytest.mark.parametrize("gpus", [[0, 1], ["cpu"]])
def test_tensors_are_refused_as_by_pytorch(pytorch, make, gpus):
    theirs = outcome(pytorch.nn.parallel.scatter_gather, "scatter", (make(pytorch), gpus))
    assert outcome(torch.nn.parallel.scatter_gather, "scatter", (make(torch), gpus)) == theirs
    assert theirs.startswith(("AttributeError", "ValueError"))


def test_tensors_are_not_gathered_without_gpus():
    with pytest.raises(AssertionError, match="Gather function not implemented for CPU tensors"):
        torch.nn.parallel.gather([torch.ones(2), torch.ones(2)], 0)
