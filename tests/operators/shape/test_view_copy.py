"""Nodes of copies of views: one each, with the name of the view."""

import pytest

import tapegrad as torch

COPIES = {
    "UnsqueezeBackward0_copy": lambda x: torch.unsqueeze_copy(x, 0),
    "TransposeBackward0_copy": lambda x: torch.transpose_copy(x, 0, 1),
    "SliceBackward0_copy": lambda x: torch.slice_copy(x, 0, 1, 2),
    "ExpandBackward0_copy": lambda x: torch.expand_copy(x, (2, 3, 4)),
    "SplitBackward0_copy": lambda x: torch.split_copy(x, 2)[0],
    "UnbindBackward0_copy": lambda x: torch.unbind_copy(x)[1],
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_one_node(name):
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    y = COPIES[name](x)
    assert y.grad_fn.name() == name
    assert y.grad_fn.next_functions[0][0].variable is x
    assert not y._is_view()
    (y * y).sum().backward()
    twin = x.detach().clone().requires_grad_()
    z = COPIES[name](twin)
    (z * 1.0 * z.detach() * 2).sum().backward()
    assert x.grad.tolist() == twin.grad.tolist()
    assert x.grad.abs().sum() > 0
    view = x.unsqueeze(0)
    assert view.grad_fn.name() == "UnsqueezeBackward0"  # the view itself keeps its name
