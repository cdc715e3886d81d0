"""torch.special: polynomials, Bessel and Airy functions, against PyTorch 2.13 and SciPy."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises

S = torch.special

POLYNOMIALS = {  # of degree 3 and 9, at -1, 1/4, 1, 2
    "chebyshev_polynomial_t": ([-1, -0.6875, 1, 26], [-1, 0.762695313, 1, 70226]),
    "chebyshev_polynomial_u": ([-4, -0.875, 4, 56], [-10, 0.595703125, 10, 151316]),
    "chebyshev_polynomial_v": ([-7, -0.125, 1, 41], [-19, 1.263671875, 1, 110771]),
    "chebyshev_polynomial_w": ([-1, -1.625, 7, 71], [-1, -0.072265625, 19, 191861]),
    "hermite_polynomial_h": ([4, -2.875, -4, 40], [10720, 6346.689453125, -10720, 46144]),
    "hermite_polynomial_he": ([2, -0.734375, -2, 2], [-28, 216.929447174, 28, -190]),
    "laguerre_polynomial_l": (
        [5.666666667, 0.341145833, -0.666666667, -0.333333333],
        [48.424035494, -0.324239528, 0.309744268, 0.008112875],
    ),
    "legendre_polynomial_p": ([-1, -0.3359375, 1, 17], [-1, 0.176824421, 1, 27100.671875]),
    "shifted_chebyshev_polynomial_t": ([-99, 1, 1, 99], [-3880899, 1, 1, 3880899]),
    "shifted_chebyshev_polynomial_u": ([-204, 1, 4, 204], [-7997214, 1, 10, 7997214]),
    "shifted_chebyshev_polynomial_v": ([-239, 1, 1, 169], [-9369319, 1, 1, 6625109]),
    "shifted_chebyshev_polynomial_w": ([-169, 1, 7, 239], [-6625109, 1, 19, 9369319]),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orthogonal_polynomials(name):
    polynomial = getattr(S, name)
    x = torch.tensor([-1.0, 0.25, 1, 2]).double()
    for degree, values in zip((3, 9), POLYNOMIALS[name], strict=True):
        assert polynomial(x, degree).tolist() == pytest.approx(values, rel=1e-8, abs=1e-9)
    degrees = torch.tensor([-1.0, 0, 0.5, float("nan")])
    assert polynomial(0.3, degrees).tolist() == [0, 1, 1, 0]
    assert polynomial(torch.tensor([1, 2]), 2).dtype is torch.float32
    with raises(
        TypeError,
        f"special_{name}() received an invalid combination of arguments - got (float, int), but "
        "expected one of:\n * (Tensor x, Tensor n, *, Tensor out = None)\n"
        " * (Number x, Tensor n, *, Tensor out = None)\n"
        " * (Tensor x, Number n, *, Tensor out = None)\n",
    ):
        polynomial(0.3, 2)


@pytest.mark.parametrize("kind", "tuvw")
def test_chebyshev_polynomials_by_angle_and_by_recurrence_agree(kind):
    polynomial = getattr(S, f"chebyshev_polynomial_{kind}")
    x = torch.linspace(-1, 1, 9, dtype=torch.float64)
    by_angle = polynomial(x, 7)
    by_recurrence = 2 * x * polynomial(x, 6) - polynomial(x, 5)
    assert by_angle.tolist() == pytest.approx(by_recurrence.tolist(), abs=1e-12)


def test_bessel_and_airy_functions():
    x = torch.tensor([0.5, 2, 20]).double()
    for name, values in {
        "scaled_modified_bessel_k0": [1.524109386, 0.841568215, 0.278544877],
        "scaled_modified_bessel_k1": [2.731009708, 1.033476847, 0.285425497],
        "spherical_bessel_j0": [0.958851077, 0.454648713, 0.045647263],
    }.items():
        assert getattr(S, name)(x).tolist() == pytest.approx(values, rel=1e-8, abs=1e-9)
    assert S.modified_bessel_k0(x).tolist()[:2] == pytest.approx([0.924419071, 0.113893873])
    assert S.modified_bessel_k1(x).tolist()[:2] == pytest.approx([1.65644112, 0.139865882])
    airy = S.airy_ai(torch.tensor([-1.0, 0, 1, 3]).double()).tolist()
    assert airy == pytest.approx([0.535560883, 0.355028054, 0.135292416, 0.006591139], rel=1e-7)


def test_bessel_functions_are_accurate_where_pytorchs_are_not():
    x = torch.tensor(5.116, dtype=torch.float64)
    for name, value in {  # by series in 40 digits
        "bessel_j0": -0.13893140923607597,
        "bessel_j1": -0.3383055384881698,
        "bessel_y0": -0.3233781847806151,
        "bessel_y1": 0.1082288364755795,
    }.items():
        assert getattr(S, name)(x).item() == pytest.approx(value, rel=1e-13)


def test_names_shared_with_torch():
    x = torch.tensor([[1.0, 2.0]])
    assert S.softmax(x, 1, dtype=torch.float64).dtype is torch.float64
    assert torch.equal(S.log_softmax(x, 1), torch.log_softmax(x, 1))
    assert torch.equal(S.logsumexp(x, 1), torch.logsumexp(x, 1))
    assert not S.airy_ai(x.requires_grad_()).requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_gradient_of_log_ndtr_far_below_zero(dtype):
    x = torch.tensor([-1e19, -1e10, -1e5], dtype=dtype, requires_grad=True)
    torch.special.log_ndtr(x).sum().backward()
    assert torch.allclose(x.grad, -x.detach())


NARROW = ("airy_ai", "bessel_j1", "modified_bessel_k0", "erfcx", "ndtri", "log_ndtr")


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize(
    ("dtype", "kind"), [(torch.half, "Half"), (torch.bfloat16, "BFloat16"), (torch.cfloat, "Comp")]
)
def test_functions_that_are_made_for_single_and_double_precision(name, dtype, kind):
    with pytest.raises(NotImplementedError, match=f'"{name}_cpu" not implemented for \'{kind}'):
        getattr(torch.special, name)(torch.ones(2, dtype=dtype))


@pytest.mark.parametrize("name", ["chebyshev_polynomial_t", "hermite_polynomial_he", "zeta"])
@pytest.mark.parametrize(("dtype", "kind"), [(torch.half, "Half"), (torch.cfloat, "ComplexFloat")])
def test_two_operands_are_of_single_or_double_precision(name, dtype, kind):
    function = getattr(torch.special, name)
    x = torch.ones(2, dtype=dtype)
    for operands in ((x, x), (x, 2), (2, x)):
        with pytest.raises(NotImplementedError, match=f'"{name}_cpu" not implemented for \'{kind}'):
            function(*operands)
    if dtype is torch.half:
        assert function(x, torch.ones(2)).dtype is torch.float32


def test_xlog1py_is_not_made_for_complex_numbers():
    with pytest.raises(NotImplementedError, match='"xlog1py_cpu" not implemented for \'Complex'):
        torch.special.xlog1py(torch.ones(2, dtype=torch.cfloat), 2)


def test_a_multivariate_gamma_of_too_many_steps_says_that_memory_ends():
    with pytest.raises(RuntimeError, match="can't allocate memory: you tried to allocate 4000000"):
        torch.mvlgamma(torch.ones(3), 10**15)
    many = torch.mvlgamma(torch.full((1,), 6000.0, dtype=torch.float64), 10_000)
    each = sum(math.lgamma(6000 - i / 2) for i in range(10_000))
    assert many.item() == pytest.approx(each + 10_000 * 9_999 / 4 * math.log(math.pi))


def test_functions_of_a_number_and_a_tensor_have_nodes_of_their_own():
    x = torch.tensor([1.5, 3.0], requires_grad=True)
    for name, text in (("xlog1py", "SpecialXlog1Py"), ("zeta", "SpecialZeta")):
        function = getattr(torch.special, name)
        results = function(x, x), function(2, x), function(x, 2)
        assert [y.grad_fn.name() for y in results] == [f"{text}Backward{i}" for i in range(3)]
        twos = torch.tensor([2.0, 2.0])
        assert torch.equal(results[1], function(twos, x)) and torch.equal(
            results[2], function(x, twos)
        )
    (slope,) = torch.autograd.grad(torch.special.xlog1py(2, x).sum(), x)
    assert torch.allclose(slope, 2 / (x + 1))
    (slope,) = torch.autograd.grad(torch.special.zeta(2, x).sum(), x)
    assert torch.allclose(slope, -2 * torch.special.zeta(3, x))
