"""How tensors print inside transforms, and `.data` there: PyTorch's words."""

import pytest

import tapegrad as torch
from tapegrad.func import grad, jacfwd, jacrev, jvp, vjp, vmap
from tests.messages import raises

X = torch.tensor([1.0, 2.0, 3.0])
ROWS = torch.stack([X, X])
W = torch.ones(3, requires_grad=True)


def printed(transform, x, look):
    """What `look` says of the function's argument in a transform."""
    seen = []

    def function(x):
        seen.append(look(x))
        return x.sum()

    transform(function, x)
    return seen[0]


def in_grad(f, x):
    grad(f)(x)


def in_jvp(f, x):
    jvp(f, (x,), (torch.ones_like(x),))


@pytest.mark.parametrize(
    ("transform", "number"),
    [
        (in_grad, 1),
        (in_jvp, 1),
        (lambda f, x: vjp(f, x), 1),
        (lambda f, x: jacrev(f)(x), 1),
        (lambda f, x: jacfwd(f)(x), 2),
    ],
)
def test_a_tensor_with_derivatives(transform, number):
    want = f"GradTrackingTensor(lvl={number}, value=\n    tensor([2., 4., 6.])\n)"
    assert printed(transform, X, lambda x: repr(x * 2)) == want
    assert printed(transform, X, lambda x: str(x)) == want.replace("2., 4., 6.", "1., 2., 3.")
    assert printed(transform, X, lambda x: repr(W)) == "tensor([1., 1., 1.], requires_grad=True)"


def test_a_gradient_within_a_gradient():
    inner = "GradTrackingTensor(lvl=1, value=\n        tensor([1., 2., 3.])\n    )"
    want = f"GradTrackingTensor(lvl=2, value=\n    {inner}\n)"
    assert printed(lambda f, x: grad(lambda x: grad(f)(x).sum())(x), X, repr) == want
    twice = printed(lambda f, x: jvp(grad(f), (x,), (x,)), X, lambda x: repr(x * 2))
    assert twice == want.replace("1., 2., 3.", "2., 4., 6.")


def test_what_requires_a_gradient_outside_says_so_inside():
    outer = X.clone().requires_grad_()
    assert printed(in_grad, outer, repr) == (
        "GradTrackingTensor(lvl=1, value=\n    tensor([1., 2., 3.], requires_grad=True)\n)"
    )
    assert printed(in_grad, X, lambda x: repr(x * W)) == (
        "GradTrackingTensor(lvl=1, value=\n    tensor([1., 2., 3.], grad_fn=<MulBackward0>)\n)"
    )


def test_a_batch_with_derivatives():
    value = "tensor([[1., 2., 3.],\n                [1., 2., 3.]])"
    assert printed(lambda f, x: vmap(grad(f))(x), ROWS, repr) == (
        "GradTrackingTensor(lvl=2, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n        "
        f"{value}\n    )\n)"
    )
    assert printed(lambda f, x: grad(lambda x: vmap(f)(x).sum())(x), ROWS, repr) == (
        "BatchedTensor(lvl=2, bdim=0, value=\n    GradTrackingTensor(lvl=1, value=\n        "
        f"{value}\n    )\n)"
    )


def test_empty_lines_stay_empty():
    text = printed(lambda f, x: vmap(f)(x), torch.zeros(2, 1, 1, 1), repr)
    inner = "tensor([[[[0.]]],\n\n\n            [[[0.]]]])"
    assert text == f"BatchedTensor(lvl=1, bdim=0, value=\n    {inner}\n)"


def test_no_transform_is_left_behind_by_an_error():
    for transform in (in_grad, in_jvp, lambda f, x: vmap(f)(x), lambda f, x: jacfwd(f)(x)):
        with pytest.raises(ZeroDivisionError):
            transform(lambda x: 1 / 0, ROWS)
    assert printed(in_grad, X, repr).startswith("GradTrackingTensor(lvl=1")


def test_data_is_not_replaced_where_a_transform_follows_it():
    message = "mutating directly with `.data` inside functorch transform is not allowed."
    for transform in (in_grad, in_jvp, lambda f, x: vmap(grad(f))(x[None])):
        with raises(RuntimeError, message):
            printed(transform, X, lambda x: setattr(x, "data", torch.zeros(3)))
    other = torch.ones(3)
    printed(in_grad, X, lambda x: setattr(other, "data", torch.zeros(3)))
    assert other.tolist() == [0.0, 0.0, 0.0]


# --- a look at values ---


def test_debug_unwrap_shows_what_is_outside():
    look = torch.func.debug_unwrap
    assert look(X) is X
    assert printed(lambda f, x: vmap(f)(x), ROWS, look).tolist() == ROWS.tolist()
    both = lambda x: (repr(look(x)), repr(look(x * 2, recurse=False)))  # noqa: E731
    inner = "tensor([[{}],\n        [{}]])"
    whole, half = printed(lambda f, x: vmap(grad(f))(x), ROWS, both)
    assert whole == inner.format("1., 2., 3.", "1., 2., 3.")
    assert half.startswith("BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[2., 4., 6.],")
    assert printed(in_jvp, X, lambda x: repr(look(x * 2))) == "tensor([2., 4., 6.])"
    outer = X.clone().requires_grad_()
    assert printed(in_grad, outer, look) is outer


def test_a_cotangent_of_a_whole_jacobian_prints_as_a_batch():
    seen = []

    def function(x):
        y = x * 1
        y.register_hook(lambda g: seen.append(repr(g)))
        return y

    jacrev(function)(X[:2])
    vmap(jacrev(function))(ROWS[:, :2])
    inner = "tensor([[1., 0.],\n            [0., 1.]])"
    assert seen[0] == f"BatchedTensor(lvl=1, bdim=0, value=\n    {inner}\n)"
    assert seen[1].startswith("BatchedTensor(lvl=2, bdim=0, value=\n    ")


def test_a_batch_is_shown_where_it_came_in():
    x, seen = torch.arange(6.0).reshape(2, 3), []

    def look(row):
        seen.append((repr(row)[:30], torch.func.debug_unwrap(row).tolist()))
        seen.append((repr(row * 2)[:30], torch.func.debug_unwrap(row * 2).shape))
        return row

    assert torch.vmap(look, in_dims=1)(x).shape == (3, 2)
    assert seen[0] == ("BatchedTensor(lvl=1, bdim=1, v", x.tolist())
    assert seen[1] == ("BatchedTensor(lvl=1, bdim=0, v", (3, 2))
