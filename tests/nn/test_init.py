"""Initialisation: PyTorch's numbers for the same seed."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import init
from tests.messages import raises

#: function, shape, further arguments, the elements from seed 0
FILLED = [
    (
        "uniform_",
        (2, 3),
        "",
        [0.49625659, 0.7682218, 0.088477433, 0.13203049, 0.30742282, 0.63407868],
    ),
    ("uniform_", (2,), "-2.0, 3.0", [0.48128295, 1.841109]),
    (
        "normal_",
        (2, 3),
        "",
        [1.5409961, -0.2934289, -2.1787894, 0.56843126, -1.0845224, -1.3985955],
    ),
    (
        "normal_",
        (5, 4),
        "1.0, 0.5",
        [
            0.43708009,
            0.4238199,
            0.87471068,
            0.78306061,
            1.2994198,
            0.22245246,
            0.82931983,
            1.9265031,
            1.2340482,
            0.92114377,
            1.7218301,
            1.1330247,
            1.6946831,
            1.7931671,
            1.4731492,
            0.5781616,
            1.4659133,
            1.6295047,
            2.0024903,
            1.0268685,
        ],
    ),
    (
        "trunc_normal_",
        (2, 3),
        "",
        [1.5409961, -0.2934289, -0.71925759, 0.56843126, -1.0845224, -1.3985955],
    ),
    (
        "trunc_normal_",
        (4,),
        "0.0, 1.0, -0.1, 0.1",
        [-0.00074868201, 0.053644359, -0.082304515, -0.073593907],
    ),
    ("trunc_normal_", (4,), "1.0, 2.0, 5.5, 7.0", [6.2443848, 6.4484596, 5.6327162, 5.5542474]),
    ("constant_", (2,), "3.5", [3.5, 3.5]),
    ("ones_", (2,), "", [1.0, 1.0]),
    ("zeros_", (2,), "", [0.0, 0.0]),
    ("eye_", (2, 3), "", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
    (
        "dirac_",
        (3, 2, 3),
        "",
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ),
    (
        "dirac_",
        (4, 2, 3),
        "groups=2",
        [
            0.0,
            1.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            1.0,
            0.0,
            0.0,
            1.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            1.0,
            0.0,
        ],
    ),
    (
        "xavier_uniform_",
        (2, 3),
        "",
        [-0.0082014007, 0.58764452, -0.90160078, -0.80618083, -0.42191547, 0.29375169],
    ),
    (
        "xavier_uniform_",
        (2, 1, 3),
        "gain=2.0",
        [-0.012225927, 0.87600875, -1.3440272, -1.2017834, -0.62895447, 0.43789914],
    ),
    (
        "xavier_normal_",
        (2, 3),
        "",
        [0.97461152, -0.18558073, -1.3779874, 0.3595075, -0.68591213, -0.88454938],
    ),
    (
        "kaiming_uniform_",
        (2, 3),
        "",
        [-0.010587962, 0.75864577, -1.1639615, -1.0407749, -0.54469049, 0.37923178],
    ),
    (
        "kaiming_uniform_",
        (2, 3),
        "a=5**0.5",
        [-0.0043225177, 0.30971584, -0.47518533, -0.4248946, -0.22236897, 0.15482073],
    ),
    (
        "kaiming_uniform_",
        (2, 3),
        "mode='fan_out', nonlinearity='relu'",
        [-0.012967553, 0.92914754, -1.4255559, -1.2746837, -0.66710693, 0.46446216],
    ),
    (
        "kaiming_normal_",
        (2, 3),
        "",
        [1.2582181, -0.2395837, -1.7789741, 0.46412221, -0.88550878, -1.1419483],
    ),
    (
        "orthogonal_",
        (2, 3),
        "",
        [0.57398093, -0.10929461, -0.81154215, -0.34541512, -0.93088269, -0.11893554],
    ),
    (
        "orthogonal_",
        (3, 2),
        "gain=2.0",
        [1.069905, -0.33986017, -1.5127217, 0.68036765, -0.75297797, -1.8497554],
    ),
    ("orthogonal_", (2, 1, 2), "", [0.5774399, 0.81643307, -0.81643307, 0.57744002]),
    (
        "sparse_",
        (4, 2),
        "sparsity=0.4",
        [0.0, -0.0029342892, 0.0, 0.0, -0.010845223, -0.013985954, 0.0040334687, 0.0],
    ),
    (
        "sparse_",
        (4, 2),
        "0.1, std=2.0",
        [0.0, -0.5868578, -4.3575788, 0.0, -2.1690447, -2.7971909, 0.80669367, 1.6760527],
    ),
]


@pytest.mark.parametrize(("name", "shape", "arguments", "expected"), FILLED)
def test_the_seed_gives_pytorchs_numbers(seed, name, shape, arguments, expected):
    tensor = torch.empty(shape)
    far = "warn" if "5.5" in arguments else "error"
    if far == "warn":
        with pytest.warns(UserWarning, match="mean is more than 2 std from"):
            result = eval(f"init.{name}(tensor, {arguments})")
    else:
        result = eval(f"init.{name}(tensor, {arguments})")
    assert result is tensor
    assert tensor.flatten().tolist() == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_the_default_of_linear_is_pytorchs(seed):
    layer = nn.Linear(3, 2)
    weight = [-0.0043225177, 0.30971584, -0.47518533, -0.4248946, -0.22236897, 0.15482073]
    assert layer.weight.flatten().tolist() == pytest.approx(weight)
    assert layer.bias.tolist() == pytest.approx([-0.011439145, 0.45777494])


def test_the_default_of_bilinear_is_pytorchs(seed):
    layer = nn.Bilinear(1, 2, 2)
    weight = [-0.0074868202, 0.53644359, -0.82304513, -0.73593903]
    assert layer.weight.flatten().tolist() == pytest.approx(weight)
    assert layer.bias.tolist() == pytest.approx([-0.38515437, 0.26815736])


def test_a_generator_of_ones_own_is_used():
    made = init.kaiming_uniform_(torch.empty(2, 3), generator=torch.Generator().manual_seed(4))
    expected = [0.1687, 0.1671, -1.1555, -0.8202, -1.3939, -1.3040]
    assert made.flatten().tolist() == pytest.approx(expected, abs=1e-4)


def test_parameters_are_filled_without_being_recorded():
    p = nn.Parameter(torch.empty(2, 2))
    for fill in (init.zeros_, init.xavier_normal_, init.orthogonal_, init.eye_, init.trunc_normal_):
        assert fill(p) is p
        assert p.is_leaf
        assert p.requires_grad


@pytest.mark.parametrize(
    ("nonlinearity", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv2d", None, 1),
        ("sigmoid", None, 1),
        ("tanh", None, 1.6666666666666667),
        ("relu", None, 1.4142135623730951),
        ("selu", None, 0.75),
        ("leaky_relu", None, 1.4141428569978354),
        ("leaky_relu", 0.1, 1.4071950894605838),
        ("leaky_relu", 1, 1.0),
    ],
)
def test_gains_are_known(nonlinearity, param, gain):
    assert init.calculate_gain(nonlinearity, param) == gain


def test_gains_that_are_not_known_are_refused():
    with raises(ValueError, "Unsupported nonlinearity foo"):
        init.calculate_gain("foo")
    with raises(ValueError, "negative_slope True not a valid number"):
        init.calculate_gain("leaky_relu", True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: init.xavier_uniform_(torch.empty(4)),
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
        ),
        (
            lambda: init.kaiming_uniform_(torch.empty(2, 3), mode="bad"),
            "Mode bad not supported, please use one of ['fan_in', 'fan_out']",
        ),
        (
            lambda: init.orthogonal_(torch.empty(4)),
            "Only tensors with 2 or more dimensions are supported",
        ),
        (lambda: init.eye_(torch.empty(4)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.sparse_(torch.empty(4), 0.1), "Only tensors with 2 dimensions are supported"),
        (
            lambda: init.dirac_(torch.empty(4, 2)),
            "Only tensors with 3, 4, or 5 dimensions are supported",
        ),
        (lambda: init.dirac_(torch.empty(3, 2, 3), 2), "dim 0 must be divisible by groups"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call, message):
    with raises(ValueError, message):
        call()


def test_an_empty_tensor_is_left_alone_with_a_warning():
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        init.kaiming_uniform_(torch.empty(0, 3))


def test_old_names_warn():
    message = r"`nn.init.uniform` is now deprecated in favor of `nn.init.uniform_`."
    with pytest.warns(FutureWarning, match=message):
        init.uniform(torch.empty(2))


def test_truncation_holds_for_every_bound(rng):
    for a, b in ((-2.0, 2.0), (-0.1, 0.1), (1.9, 2.0), (-0.1, 9.0)):
        drawn = init.trunc_normal_(torch.empty(1000), a=a, b=b)
        assert a <= drawn.min().item()
        assert drawn.max().item() <= b


def test_names_that_other_packages_call_fill_without_recording():
    init = torch.nn.init
    weight = torch.nn.Parameter(torch.zeros(3))
    assert init._no_grad_uniform_(weight, 2, 3) is weight and weight.min() >= 2
    assert init._no_grad_fill_(weight, 5.0).tolist() == [5, 5, 5]
    assert weight.grad_fn is None
