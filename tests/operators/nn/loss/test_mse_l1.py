"""The two older arguments of losses, `size_average` and `reduce`: anything true or false."""

import warnings

import pytest

import tapegrad as torch

F, nn = torch.nn.functional, torch.nn

X = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
SIGNS = torch.tensor([1.0, -1.0])
CLASSES = torch.tensor([0, 2])
LABELS = torch.tensor([[0, 1, -1], [2, -1, 0]])
MARKS = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])

LOSSES = {
    "mse_loss": ("MSELoss", (X, MARKS)),
    "l1_loss": ("L1Loss", (X, MARKS)),
    "smooth_l1_loss": ("SmoothL1Loss", (X, MARKS)),
    "kl_div": ("KLDivLoss", (X.log(), X.flip(0))),
    "binary_cross_entropy": ("BCELoss", (X, MARKS)),
    "binary_cross_entropy_with_logits": ("BCEWithLogitsLoss", (X, MARKS)),
    "nll_loss": ("NLLLoss", (X.log(), CLASSES)),
    "cross_entropy": ("CrossEntropyLoss", (X, CLASSES)),
    "poisson_nll_loss": ("PoissonNLLLoss", (X, MARKS)),
    "soft_margin_loss": ("SoftMarginLoss", (X, MARKS * 2 - 1)),
    "hinge_embedding_loss": ("HingeEmbeddingLoss", (X, MARKS * 2 - 1)),
    "multilabel_margin_loss": ("MultiLabelMarginLoss", (X, LABELS)),
    "multilabel_soft_margin_loss": ("MultiLabelSoftMarginLoss", (X, MARKS)),
    "multi_margin_loss": ("MultiMarginLoss", (X, CLASSES)),
    "margin_ranking_loss": ("MarginRankingLoss", (X[:, 0], X[:, 1], SIGNS)),
    "cosine_embedding_loss": ("CosineEmbeddingLoss", (X, X + 0.1, SIGNS)),
    "triplet_margin_loss": ("TripletMarginLoss", (X, X + 0.1, X - 0.2)),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("older", "reduction"),
    [
        ({"size_average": 0}, "sum"),
        ({"size_average": 1}, "mean"),
        ({"reduce": 0}, "none"),
        ({"size_average": 1, "reduce": 0.0}, "none"),
        ({"size_average": 0, "reduce": 1}, "sum"),
        ({"size_average": torch.tensor(0)}, "sum"),
        ({"size_average": None, "reduce": ""}, "none"),
    ],
)
def test_older_arguments_are_true_or_false(name, older, reduction):
    module, args = LOSSES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the mean of kl_div
        wanted = getattr(F, name)(*args, reduction=reduction)
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        assert getattr(F, name)(*args, **older).tolist() == wanted.tolist()
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        layer = getattr(nn, module)(**older)
    assert layer.reduction == reduction
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert layer(*args).tolist() == wanted.tolist()


def test_they_stand_third_and_fourth():
    with pytest.warns(UserWarning):
        assert F.mse_loss(torch.ones(3), torch.zeros(3), 0).item() == 3
    with pytest.warns(UserWarning):
        assert F.l1_loss(torch.ones(3), torch.zeros(3), None, 0).tolist() == [1, 1, 1]


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_a_loss_has_the_dtype_of_its_input(reduction):
    x, y = torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.float64)
    for loss in (torch.nn.functional.huber_loss, torch.nn.functional.soft_margin_loss):
        assert loss(x, y, reduction=reduction).dtype is torch.float32
        assert loss(y, x, reduction=reduction).dtype is torch.float64
