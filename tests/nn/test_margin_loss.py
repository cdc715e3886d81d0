"""Losses with a margin and likelihoods, as modules, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.ops.waves import cosines, sines

nn = torch.nn
SIGNS = torch.tensor([1, -1, 1])


def near(values):
    return pytest.approx(values, abs=1e-8)


def test_each_passes_its_options_on():
    x, y = sines(3, 4), cosines(3, 4)
    cases = (
        (nn.MarginRankingLoss(0.3, reduction="none")(x, y, torch.ones(3, 4))[0, 0], 1.3),
        (nn.CosineEmbeddingLoss(0.1, reduction="none")(x, y, SIGNS)[1], 0.124843005),
        (nn.HingeEmbeddingLoss(reduction="sum")(x, torch.tensor([1, -1, -1, 1])), 5.650146138),
        (nn.TripletMarginLoss(swap=True, reduction="none")(x, y, x * 2)[0], 1.784564499),
        (nn.SoftMarginLoss()(x, torch.tensor([1.0, -1, 1, -1]).double()), 0.744359355),
        (nn.GaussianNLLLoss(full=True)(x, x * 2, y.exp()), 1.192613539),
        (nn.PoissonNLLLoss(full=True)(x, torch.arange(4.0).double()), 1.918860418),
        (nn.PoissonNLLLoss(log_input=False)(x.exp(), torch.arange(4.0).double()), 1.314888392),
    )
    for got, want in cases:
        assert got.item() == near(want)
    weight = torch.tensor([1.0, 2, 3, 4]).double()
    loss = nn.MultiMarginLoss(2, 0.7, weight, reduction="none")
    assert loss(x, torch.tensor([0, 3, 1])).tolist() == near([1.418363468, 0.0, 0.815670704])
    assert list(loss.state_dict()) == ["weight"]
    logp = sines(4, 3, 3).log_softmax(2)
    targets = torch.tensor([[1, 2], [1, 1], [2, 0]])
    loss = nn.CTCLoss(reduction="sum")(logp, targets, (4, 4, 3), (2, 2, 1))
    assert loss.item() == near(6.564765636)


def test_a_distance_that_is_a_module_is_part_of_the_loss():
    assert repr(nn.TripletMarginWithDistanceLoss()) == (
        "TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)"
    )
    loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
    assert repr(loss) == "TripletMarginWithDistanceLoss()"
    assert loss(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2)).item() == 1


def test_options_out_of_range_are_refused():
    message = "TripletMarginLoss: expected margin to be greater than 0, got 0 instead"
    with raises(ValueError, message):
        nn.TripletMarginLoss(margin=0)
    with raises(ValueError, "only p == 1 and p == 2 supported"):
        nn.MultiMarginLoss(p=3)
    message = "MultiMarginLoss: expected weight to be None or 1D tensor, got 2D instead"
    with raises(ValueError, message):
        nn.MultiMarginLoss(weight=torch.ones(2, 2))
