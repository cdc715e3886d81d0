"""`map`. The numbers and the errors are PyTorch's."""

import tapegrad as torch
from tapegrad.compat.torch._higher_order_ops import map
from tests.messages import raises

M = torch.arange(6.0).view(3, 2)


def test_parts_are_stacked():
    assert torch.equal(map(lambda x, y: x + y, M, 3.5), M + 3.5)
    assert torch.equal(map(lambda x, y: x * y["a"], M, {"a": torch.ones(2)}), M)


def test_trees():
    got = map(lambda t: {"s": t[0] + t[1], "p": [t[0] * t[1], None]}, (M, M + 1))
    assert torch.equal(got["s"], 2 * M + 1) and torch.equal(got["p"][0], M * (M + 1))
    assert got["p"][1] is None


def test_gradients():
    x, w = M.clone().requires_grad_(), torch.ones((), requires_grad=True)
    found = torch.autograd.grad(map(lambda x, w: x * w, x, w).sum(), (x, w))
    assert torch.equal(found[0], torch.ones(3, 2)) and found[1].item() == 15


def test_what_is_asked_of_arguments():
    with raises(RuntimeError, "Mapped xs can only consist of tensors. Got xs [3]."):
        map(torch.sin, 3)
    with raises(RuntimeError, "Leading dimensions of mapped xs cannot be 0."):
        map(torch.sin, [torch.ones(0), torch.ones(3)])
    expected = (
        "Leading dimensions of mapped xs must be consistent. "
        "Got shapes [torch.Size([3, 2]), torch.Size([2, 2])]."
    )
    with raises(RuntimeError, expected):
        map(torch.sin, (M, torch.ones(2, 2)))
