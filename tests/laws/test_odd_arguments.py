"""Arguments at the edge of what functions take: values and errors as observed from PyTorch."""

import numpy as np
import pytest

import tapegrad

NAN, INF = float("nan"), float("inf")
COMPLEX = tapegrad.tensor([1 + 1j, 2.0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.max(), NotImplementedError, "\"max_all\" not implemented for 'ComplexFloat'"),
        (lambda x: x.max(0), RuntimeError, "max(): does not support complex input"),
        (lambda x: x.argmin(), RuntimeError, "argmin(): does not support complex input"),
        (lambda x: x.sort(), RuntimeError, " Sort does not support complex dtypes on CPU"),
        (lambda x: x.median(0), NotImplementedError, '"median_out" not implemented for '),
        (
            lambda x: x.unique(),
            NotImplementedError,
            "\"unique\" not implemented for 'ComplexFloat'",
        ),
    ],
)
def test_complex_numbers_are_not_put_in_order(call, error, message):
    with pytest.raises(error) as caught:
        call(COMPLEX)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("function", ["sum", "softmax", "sort", "amax", "cumsum", "squeeze"])
def test_a_truth_value_is_no_dimension(function):
    with pytest.raises(TypeError):
        getattr(tapegrad, function)(tapegrad.ones(2, 2), True)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_of_a_narrow_dtype_keep_it(name):
    x = tapegrad.tensor([100, 2, 100], dtype=tapegrad.int8)
    found = getattr(x, name)(dtype=tapegrad.int8)
    assert found.dtype is tapegrad.int8 and found.item() == {"sum": -54, "prod": 32}[name]
    running = getattr(tapegrad, f"cum{name}")(x, 0, dtype=tapegrad.int32)
    assert running.dtype is tapegrad.int32


def test_nansum_into_integers_counts_nan_as_nothing():
    found = tapegrad.nansum(tapegrad.tensor([1.7, NAN]), dtype=tapegrad.int64)
    assert found.dtype is tapegrad.int64 and found.item() == 1


def test_all_and_any_over_no_dimension_look_at_each_element():
    x = tapegrad.tensor([0, 3])
    assert x.all(dim=()).tolist() == x.any(dim=()).tolist() == [False, True]


def test_the_median_of_all_shares_its_gradient_among_equals():
    x = tapegrad.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    assert type(x.nanmedian().grad_fn).__name__ == "NanmedianBackward0"
    assert tapegrad.zeros(0, dtype=tapegrad.int32).median().item() == -(2**31)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.nansum(),
        lambda x: x.amax(),
        lambda x: x.max(),
        lambda x: x.std(correction=0.5),
        lambda x: x.var(0),
        lambda x: x.logcumsumexp(0),
        lambda x: x.aminmax()[0],
        lambda x: x.index_add(0, tapegrad.tensor([0, 0]), x[:2], alpha=2).sum(),
    ],
)
def test_bfloat16_stays_bfloat16(function):
    x = tapegrad.tensor([1.0, 4.0, 2.0], dtype=tapegrad.bfloat16, requires_grad=True)
    y = function(x)
    assert y.dtype is tapegrad.bfloat16
    (grad,) = tapegrad.autograd.grad(y.sum(), x)
    assert grad.dtype is tapegrad.bfloat16


def test_running_sums_of_complex_exponentials_stay_logarithms():
    inf, nan = float("inf"), float("nan")
    for given, want in [
        ([200 + 1j, 200 + 2j, -200 + 3j], [200 + 1j, 200.562563 + 1.5j, 200.562563 + 1.5j]),
        ([complex(-inf, 1), 1 + 2j, complex(-inf, 3)], [complex(-inf, 0), 1 + 2j, 1 + 2j]),
        ([complex(inf, 1), 1j, complex(inf, 2)], [complex(inf, 1)] * 2 + [complex(inf, nan)]),
        ([1, complex(0, nan), 1], [1, complex(nan, nan), complex(nan, nan)]),
    ]:
        found = tapegrad.logcumsumexp(tapegrad.tensor(given, dtype=tapegrad.complex128), 0).numpy()
        want = np.array(want)
        np.testing.assert_allclose(found.real, want.real, rtol=1e-7)
        np.testing.assert_allclose(found.imag, want.imag, rtol=1e-7)


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_a_variance_without_degrees_of_freedom_warns(name):
    text = rf"^{name}\(\): degrees of freedom is <= 0. Correction should be strictly less than the"
    with pytest.warns(UserWarning, match=text) as caught:
        found = getattr(tapegrad, name)(tapegrad.ones(3, 1), 1)
    assert caught[0].filename == __file__
    assert (found[0] if type(found) is tuple else found).isnan().all()


def test_the_slope_of_a_norm_at_zero_has_no_slope():
    x = tapegrad.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    (slope,) = tapegrad.autograd.grad(x.norm(dim=1).sum(), x, create_graph=True)
    assert slope[0].tolist() == [0.0, 0.0]
    (second,) = tapegrad.autograd.grad(slope.sum(), x)
    assert second[0].isnan().all()
    np.testing.assert_allclose(second[1].numpy(), [0.032, -0.024], rtol=1e-6)


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_a_gradient_that_is_recorded_is_one_node(name):
    x = tapegrad.tensor([0.5], requires_grad=True)
    y = getattr(x, name)()
    (slope,) = tapegrad.autograd.grad(y, x, create_graph=True)
    node = slope.grad_fn
    assert node.name() == f"{name.capitalize()}BackwardBackward0"
    assert [each.name() for each, _ in node.next_functions if each] == [y.grad_fn.name()]


def test_a_mask_takes_one_number_of_any_smaller_dtype():
    x = tapegrad.zeros(3)
    x[tapegrad.tensor([True, False, True])] = tapegrad.tensor(2)
    x[True] = x + tapegrad.tensor([1, 1, 1])
    assert x.tolist() == [3.0, 1.0, 3.0]


def test_truth_values_of_numpy_are_no_index():
    with pytest.raises(IndexError, match=r"valid indices \(got numpy.bool\)"):
        tapegrad.zeros(3)[np.bool_(True)]


def test_a_number_without_dimensions_has_no_slices_to_write():
    x = tapegrad.tensor(1.0)
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor."):
        x[:] = 2.0
    assert x.item() == 1.0


def test_a_vector_takes_an_index_without_dimensions():
    x, at = tapegrad.zeros(3), tapegrad.tensor(1)
    assert x.scatter(0, at, tapegrad.tensor([5.0, 6.0])).tolist() == [0.0, 5.0, 0.0]
    assert x.scatter_add(0, at, tapegrad.tensor(5.0)).tolist() == [0.0, 5.0, 0.0]


def test_products_without_dimensions():
    two = tapegrad.tensor(2.0)
    assert tapegrad.kron(two, two).item() == 4.0
    assert tapegrad.einsum("ij,kj->", tapegrad.zeros(0, 2), tapegrad.ones(3, 2)).item() == 0.0


def test_infinite_parts_make_infinite_complex_numbers():
    found = tapegrad.complex(tapegrad.tensor([1.0, INF]), tapegrad.tensor([INF, -0.0]))
    assert found.real.tolist() == [1.0, INF] and found.imag.tolist() == [INF, 0.0]
    assert found.imag.signbit().tolist() == [False, True]


def test_the_slope_of_sinc_is_zero_next_to_zero():
    x = tapegrad.tensor([1e-30, 0.0, 0.5], requires_grad=True)
    tapegrad.sinc(x).sum().backward()
    assert x.grad.tolist() == pytest.approx([0.0, 0.0, -1.2732396])


@pytest.mark.parametrize(
    ("name", "others", "text"),
    [
        ("abs_", (), "must be Tensor, not list"),
        ("abs_", (0,), r"takes 1 positional argument but 2 were given"),
        ("clamp_min_", (0,), r"received an invalid combination of arguments - got \(list, int\)"),
        ("matmul", (0,), "must be Tensor, not list"),
    ],
)
def test_what_is_no_tensor_is_a_type_error(name, others, text):
    with pytest.raises(TypeError, match=text):
        getattr(tapegrad, name)([1.0], *others)


def test_one_of_its_own_elements_fills_a_tensor():
    x = tapegrad.tensor([1.0, 6.0, 7.0])
    assert x.masked_fill_(x > 5, x[0]).tolist() == [1.0, 1.0, 1.0]
    y = tapegrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert y.index_fill_(1, tapegrad.tensor([0]), y[0, 1]).tolist() == [[2.0, 2.0], [2.0, 4.0]]


def test_running_sums_of_float32_are_added_up_in_double_precision():
    x = tapegrad.full((100_000,), 0.1)
    assert x.cumsum(0)[-1].item() == 10_000.0
    assert x.reshape(1000, 100).cumsum(0)[-1].tolist() == [100.0] * 100
    assert tapegrad.full((100_000,), 1.0001).cumprod(0)[-1].item() == 22052.015625


@pytest.mark.parametrize("zeros", [(), (1,), (1, 3)])
def test_running_products_have_their_gradients_with_zeros_too(zeros):
    x = tapegrad.tensor([2.0, 3.0, 4.0, 5.0], dtype=tapegrad.float64)
    x[list(zeros)] = 0.0
    x.requires_grad_()
    assert tapegrad.autograd.gradcheck(lambda x: x.cumprod(0), (x,), check_forward_ad=True)
    assert tapegrad.autograd.gradcheck(lambda x: x.prod(), (x,), check_forward_ad=True)
    assert tapegrad.autograd.gradgradcheck(lambda x: x.cumprod(0), (x,))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("gather", (0, [0])),
        ("index_select", (0, [0])),
        ("scatter", (0, [0], 1.0)),
        ("index_add", (0, [0], tapegrad.ones(2, 2))),
        ("masked_fill", ([True], 1.0)),
        ("masked_select", ([True],)),
        ("take", ([0],)),
    ],
)
def test_a_list_is_no_index_tensor(name, args):
    with pytest.raises(TypeError, match="list"):
        getattr(tapegrad, name)(tapegrad.ones(2, 2), *args)


def test_the_deviation_of_equal_complex_numbers_has_a_gradient_of_zero():
    x = tapegrad.tensor([1 + 1j, 1 + 1j], requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0j, 0j]
