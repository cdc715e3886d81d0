"""How `.grad` lies in memory: as its leaf does."""

import pytest

import tapegrad as torch
from tapegrad.autograd import enforce_grad_layout_policy


def transposed_sum(x):
    return (x.t() * torch.arange(12.0).view(4, 3)).sum()


def gradient(x, **options):
    x.grad = None
    transposed_sum(x).backward(**options)
    return x.grad


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda: torch.ones(3, 4), (4, 1)),
        (lambda: torch.ones(4, 3).t(), (1, 3)),
        (lambda: torch.ones(3, 8)[:, ::2], (4, 1)),  # with gaps
        (lambda: torch.ones(3, 1).expand(3, 4), (4, 1)),  # overlapping
    ],
)
def test_a_gradient_is_laid_out_as_its_leaf(make, strides):
    x = make().detach().requires_grad_()
    g = gradient(x)
    assert g.stride() == strides
    assert g.tolist() == torch.arange(12.0).view(4, 3).t().tolist()


def test_gradients_of_leaves_in_rows_can_be_viewed_flat_and_grow_in_place():
    x = torch.ones(3, 4, requires_grad=True)
    g = gradient(x)
    assert g.view(-1)[:3].tolist() == [0, 3, 6]
    transposed_sum(x).backward()
    assert x.grad is g and g.view(-1)[1].item() == 6


def test_gradients_with_a_graph_are_laid_out_the_same():
    x = torch.ones(4, 3).t().detach().requires_grad_()
    with pytest.warns(UserWarning, match="reference cycle"):
        g = gradient(x, create_graph=True)
    assert g.stride() == (1, 3)
    x.grad = None


def test_channels_last_is_kept():
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last).requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.is_contiguous(memory_format=torch.channels_last)


def test_the_policy_is_switched_for_a_block_for_a_function_and_for_good():
    x = torch.ones(3, 4, requires_grad=True)
    with enforce_grad_layout_policy(False):
        assert gradient(x).stride() == (1, 3)
    assert gradient(x).stride() == (4, 1)
    assert enforce_grad_layout_policy(False)(gradient)(x).stride() == (1, 3)
    assert gradient(x).stride() == (4, 1)
    enforce_grad_layout_policy(False)
    try:
        assert gradient(x).stride() == (1, 3)
    finally:
        enforce_grad_layout_policy(True)
    assert gradient(x).stride() == (4, 1)


# --- leaves that stop requiring grad after they were used ---------------------------------------


@pytest.mark.parametrize(
    "freeze",
    [
        lambda x: x.requires_grad_(False),
        lambda x: setattr(x, "requires_grad", False),
        lambda x: x.detach_(),
    ],
)
def test_a_leaf_frozen_after_its_use_gets_no_gradient(freeze):
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    seen = []
    x.register_hook(seen.append)
    y = x * w
    freeze(x)
    y.sum().backward()
    assert x.grad is None
    assert w.grad.tolist() == [1, 1, 1]
    assert [g.tolist() for g in seen] == [[1, 1, 1]]  # hooks still see what arrives


def test_a_leaf_frozen_and_thawed_gets_its_gradient():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    x.requires_grad_(False).requires_grad_()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_layer_frozen_between_its_passes():
    layer = torch.nn.Linear(2, 1)
    y = layer(torch.ones(1, 2))
    layer.requires_grad_(False)
    y.sum().backward()
    assert [p.grad for p in layer.parameters()] == [None, None]
