"""Losses. The values and messages are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises
from tests.operators.waves import cosines, sines

X = torch.tensor([[0.5, -1.0, 2.0], [0.25, 0.75, -0.5]], dtype=torch.float64)


Y = torch.tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 1.0]], dtype=torch.float64)


NAMES = {
    "nn": nn,
    "x": X,
    "y": Y,
    "p": torch.sigmoid(X),
    "lp": torch.log_softmax(X, 1),
    "c": torch.tensor([2, 0]),
    "w": torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64),
}


#: class, arguments, input, target, values for the reductions mean, sum and none
LOSSES = [
    ("L1Loss", "", "x", "y", [[0.8333333333], [5.0], [0.5, 1.0, 1.5, 0.25, 0.25, 1.5]]),
    ("MSELoss", "", "x", "y", [[0.9791666667], [5.875], [0.25, 1.0, 2.25, 0.0625, 0.0625, 2.25]]),
    (
        "SmoothL1Loss",
        "beta=0.5",
        "x",
        "y",
        [[0.6041666667], [3.625], [0.25, 0.75, 1.25, 0.0625, 0.0625, 1.25]],
    ),
    (
        "HuberLoss",
        "delta=0.5",
        "x",
        "y",
        [[0.3020833333], [1.8125], [0.125, 0.375, 0.625, 0.03125, 0.03125, 0.625]],
    ),
    ("NLLLoss", "", "lp", "c", [[0.6897464495], [1.379492899], [0.2413112967, 1.138181602]]),
    ("NLLLoss", "w", "lp", "c", [[0.4206853578], [1.051713395], [0.4826225933, 0.5690908012]]),
    ("NLLLoss", "ignore_index=2", "lp", "c", [[1.138181602], [1.138181602], [0.0, 1.138181602]]),
    (
        "CrossEntropyLoss",
        "",
        "x",
        "c",
        [[0.6897464495], [1.379492899], [0.2413112967, 1.138181602]],
    ),
    (
        "CrossEntropyLoss",
        "w, label_smoothing=0.1",
        "x",
        "c",
        [[0.5063264907], [1.265816227], [0.5875133186, 0.678302908]],
    ),
    ("CrossEntropyLoss", "", "x", "y", [[2.194165075], [4.38833015], [1.861966945, 2.526363205]]),
    (
        "BCELoss",
        "",
        "p",
        "y",
        [
            [0.6835256822],
            [4.101154093],
            [0.4740769842, 0.3132616875, 1.126928011, 0.8259394199, 0.3868710061, 0.9740769842],
        ],
    ),
    (
        "BCELoss",
        "w",
        "p",
        "y",
        [
            [0.925358481],
            [5.552150886],
            [0.2370384921, 0.3132616875, 2.253856022, 0.4129697099, 0.3868710061, 1.948153968],
        ],
    ),
    (
        "BCEWithLogitsLoss",
        "",
        "x",
        "y",
        [
            [0.6835256822],
            [4.101154093],
            [0.4740769842, 0.3132616875, 1.126928011, 0.8259394199, 0.3868710061, 0.9740769842],
        ],
    ),
    (
        "BCEWithLogitsLoss",
        "pos_weight=w",
        "x",
        "y",
        [
            [0.8169427651],
            [4.901656591],
            [0.2370384921, 0.3132616875, 1.190392017, 0.8259394199, 0.3868710061, 1.948153968],
        ],
    ),
    (
        "KLDivLoss",
        "",
        "lp",
        "y",
        [
            [0.6736260933],
            [4.04175656],
            [1.741311297, 0.0, -0.225917942, 0.0, 0.6381816024, 1.888181602],
        ],
    ),
    (
        "KLDivLoss",
        "log_target=True",
        "lp",
        "lp * 2",
        [
            [-0.09092816364],
            [-0.5455689818],
            [
                -0.05350478739,
                -0.00495853659,
                -0.1489283316,
                -0.1168421616,
                -0.1780847715,
                -0.04325039321,
            ],
        ],
    ),
]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize(("name", "arguments", "input", "target", "expected"), LOSSES)
def test_each_reduction_gives_what_pytorch_gives(name, arguments, input, target, expected):
    for reduction, values in zip(("mean", "sum", "none"), expected, strict=True):
        module = eval(f"nn.{name}({arguments or 'None'}, reduction={reduction!r})", NAMES)
        loss = module(eval(input, NAMES), eval(target, NAMES))
        assert loss.flatten().tolist() == pytest.approx(values, rel=1e-9)


def test_they_print_their_name_only():
    assert repr(nn.CrossEntropyLoss(torch.ones(2))) == "CrossEntropyLoss()"
    assert repr(nn.MSELoss(reduction="sum")) == "MSELoss()"


def test_weights_are_part_of_the_state():
    assert list(nn.CrossEntropyLoss(torch.ones(2)).state_dict()) == ["weight"]
    assert list(nn.BCEWithLogitsLoss(pos_weight=torch.ones(2)).state_dict()) == ["pos_weight"]
    assert list(nn.NLLLoss().state_dict()) == []


def test_the_arguments_before_reduction_still_count_and_warn():
    for options, reduction in (
        ({"size_average": False}, "sum"),
        ({"size_average": True, "reduce": True}, "mean"),
        ({"reduce": False}, "none"),
    ):
        message = f"please use reduction='{reduction}' instead"
        with pytest.warns(UserWarning, match=message):
            assert nn.L1Loss(**options).reduction == reduction


def test_shapes_that_differ_warn():
    message = r"Using a target size \(torch.Size\(\[2\]\)\) that is different to the input size"
    with pytest.warns(UserWarning, match=message):
        nn.MSELoss()(torch.ones(2, 1), torch.ones(2))


@pytest.mark.parametrize(
    ("loss", "input", "target", "error", "message"),
    [
        (
            nn.MSELoss(reduction="bad"),
            torch.ones(2),
            torch.ones(2),
            ValueError,
            "bad is not a valid value for reduction",
        ),
        (
            nn.CrossEntropyLoss(),
            torch.ones(2, 3),
            torch.tensor([0, 3]),
            IndexError,
            "Target 3 is out of bounds.",
        ),
        (
            nn.CrossEntropyLoss(),
            torch.ones(2, 3),
            torch.tensor([0, 1, 2]),
            ValueError,
            "Expected input batch_size (2) to match target batch_size (3).",
        ),
        (
            nn.CrossEntropyLoss(),
            torch.ones(2, 3),
            torch.tensor([0.0, 1.0]),
            RuntimeError,
            "expected target dtype to be Long or Byte, but got Float",
        ),
        (
            nn.CrossEntropyLoss(label_smoothing=2.0),
            torch.ones(2, 3),
            torch.tensor([0, 1]),
            RuntimeError,
            "label_smoothing must be between 0.0 and 1.0. Got: 2",
        ),
        (
            nn.BCEWithLogitsLoss(),
            torch.ones(2),
            torch.ones(3),
            ValueError,
            "Target size (torch.Size([3])) must be the same as input size (torch.Size([2]))",
        ),
        (
            nn.BCELoss(),
            torch.ones(2) * 2,
            torch.ones(2),
            RuntimeError,
            "all elements of input should be between 0 and 1",
        ),
        (
            nn.HuberLoss(delta=0),
            torch.ones(2),
            torch.ones(2),
            RuntimeError,
            "huber_loss does not support non-positive values for delta.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(loss, input, target, error, message):
    with raises(error, message):
        loss(input, target)


def test_weights_of_classes_have_no_gradient():
    message = (
        "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. "
        "This input cannot have requires_grad True."
    )
    loss = nn.CrossEntropyLoss(torch.ones(3, requires_grad=True))
    with raises(RuntimeError, message):
        loss(torch.ones(2, 3), torch.tensor([0, 1]))


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
