"""What may be written where several elements are one place in memory."""

import warnings

import pytest

import tapegrad as torch
from tests.messages import raises

REPEATED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)


def repeated(n=4):
    return torch.tensor([1.0, 2.0, 3.0]).expand(n, 3)


@pytest.mark.parametrize(
    ("name", "write", "expected"),
    [
        ("masked_fill_", lambda x: x.masked_fill_(x == 2, 7), [1.0, 7.0, 3.0]),
        (
            "masked_fill_",
            lambda x: x.masked_fill_(torch.tensor([[True], [False], [False], [False]]), 7),
            [7.0, 7.0, 7.0],
        ),
        ("index_fill_", lambda x: x.index_fill_(1, torch.tensor([0]), 7), [7.0, 2.0, 3.0]),
        (
            "index_put_",
            lambda x: x.index_put_((torch.tensor([0, 2]),), torch.ones(2, 3)),
            [1.0, 1.0, 1.0],
        ),
        (
            "index_put_",
            lambda x: x.index_put_((torch.tensor([0, 2]),), torch.ones(2, 3), True),
            [3.0, 4.0, 5.0],
        ),
        ("index_put_", lambda x: x.__setitem__(x > 1, torch.arange(8.0)), [1.0, 6.0, 7.0]),
    ],
)
def test_some_writes_to_repeated_elements_warn(name, write, expected):
    x = repeated()
    with pytest.warns(UserWarning, match=rf"^Use of {name} on expanded tensors is deprecated\. "):
        write(x)
    assert x.tolist() == [expected] * 4
    with raises(RuntimeError, REPEATED), warnings.catch_warnings(action="ignore"):
        write((torch.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1).expand(4, 3))


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x: x.tril_(), [1.0, 0.0, 0.0]),
        (lambda x: x.triu_(), [0.0, 0.0, 3.0]),
        (lambda x: torch.nn.functional.threshold_(x, 1, 9), [9.0, 2.0, 3.0]),
    ],
)
def test_what_writes_one_number_writes_repeated_elements(write, expected):
    assert write(repeated(3)).tolist() == [expected] * 3


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.copy_(torch.ones(4, 3)),
        lambda x: x.index_add_(1, torch.tensor([0]), torch.ones(4, 1)),
        lambda x: x.scatter_(1, torch.zeros(4, 1, dtype=torch.int64), 5.0),
        lambda x: x.masked_scatter_(x > 1, torch.arange(12.0)),
        lambda x: x.cumsum_(0),
        lambda x: x.normal_(),
    ],
)
def test_other_writes_to_repeated_elements_are_refused(write):
    with raises(RuntimeError, REPEATED):
        write(repeated())
