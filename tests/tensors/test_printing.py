"""The printed text of tensors, as PyTorch prints them."""

from math import inf, nan

import pytest

import tapegrad as torch
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.printing import get_printoptions, printoptions
from tests import needs


@pytest.fixture(autouse=True)
def default_options():
    """The options and the default dtype a test starts with, and leaves behind."""
    yield
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)


def lines(*texts):
    return "\n".join(texts)


VALUES = [
    ("float32", [1.0, 2.0], "tensor([1., 2.])"),
    ("float32", [1.0, -20.0], "tensor([  1., -20.])"),
    ("float32", [0.1, 100.0], "tensor([  0.1000, 100.0000])"),
    ("float32", [1.5, nan, -inf], "tensor([1.5000,    nan,   -inf])"),
    ("float32", [1.0, nan, inf], "tensor([1., nan, inf])"),
    ("float32", [nan, -inf], "tensor([nan, -inf])"),
    ("float32", [0.0, -0.0], "tensor([0., -0.])"),
    ("float32", [-0.0, -1e-05], "tensor([-0.0000e+00, -1.0000e-05])"),
    ("float32", [1.0, 1000.0], "tensor([   1., 1000.])"),
    ("float32", [1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
    ("float32", [100000000.0], "tensor([100000000.])"),
    ("float32", [123456789.0], "tensor([1.2346e+08])"),
    ("float32", [5e-05], "tensor([5.0000e-05])"),
    ("float32", [0.0001], "tensor([1.0000e-04])"),
    ("float64", [0.0001], "tensor([0.0001], dtype=torch.float64)"),
    ("float64", [1e308, 1e-308], "tensor([1.0000e+308, 1.0000e-308], dtype=torch.float64)"),
    ("float32", [0.1, 0.2], "tensor([0.1000, 0.2000])"),
    ("float64", [0.1, 1e-05], "tensor([1.0000e-01, 1.0000e-05], dtype=torch.float64)"),
    ("float32", [16777216.5, 0.0], "tensor([16777216.,        0.])"),
    ("float32", [], "tensor([])"),
    ("float32", 3.0, "tensor(3.)"),
    ("float32", 2.5, "tensor(2.5000)"),
    ("float64", nan, "tensor(nan, dtype=torch.float64)"),
    ("float16", [0.1, 65504.0], "tensor([9.9976e-02, 6.5504e+04], dtype=torch.float16)"),
    ("complex64", [(1 + 2j), (-1.5 + 0j)], "tensor([ 1.0000+2.j, -1.5000+0.j])"),
    ("complex64", [(1 + 2j), (3 - 4j)], "tensor([1.+2.j, 3.-4.j])"),
    (
        "complex128",
        [complex(nan, -inf), 1e-7 + 1e9j],
        "tensor([       nan-infj, 1.0000e-07+1.0000e+09j], dtype=torch.complex128)",
    ),
    ("complex64", 0.5j, "tensor(0.+0.5000j)"),
    ("int64", [1, -20, 300], "tensor([  1, -20, 300])"),
    ("int64", 7, "tensor(7)"),
    ("uint8", [0, 255], "tensor([  0, 255], dtype=torch.uint8)"),
    (
        "uint64",
        [2**64 - 1, 0],
        "tensor([18446744073709551615,                    0], dtype=torch.uint64)",
    ),
    (
        "int8",
        [[-128, 1], [2, 3]],
        "tensor([[-128,    1],\n        [   2,    3]], dtype=torch.int8)",
    ),
    ("bool", [True, False], "tensor([ True, False])"),
    ("bool", [[True], [True]], "tensor([[True],\n        [True]])"),
    ("bool", False, "tensor(False)"),
    (
        "float32",
        [[1.0, 2.5], [nan, -1.0]],
        "tensor([[ 1.0000,  2.5000],\n        [    nan, -1.0000]])",
    ),
    ("float32", [[[1.0, 2.0]], [[3.0, 4.0]]], "tensor([[[1., 2.]],\n\n        [[3., 4.]]])"),
]


@pytest.mark.parametrize(("dtype", "values", "text"), VALUES)
def test_values_print_in_the_shortest_notation_that_fits_all(dtype, values, text):
    assert repr(torch.tensor(values, dtype=getattr(torch, dtype))) == text


def test_bfloat16_prints_like_other_floats():
    needs.package("ml_dtypes", "has bfloat16", extra="test")
    x = torch.tensor([0.1, 3.0], dtype=torch.bfloat16)
    assert repr(x) == "tensor([0.1001, 3.0000], dtype=torch.bfloat16)"
    assert repr(torch.tensor([1e38]).bfloat16()) == "tensor([9.9692e+37], dtype=torch.bfloat16)"


EMPTY = [
    ((0,), "float32", "tensor([])"),
    ((0,), "int64", "tensor([], dtype=torch.int64)"),
    ((0,), "bool", "tensor([], dtype=torch.bool)"),
    ((0,), "float16", "tensor([], dtype=torch.float16)"),
    ((0, 3), "float32", "tensor([], size=(0, 3))"),
    ((0, 3), "int64", "tensor([], size=(0, 3), dtype=torch.int64)"),
    ((0, 3), "bool", "tensor([], size=(0, 3), dtype=torch.bool)"),
    ((0, 3), "float16", "tensor([], size=(0, 3), dtype=torch.float16)"),
    ((2, 0, 1), "float32", "tensor([], size=(2, 0, 1))"),
    ((2, 0, 1), "int64", "tensor([], size=(2, 0, 1), dtype=torch.int64)"),
    ((2, 0, 1), "bool", "tensor([], size=(2, 0, 1), dtype=torch.bool)"),
    ((2, 0, 1), "float16", "tensor([], size=(2, 0, 1), dtype=torch.float16)"),
]


@pytest.mark.parametrize(("shape", "dtype", "text"), EMPTY)
def test_an_empty_tensor_prints_its_size_and_any_dtype_but_the_default(shape, dtype, text):
    assert repr(torch.zeros(shape, dtype=getattr(torch, dtype))) == text


DEFAULT_DTYPES = [
    ("float64", "float16", "tensor([0.], dtype=torch.float16)"),
    ("float64", "float32", "tensor([0.], dtype=torch.float32)"),
    ("float64", "float64", "tensor([0.])"),
    ("float64", "complex64", "tensor([0.+0.j], dtype=torch.complex64)"),
    ("float64", "complex128", "tensor([0.+0.j])"),
    ("float64", "int64", "tensor([0])"),
    ("float64", "bool", "tensor([False])"),
    ("float64", "int32", "tensor([0], dtype=torch.int32)"),
    ("float16", "float16", "tensor([0.])"),
    ("float16", "float32", "tensor([0.], dtype=torch.float32)"),
    ("float16", "float64", "tensor([0.], dtype=torch.float64)"),
    ("float16", "complex64", "tensor([0.+0.j])"),
    ("float16", "complex128", "tensor([0.+0.j], dtype=torch.complex128)"),
    ("float16", "int64", "tensor([0])"),
    ("float16", "bool", "tensor([False])"),
    ("float16", "int32", "tensor([0], dtype=torch.int32)"),
]


@pytest.mark.parametrize(("default", "dtype", "text"), DEFAULT_DTYPES)
def test_the_dtype_is_printed_where_it_is_not_the_default(default, dtype, text):
    torch.set_default_dtype(getattr(torch, default))
    assert repr(torch.zeros(1, dtype=getattr(torch, dtype))) == text


def test_rows_are_indented_and_matrices_stand_apart():
    x = torch.arange(12.0).reshape(2, 3, 2)
    assert repr(x) == lines(
        "tensor([[[ 0.,  1.],",
        "         [ 2.,  3.],",
        "         [ 4.,  5.]],",
        "",
        "        [[ 6.,  7.],",
        "         [ 8.,  9.],",
        "         [10., 11.]]])",
    )


def test_a_transposed_tensor_prints_in_its_own_order():
    x = torch.arange(6).reshape(2, 3).T
    assert repr(x) == lines("tensor([[0, 3],", "        [1, 4],", "        [2, 5]])")


def test_a_long_row_is_broken_at_the_line_width():
    x = torch.ones(1, 12) / 2
    assert repr(x) == lines(
        "tensor([[0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000,",
        "         0.5000, 0.5000, 0.5000]])",
    )


def test_more_than_a_thousand_elements_show_three_at_each_end():
    x = torch.arange(1001)
    assert repr(x) == lines("tensor([   0,    1,    2,  ...,  998,  999, 1000])")


def test_each_long_axis_of_a_large_tensor_is_summarised():
    x = torch.arange(2400).reshape(8, 300)
    assert repr(x) == lines(
        "tensor([[   0,    1,    2,  ...,  297,  298,  299],",
        "        [ 300,  301,  302,  ...,  597,  598,  599],",
        "        [ 600,  601,  602,  ...,  897,  898,  899],",
        "        ...,",
        "        [1500, 1501, 1502,  ..., 1797, 1798, 1799],",
        "        [1800, 1801, 1802,  ..., 2097, 2098, 2099],",
        "        [2100, 2101, 2102,  ..., 2397, 2398, 2399]])",
    )


def test_a_summarised_row_may_be_broken_too():
    x = torch.arange(1200.0).reshape(2, 2, 300)
    assert repr(x) == lines(
        "tensor([[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 2.9700e+02,",
        "          2.9800e+02, 2.9900e+02],",
        "         [3.0000e+02, 3.0100e+02, 3.0200e+02,  ..., 5.9700e+02,",
        "          5.9800e+02, 5.9900e+02]],",
        "",
        "        [[6.0000e+02, 6.0100e+02, 6.0200e+02,  ..., 8.9700e+02,",
        "          8.9800e+02, 8.9900e+02],",
        "         [9.0000e+02, 9.0100e+02, 9.0200e+02,  ..., 1.1970e+03,",
        "          1.1980e+03, 1.1990e+03]]])",
    )


def test_the_notation_is_chosen_from_what_is_shown():
    x = torch.zeros(2000)
    x[1000] = 1e-7
    x[1] = -0.5
    assert repr(x) == "tensor([ 0.0000, -0.5000,  0.0000,  ...,  0.0000,  0.0000,  0.0000])"


def test_a_suffix_that_fits_stays_on_the_line():
    x = torch.ones(13, requires_grad=True)
    assert repr(x) == lines(
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],", "       requires_grad=True)"
    )


def test_a_suffix_that_does_not_fit_starts_a_line():
    x = torch.ones(14, requires_grad=True)
    assert repr(x) == lines(
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],",
        "       requires_grad=True)",
    )


def test_suffixes_share_a_line_while_they_fit():
    x = torch.ones(13, dtype=torch.float64, requires_grad=True) * 2
    assert repr(x) == lines(
        "tensor([2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2.],",
        "       dtype=torch.float64, grad_fn=<MulBackward0>)",
    )


OPTIONS = [
    (
        {"precision": 2},
        "tensor([ 5.00e-01,  1.00e+06, -3.00e+00,  0.00e+00,       nan,  2.00e+00])",
    ),
    ({"precision": 0}, "tensor([ 5e-01,  1e+06, -3e+00,  0e+00,    nan,  2e+00])"),
    (
        {"sci_mode": True},
        lines(
            "tensor([ 5.0000e-01,  1.0000e+06, -3.0000e+00,  0.0000e+00,         nan,",
            "         2.0000e+00])",
        ),
    ),
    (
        {"sci_mode": False},
        lines(
            "tensor([      0.5000, 1000000.0000,      -3.0000,       0.0000,          nan,",
            "              2.0000])",
        ),
    ),
    (
        {"linewidth": 20},
        lines(
            "tensor([ 5.0000e-01,",
            "         1.0000e+06,",
            "        -3.0000e+00,",
            "         0.0000e+00,",
            "                nan,",
            "         2.0000e+00])",
        ),
    ),
    (
        {"linewidth": 1},
        lines(
            "tensor([ 5.0000e-01,",
            "         1.0000e+06,",
            "        -3.0000e+00,",
            "         0.0000e+00,",
            "                nan,",
            "         2.0000e+00])",
        ),
    ),
    (
        {"threshold": 4},
        lines(
            "tensor([ 5.0000e-01,  1.0000e+06, -3.0000e+00,  0.0000e+00,         nan,",
            "         2.0000e+00])",
        ),
    ),
    ({"threshold": 4, "edgeitems": 1}, "tensor([0.5000,  ..., 2.0000])"),
    ({"threshold": 4, "edgeitems": 0}, "tensor([...], size=(6,))"),
    (
        {"threshold": 8, "edgeitems": 0},
        lines(
            "tensor([ 5.0000e-01,  1.0000e+06, -3.0000e+00,  0.0000e+00,         nan,",
            "         2.0000e+00], size=(6,))",
        ),
    ),
    (
        {"profile": "short", "threshold": 3},
        "tensor([5.00e-01, 1.00e+06,  ...,      nan, 2.00e+00])",
    ),
    (
        {"profile": "full", "precision": 1},
        "tensor([ 5.0e-01,  1.0e+06, -3.0e+00,  0.0e+00,      nan,  2.0e+00])",
    ),
]


@pytest.mark.parametrize(("options", "text"), OPTIONS)
def test_every_print_option_has_its_effect(options, text):
    torch.set_printoptions(**options)
    assert repr(torch.tensor([0.5, 1e6, -3.0, 0.0, nan, 2.0])) == text


def test_options_stay_except_sci_mode_which_returns_to_none():
    torch.set_printoptions(precision=2, linewidth=100, sci_mode=True)
    torch.set_printoptions(edgeitems=5)
    assert get_printoptions() == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 5,
        "linewidth": 100,
        "sci_mode": None,
    }


def test_an_unknown_profile_changes_nothing():
    before = get_printoptions()
    torch.set_printoptions(profile="FULL")
    assert get_printoptions() == before


def test_a_block_of_options_is_undone_when_it_fails():
    before = get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(precision=1, sci_mode=True):
        assert repr(torch.tensor(2.5)) == "tensor(2.5e+00)"
        1 / 0  # noqa: B018
    assert get_printoptions() == before


def test_the_maker_of_a_tensor_is_named():
    x = torch.ones(2, requires_grad=True)
    y = torch.zeros(2)
    y[0] = x[1] * 3
    assert repr(x * 3) == "tensor([3., 3.], grad_fn=<MulBackward0>)"
    assert repr(y) == "tensor([3., 0.], grad_fn=<CopySlices>)"
    assert repr((x * 3).detach()) == "tensor([3., 3.])"


def test_a_subclass_prints_under_its_own_name():
    class Weights(torch.Tensor):
        pass

    x = Weights([[1, 1], [1, 1]])
    assert repr(x) == lines("Weights([[1., 1.],", "         [1., 1.]])")


def test_a_parameter_says_what_it_contains():
    x = torch.nn.Parameter(torch.ones(2))
    text = "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(x) == str(x) == f"{x}" == text


def test_a_tensor_of_one_number_formats_like_the_number():
    x = torch.tensor(2.5, requires_grad=True)
    assert f"{x:.2f}|{x * 2:6.1f}|{x}|{torch.tensor(7):03d}" == "2.50|   5.0|2.5|007"


@pytest.mark.parametrize("shape", [(1,), (2, 2), (0,)])
def test_other_tensors_take_no_format(shape):
    x = torch.zeros(shape)
    assert f"{x}" == str(x)
    with pytest.raises(TypeError) as error:
        format(x, ".2f")
    assert str(error.value) == "unsupported format string passed to Tensor.__format__"


def test_a_parameter_takes_no_format_even_if_it_is_one_number():
    message = "unsupported format string passed to Parameter.__format__"
    with pytest.raises(TypeError, match=message):
        format(torch.nn.Parameter(torch.tensor(1.0)), ".2f")


def test_a_tensor_on_another_array_library_prints_the_same():
    strict = needs.package("array_api_strict", "has other arrays", extra="test")
    x = wrap(strict.asarray([[1.0, 2.5]]))
    assert repr(x) == "tensor([[1.0000, 2.5000]], dtype=torch.float64)"


def test_printing_a_large_tensor_touches_only_what_is_shown(rng):
    import tracemalloc

    x = torch.from_numpy(rng.standard_normal((4, 500_000)))
    tracemalloc.start()
    text = repr(x)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "..." in text
    assert peak_bytes < 100_000
