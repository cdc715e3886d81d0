"""What functions may do that `cond`, `scan` and their kin run. The errors are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch._dynamo.exc import UncapturedHigherOrderOpError
from tapegrad.compat.torch._higher_order_ops import map, scan
from tests.messages import raises_beginning

FIRST = (
    "This higher order operator doesn't work unless it is captured completely with torch.compile. "
    "Got graph break/error:\n\n"
)
TRUE = torch.tensor(True)
CALLS = {
    "cond": lambda f, x: torch.cond(TRUE, f, torch.sin, (x,)),
    "while_loop": lambda f, x: torch.while_loop(lambda x: x.sum() < 9, f, (x,)),
    "scan": lambda f, x: scan(lambda c, x: (f(c), c * x), x[0], x),
    "map": map,
}
every_operator = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@every_operator
@pytest.mark.parametrize("f", [lambda x: x, lambda x: x[...], torch.detach])
def test_what_a_function_is_given_it_does_not_give_back(call, f):
    expected = FIRST + "Encountered aliasing during higher order op tracing"
    with raises_beginning(UncapturedHigherOrderOpError, expected):
        call(f, torch.ones(2))


@every_operator
def test_it_does_not_write_into_it(call):
    expected = FIRST + "Encountered input mutation during higher order op tracing"
    with raises_beginning(UncapturedHigherOrderOpError, expected):
        call(lambda x: x.add_(1).clone(), torch.ones(2))


def test_it_does_not_give_the_same_twice():
    with raises_beginning(UncapturedHigherOrderOpError, FIRST + "Encountered aliasing"):
        torch.cond(TRUE, lambda x: (x.exp(),) * 2, lambda x: (x.sin(), x.cos()), (torch.ones(2),))


@every_operator
def test_it_gives_tensors(call):
    with raises_beginning(UncapturedHigherOrderOpError, FIRST):
        call(lambda x: 2.5, torch.ones(2))


@every_operator
def test_what_it_raises_arrives(call):
    with pytest.raises(ZeroDivisionError):
        call(lambda x: 1 / 0, torch.ones(2))


@every_operator
def test_inference_tensors_are_taken(call):
    with torch.inference_mode():
        call(lambda x: x * 2, torch.ones(2))


def test_sparse_and_meta_tensors_are_taken():
    for x in torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csc():
        got = torch.cond(TRUE, lambda x: x.to_dense() * 2, torch.neg, (x,))
        assert got.tolist() == [[2, 0], [0, 2]]
    assert map(torch.sin, torch.ones(3, 2, device="meta")).shape == (3, 2)
