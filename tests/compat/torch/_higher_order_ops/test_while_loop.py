"""`torch.while_loop`. The numbers and the errors are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch._dynamo.exc import UncapturedHigherOrderOpError
from tests.messages import raises, raises_beginning
from tests.tolerance import assert_near

X = torch.arange(3.0)
ZERO = torch.tensor(0)


def less(i, x):
    return i < 3


def double(i, x):
    return i + 1, x * 2


def test_steps_are_taken_while_the_condition_holds():
    i, x = torch.while_loop(less, double, [ZERO, X])
    assert (i.item(), x.tolist()) == (3, [0, 8, 16])


def test_integers_are_carried():
    i, x = torch.while_loop(less, double, (0, X))
    assert (i, x.tolist()) == (3, [0, 8, 16])


def test_the_result_is_what_the_body_returns():
    assert torch.while_loop(lambda i: i < 3, lambda i: i + 1, (ZERO,)).item() == 3
    got = torch.while_loop(
        lambda d: d["i"] < 3,
        lambda d: ({"i": d["i"] + 1, "x": d["x"] * 2},),
        ({"i": ZERO, "x": X},),
    )
    assert got[0]["x"].tolist() == [0, 8, 16]
    assert torch.while_loop(lambda: False, lambda: (), ()) == ()


def test_without_a_step_copies_are_given_back():
    _, x = torch.while_loop(lambda i, x: i < 0, double, (ZERO, X))
    assert x.tolist() == X.tolist() and x.data_ptr() != X.data_ptr()


def test_gradients_of_all_steps():
    x, w = X.clone().requires_grad_(), torch.ones((), requires_grad=True)
    _, y = torch.while_loop(less, lambda i, x: (i + 1, x.sin() * 2), (ZERO, x))
    (g,) = torch.autograd.grad(y.sum(), x)
    assert_near(g, torch.tensor([8.0, 0.1957508, -0.2938273]), factor=10)
    _, y = torch.while_loop(less, lambda i, x: (i + 1, x * w + 1), (ZERO, x))
    g, h = torch.autograd.grad(y.sum(), (x, w))
    assert g.tolist() == [1, 1, 1] and h.item() == 18


def test_nested_loops():
    def body(i, x):
        return i + 1, torch.while_loop(lambda j, x: j < 2, lambda j, x: (j + 1, x + 1), (ZERO, x))[
            1
        ]

    assert torch.while_loop(less, body, (ZERO, X))[1].tolist() == [6, 7, 8]


def test_what_is_asked_of_arguments():
    with raises(RuntimeError, "Expect cond_fn and body_fn to be callable."):
        torch.while_loop(less, 3, (ZERO, X))
    expected = (
        "[0.5, tensor([0., 1., 2.])] can only be of (<class 'torch.Tensor'>, <class 'int'>, "
        "<class 'torch.SymInt'>) but got (<class 'float'>, <class 'torch.Tensor'>)"
    )
    with raises(AssertionError, expected):
        torch.while_loop(less, double, (0.5, X))
    expected = "cond_fn must return a boolean scalar tensor or a boolean but got (tensor(True),)"
    with raises(RuntimeError, expected):
        torch.while_loop(lambda i, x: (i < 3,), double, (ZERO, X))


@pytest.mark.parametrize(
    "condition",
    [lambda i, x: x > 3, lambda i, x: i - 3, lambda i, x: (i < 3).view(1), lambda i, x: True],
)
def test_a_condition_is_one_bool_that_changes(condition):
    with pytest.raises(UncapturedHigherOrderOpError):
        torch.while_loop(condition, double, (ZERO, X))


def test_steps_keep_shapes_and_dtypes():
    expected = "Expected body_fn_output and carried_inputs to have same metadata but found:\n"
    for body in (
        lambda i, x: (i + 1, torch.cat([x, x])),
        lambda i, x: (i + 1, x.double()),
        lambda i, x: (i + 1.0, x * 2),
    ):
        with raises_beginning(UncapturedHigherOrderOpError, expected):
            torch.while_loop(less, body, (ZERO, X))
    expected = "Expected body_fn_output and carried_inputs to have same number of outputs but got "
    with raises_beginning(UncapturedHigherOrderOpError, expected):
        torch.while_loop(less, lambda i, x: (i + 1,), (ZERO, X))


def test_the_number_of_steps_may_change_when_compiled():
    torch.compiler.reset()

    def f(n, x):
        return torch.while_loop(lambda i, x: i < n, double, (ZERO, x))[1].sum()

    compiled = torch.compile(f, backend="numpy")
    for n in (2, 2, 2, 3, 3, 3, 0, 2, 3):
        assert compiled(torch.tensor(n), X).item() == 3 * 2**n
