"""`scan`. The numbers and the errors are PyTorch's."""

import tapegrad as torch
from tapegrad.compat.torch._dynamo.exc import UncapturedHigherOrderOpError
from tapegrad.compat.torch._higher_order_ops import scan
from tests.messages import raises, raises_beginning

X = torch.arange(3.0)
ONE = torch.tensor(1.0)
M = torch.arange(6.0).view(2, 3)


def step(c, x):
    return c + x, c * x


def lists(found):
    return found[0].tolist(), found[1].tolist()


def test_forwards_and_in_reverse():
    assert lists(scan(step, ONE, X)) == (4, [0, 1, 4])
    assert lists(scan(step, ONE, X, reverse=True)) == (4, [0, 3, 2])


def test_results_stand_along_the_dimension_if_they_have_it():
    for dim in 1, -1:
        got = scan(step, torch.ones(2), M, dim=dim)
        assert lists(got) == ([4, 13], [[0, 1, 4], [3, 16, 40]])
    got = scan(lambda c, x: (c + x.sum(), x.sum() * 1), ONE, M, dim=1)
    assert lists(got) == (16, [3, 5, 7])
    got = scan(lambda c, x: (c + x.sum(), torch.ones(4, 5) * x.sum()), ONE, M, dim=1)
    assert got[1].shape == (4, 3, 5)
    got = scan(lambda c, x: (c + x.sum(), x.sum(1)), ONE, torch.ones(2, 4, 3), dim=2)
    assert got[1].shape == (3, 2)


def test_carry_and_results_are_trees():
    carry, y = scan(lambda c, x: ({"a": c["a"] + x}, [c["a"] * x, (x + 1,)]), {"a": ONE}, X)
    assert carry["a"].item() == 4 and y[0].tolist() == [0, 1, 4] and y[1][0].tolist() == [1, 2, 3]
    assert scan(lambda c, x: (c + x, ()), ONE, X)[1] == ()
    assert scan(step, ONE, []) == (ONE, [])
    carry, _ = scan(lambda c, x: ((c + x,), c * x), ONE, X)  # each step gets what `init` is
    assert isinstance(carry, tuple) and carry[0].item() == 4


def test_gradients():
    c, x = ONE.clone().requires_grad_(), X.clone().requires_grad_()
    w = torch.ones((), requires_grad=True)
    last, y = scan(lambda c, x: (c + x * w, c * x), c, x)
    found = torch.autograd.grad(last + y.sum(), (c, x, w))
    assert [g.tolist() for g in found] == [4, [5, 4, 3], 5]


def test_samples_carry_their_own():
    last, y = torch.vmap(lambda c: scan(step, c, X))(torch.arange(2.0))
    assert (last.tolist(), y.tolist()) == ([3, 4], [[0, 0, 2], [0, 1, 4]])
    last, y = torch.vmap(lambda x: scan(step, ONE, x))(M)
    assert (last.tolist(), y.tolist()) == ([4, 13], [[0, 1, 4], [3, 16, 40]])


def test_what_is_asked_of_arguments():
    with raises(
        IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 4)"
    ):
        scan(step, ONE, X, dim=4)
    with raises(RuntimeError, "Combine_fn must be a callable, but got 3"):
        scan(3, ONE, X)
    with raises(RuntimeError, "Reverse must be a bool, but got <class 'int'>"):
        scan(step, ONE, X, reverse=1)
    with raises(RuntimeError, "scan() operator requires init leaves."):
        scan(step, (), X)
    with raises(RuntimeError, "All init leaves must be a Tensor but got 1.0"):
        scan(step, 1.0, X)
    expected = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
    for xs in torch.ones(0), ONE:
        with raises(RuntimeError, expected):
            scan(step, ONE, xs)


def test_steps_keep_shape_and_dtype_of_the_carry():
    expected = "Expected init and carry to have same metadata but found:\n"
    for f in (lambda c, x: (c.double(), c * x), lambda c, x: (torch.ones(2), c * x)):
        with raises_beginning(UncapturedHigherOrderOpError, expected):
            scan(f, ONE, X)
    with raises_beginning(UncapturedHigherOrderOpError, "This higher order operator doesn't work"):
        scan(lambda c, x: (c + x, c * x, c * 1), ONE, X)
