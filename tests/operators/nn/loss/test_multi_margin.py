"""Losses with a margin where numbers are nan, which are not larger than anything."""

import pytest

import tapegrad as torch
from tapegrad.nn import functional as F

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("row", "labels", "loss", "slope"),
    [
        ([0.5, NAN, INF], [1, 0, -1], INF, [-1 / 3, 0.0, 1 / 3]),
        ([NAN, 0.0, 1.0], [0, -1, 0], 0.0, [0.0, 0.0, 0.0]),
        ([0.0, NAN, 1.0], [0, -1, 0], 2 / 3, [-1 / 3, 0.0, 1 / 3]),
    ],
)
def test_nan_costs_nothing_beside_several_labels(row, labels, loss, slope):
    x = torch.tensor(row, requires_grad=True)
    y = F.multilabel_margin_loss(x, torch.tensor(labels))
    y.backward()
    assert y.item() == pytest.approx(loss) and x.grad.tolist() == pytest.approx(slope)


@pytest.mark.parametrize("p", [1, 2])
def test_nan_costs_nothing_beside_one_label(p):
    x = torch.tensor([[0.0, NAN, 1.0], [NAN, 0.0, 1.0]], requires_grad=True)
    y = F.multi_margin_loss(x, torch.tensor([0, 0]), p=p, reduction="none")
    assert y.tolist() == pytest.approx([2**p / 3, 0.0])
    y.sum().backward()
    assert x.grad[1].tolist() == [0, 0, 0] and not x.grad.isnan().any()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_the_loss_of_one_row_is_the_result_of_its_own_node(reduction):
    x = torch.tensor([0.5, 2.0, 1.0, 0.0], requires_grad=True)
    y = F.multilabel_margin_loss(x, torch.tensor([1, -1, 0, 0]), reduction=reduction)
    (grad,) = torch.autograd.grad(y, x)
    assert y.grad_fn.name() == "MultilabelMarginLossBackward0"
    assert y.shape == () and grad.shape == (4,)
