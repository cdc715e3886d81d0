"""Activations: what they print and what they compute. The values are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises

#: at
POINTS = [-3.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.5]

#: how it is made, how it prints, its values at POINTS
ACTIVATIONS = [
    ("ReLU()", "ReLU()", [0.0, 0.0, 0.0, 0.0, 0.25, 1.0, 3.5]),
    ("ReLU(inplace=True)", "ReLU(inplace=True)", [0.0, 0.0, 0.0, 0.0, 0.25, 1.0, 3.5]),
    ("ReLU6()", "ReLU6()", [0.0, 0.0, 0.0, 0.0, 0.25, 1.0, 3.5]),
    (
        "LeakyReLU()",
        "LeakyReLU(negative_slope=0.01)",
        [-0.035, -0.01, -0.0025, 0.0, 0.25, 1.0, 3.5],
    ),
    (
        "LeakyReLU(0.2, inplace=True)",
        "LeakyReLU(negative_slope=0.2, inplace=True)",
        [-0.7, -0.2, -0.05, 0.0, 0.25, 1.0, 3.5],
    ),
    ("PReLU()", "PReLU(num_parameters=1)", [-0.875, -0.25, -0.0625, 0.0, 0.25, 1.0, 3.5]),
    (
        "RReLU(0.1, 0.2).eval()",
        "RReLU(lower=0.1, upper=0.2)",
        [-0.525, -0.15, -0.0375, 0.0, 0.25, 1.0, 3.5],
    ),
    ("ELU()", "ELU(alpha=1.0)", [-0.9698026166, -0.6321205588, -0.2211992169, 0.0, 0.25, 1.0, 3.5]),
    (
        "ELU(2.0, inplace=True)",
        "ELU(alpha=2.0, inplace=True)",
        [-1.939605233, -1.264241118, -0.4423984339, 0.0, 0.25, 1.0, 3.5],
    ),
    (
        "SELU()",
        "SELU()",
        [-1.705009341, -1.111330738, -0.3888901975, 0.0, 0.2626752468, 1.050700987, 3.677453456],
    ),
    (
        "SELU(inplace=True)",
        "SELU(inplace=True)",
        [-1.705009341, -1.111330738, -0.3888901975, 0.0, 0.2626752468, 1.050700987, 3.677453456],
    ),
    (
        "CELU()",
        "CELU(alpha=1.0)",
        [-0.9698026166, -0.6321205588, -0.2211992169, 0.0, 0.25, 1.0, 3.5],
    ),
    (
        "CELU(2.0)",
        "CELU(alpha=2.0)",
        [-1.652452113, -0.7869386806, -0.2350061948, 0.0, 0.25, 1.0, 3.5],
    ),
    (
        "GELU()",
        "GELU(approximate='none')",
        [
            -0.0008142017766,
            -0.1586552539,
            -0.1003234186,
            0.0,
            0.1496765814,
            0.8413447461,
            3.499185798,
        ],
    ),
    (
        'GELU(approximate="tanh")',
        "GELU(approximate='tanh')",
        [
            -0.0006161976554,
            -0.1588080094,
            -0.1003246493,
            0.0,
            0.1496753507,
            0.8411919906,
            3.499383802,
        ],
    ),
    (
        "SiLU()",
        "SiLU()",
        [-0.1025928076, -0.2689414214, -0.1094558748, 0.0, 0.1405441252, 0.7310585786, 3.397407192],
    ),
    (
        "SiLU(inplace=True)",
        "SiLU(inplace=True)",
        [-0.1025928076, -0.2689414214, -0.1094558748, 0.0, 0.1405441252, 0.7310585786, 3.397407192],
    ),
    (
        "Mish()",
        "Mish()",
        [-0.1040957545, -0.3034014614, -0.1299269637, 0.0, 0.1695724097, 0.8650983883, 3.493990715],
    ),
    (
        "Mish(inplace=True)",
        "Mish(inplace=True)",
        [-0.1040957545, -0.3034014614, -0.1299269637, 0.0, 0.1695724097, 0.8650983883, 3.493990715],
    ),
    (
        "Hardswish()",
        "Hardswish()",
        [-0.0, -0.3333333333, -0.1145833333, 0.0, 0.1354166667, 0.6666666667, 3.5],
    ),
    (
        "Hardswish(inplace=True)",
        "Hardswish()",
        [-0.0, -0.3333333333, -0.1145833333, 0.0, 0.1354166667, 0.6666666667, 3.5],
    ),
    (
        "Softplus()",
        "Softplus(beta=1.0, threshold=20.0)",
        [
            0.02975041827,
            0.3132616875,
            0.5759394199,
            0.6931471806,
            0.8259394199,
            1.313261688,
            3.529750418,
        ],
    ),
    (
        "Softplus(2.0, threshold=1.5)",
        "Softplus(beta=2.0, threshold=1.5)",
        [0.0004557332269, 0.06346400552, 0.2370384921, 0.3465735903, 0.4870384921, 1.0, 3.5],
    ),
    (
        "Sigmoid()",
        "Sigmoid()",
        [0.02931223075, 0.2689414214, 0.4378234991, 0.5, 0.5621765009, 0.7310585786, 0.9706877692],
    ),
    (
        "Tanh()",
        "Tanh()",
        [-0.9981778976, -0.761594156, -0.2449186624, 0.0, 0.2449186624, 0.761594156, 0.9981778976],
    ),
    (
        "LogSigmoid()",
        "LogSigmoid()",
        [
            -3.529750418,
            -1.313261688,
            -0.8259394199,
            -0.6931471806,
            -0.5759394199,
            -0.3132616875,
            -0.02975041827,
        ],
    ),
    ("Softsign()", "Softsign()", [-0.7777777778, -0.5, -0.2, 0.0, 0.2, 0.5, 0.7777777778]),
    (
        "Tanhshrink()",
        "Tanhshrink()",
        [
            -2.501822102,
            -0.238405844,
            -0.005081337596,
            0.0,
            0.005081337596,
            0.238405844,
            2.501822102,
        ],
    ),
    (
        "Hardsigmoid()",
        "Hardsigmoid()",
        [0.0, 0.3333333333, 0.4583333333, 0.5, 0.5416666667, 0.6666666667, 1.0],
    ),
    (
        "Hardsigmoid(inplace=True)",
        "Hardsigmoid()",
        [0.0, 0.3333333333, 0.4583333333, 0.5, 0.5416666667, 0.6666666667, 1.0],
    ),
    ("Hardtanh()", "Hardtanh(min_val=-1.0, max_val=1.0)", [-1.0, -1.0, -0.25, 0.0, 0.25, 1.0, 1.0]),
    (
        "Hardtanh(-2.0, 0.5, inplace=True)",
        "Hardtanh(min_val=-2.0, max_val=0.5, inplace=True)",
        [-2.0, -1.0, -0.25, 0.0, 0.25, 0.5, 0.5],
    ),
    (
        "Threshold(0.5, 20.0)",
        "Threshold(threshold=0.5, value=20.0)",
        [20.0, 20.0, 20.0, 20.0, 20.0, 1.0, 3.5],
    ),
    (
        "Threshold(0.5, 20.0, inplace=True)",
        "Threshold(threshold=0.5, value=20.0, inplace=True)",
        [20.0, 20.0, 20.0, 20.0, 20.0, 1.0, 3.5],
    ),
    ("Hardshrink()", "Hardshrink(0.5)", [-3.5, -1.0, 0.0, 0.0, 0.0, 1.0, 3.5]),
    ("Softshrink(0.3)", "Softshrink(0.3)", [-3.2, -0.7, -0.0, 0.0, 0.0, 0.7, 3.2]),
    (
        "Softmax(dim=0)",
        "Softmax(dim=0)",
        [
            0.0007684861313,
            0.009362077653,
            0.01981951855,
            0.02544876556,
            0.0326768618,
            0.06917691698,
            0.8427473733,
        ],
    ),
    (
        "LogSoftmax(dim=-1)",
        "LogSoftmax(dim=-1)",
        [
            -7.171088042,
            -4.671088042,
            -3.921088042,
            -3.671088042,
            -3.421088042,
            -2.671088042,
            -0.1710880417,
        ],
    ),
    (
        "Softmin(dim=0)",
        "Softmin(dim=0)",
        [
            0.8427473733,
            0.06917691698,
            0.0326768618,
            0.02544876556,
            0.01981951855,
            0.009362077653,
            0.0007684861313,
        ],
    ),
]


@pytest.mark.parametrize(("made", "printed", "expected"), ACTIVATIONS)
def test_it_prints_and_computes_as_in_pytorch(made, printed, expected):
    module = eval("nn." + made, {"nn": nn}).to(torch.float64)
    x = torch.tensor(POINTS, dtype=torch.float64)
    y = module(x)
    assert repr(module) == printed
    assert y.tolist() == pytest.approx(expected, rel=1e-9)
    assert (y is x) == ("inplace=True" in made)


@pytest.mark.parametrize(("made", "printed", "expected"), ACTIVATIONS)
def test_gradients_are_those_of_central_differences(made, printed, expected):
    module = eval("nn." + made.replace("inplace=True", "inplace=False"), {"nn": nn})
    module = module.to(torch.float64).requires_grad_(False)
    points = torch.tensor([-3.4, -1.1, -0.2, 0.2, 1.1, 3.4], dtype=torch.float64)
    x = points.clone().requires_grad_()
    weights = torch.linspace(0.5, 2.0, 6, dtype=torch.float64)
    (module(x) * weights).sum().backward()
    for i in range(6):
        step = torch.zeros(6, dtype=torch.float64)
        step[i] = 1e-6
        rise = ((module(points + step) - module(points - step)) * weights).sum() / 2e-6
        assert x.grad[i].item() == pytest.approx(rise.item(), abs=1e-7)


def test_a_random_rectifier_draws_slopes_in_training():
    torch.manual_seed(0)
    y = nn.RReLU()(-torch.ones(6))
    expected = [-0.3271, -0.2725, -0.2207, -0.3168, -0.2594, -0.2898]
    assert y.tolist() == pytest.approx(expected, abs=1e-4)


def test_slopes_for_each_channel_are_learned():
    module = nn.PReLU(2, init=0.5)
    x = torch.tensor([[-1.0, -2.0]])
    module(x).sum().backward()
    assert module.weight.grad.tolist() == [-1.0, -2.0]
    message = (
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 3 and "
        "channel size = 4."
    )
    with raises(RuntimeError, message):
        nn.PReLU(3)(torch.ones(2, 4))


def test_without_an_axis_softmax_chooses_and_warns():
    message = "Implicit dimension choice for softmax has been deprecated"
    with pytest.warns(UserWarning, match=message) as told:
        y = nn.Softmax()(torch.zeros(2, 4))
        nn.functional.softmax(torch.zeros(2, 4))
    assert y.sum(1).tolist() == [1.0, 1.0]
    assert [each.filename for each in told] == [__file__] * 2


def test_softmax2d_is_over_channels():
    assert nn.Softmax2d()(torch.zeros(1, 4, 1, 2)).sum(1).tolist() == [[[1.0, 1.0]]]
    message = "Softmax2d: expected input to be 3D or 4D, got 1D instead"
    with raises(ValueError, message):
        nn.Softmax2d()(torch.ones(2))


def test_a_gated_unit_needs_two_halves():
    assert nn.GLU(0)(torch.tensor([2.0, 4.0, 0.0, 0.0])).tolist() == [1.0, 2.0]
    message = "Halving dimension must be even, but dimension 0 is size 3"
    with raises(RuntimeError, message):
        nn.GLU()(torch.ones(3))


def test_bounds_are_in_order():
    with raises(AssertionError, "max_val (1) must be greater than min_val (2)"):
        nn.Hardtanh(2, 1)


def test_an_unknown_approximation_is_refused():
    with raises(RuntimeError, "approximate argument must be either none or tanh."):
        nn.GELU("bad")(torch.ones(1))
