"""assert_close: tolerances, containers, and PyTorch's messages."""

import math
from collections import namedtuple

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.testing import assert_allclose, assert_close
from tapegrad.testing._comparison import (
    ObjectPair,
    TensorLikePair,
    default_tolerances,
    not_close_error_metas,
)

T = torch.tensor
Point = namedtuple("Point", "x y")
nan, inf = math.nan, math.inf


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (T([1.00001]), T([1.0]), {}),
        (T([1.0]), T([1]), {"check_dtype": False}),
        (T([1], dtype=torch.uint16), T([1], dtype=torch.int16), {"check_dtype": False}),
        (T([nan, 1.0]), T([nan, 1.0]), {"equal_nan": True}),
        (T([complex(nan, 1)]), T([complex(nan, 1)]), {"equal_nan": True}),
        (T([inf]), T([inf]), {}),
        (T([]), T([]), {}),
        (torch.zeros(2, 3), torch.zeros(3, 2).t(), {}),
        (torch.nn.Parameter(T([1.0])), T([1.0]), {}),
        (1.0, 1.0 + 1e-9, {}),
        (inf, inf, {}),
        (nan, nan, {"equal_nan": True}),
        (np.float32(1.0), 1.0, {}),
        (np.bool_(True), True, {}),
        (None, None, {}),
        ([1.0], (1.0,), {}),
        (range(3), [0, 1, 2], {}),
        (b"a", b"a", {}),
        ({"a": [], "b": {}}, {"b": {}, "a": []}, {}),
    ],
)
def test_close(actual, expected, options):
    assert_close(actual, expected, **options)


def tensors(aim, mismatched, absolute, relative):
    return (
        f"Tensor-likes are not {aim}!\n\nMismatched elements: {mismatched}\n"
        f"Greatest absolute difference: {absolute}\nGreatest relative difference: {relative}"
    )


def scalars(aim, expected, actual, absolute, relative):
    return (
        f"Scalars are not {aim}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}\nRelative difference: {relative}"
    )


DOUBLE = " (up to 1e-07 allowed)"
UNEQUAL_AT_1 = scalars("close", 3.0, 2.0, "1.0" + DOUBLE, "0.3333333333333333" + DOUBLE)


@pytest.mark.parametrize(
    ("actual", "expected", "options", "message"),
    [
        (
            T([1.0, 2, 3]), T([1.0, 2, 4]), {},
            tensors("close", "1 / 3 (33.3%)", "1.0 at index (2,) (up to 1e-05 allowed)",
                    "0.25 at index (2,) (up to 1.3e-06 allowed)"),
        ),
        (
            T([[1.0, 2], [3, 4]]), T([[1.0, 2.5], [3, 9]]), {"rtol": 0, "atol": 0},
            tensors("equal", "2 / 4 (50.0%)", "5.0 at index (1, 1)",
                    "0.5555555820465088 at index (1, 1)"),
        ),
        (
            T([1, 2, 3]), T([0, 2, 4]), {},
            tensors("equal", "2 / 3 (66.7%)", "1 at index (0,)", "inf at index (0,)"),
        ),
        (
            T([1], dtype=torch.uint8), T([255], dtype=torch.uint8), {},
            tensors("equal", "1 / 1 (100.0%)", "254 at index (0,)",
                    "0.9960784316062927 at index (0,)"),
        ),
        (
            T([inf, 0.0]), T([inf, 1.0]), {},
            tensors("close", "1 / 2 (50.0%)", "1.0 at index (1,) (up to 1e-05 allowed)",
                    "1.0 at index (1,) (up to 1.3e-06 allowed)"),
        ),
        (
            T([nan, 1.0]), T([nan, 1.0]), {},
            tensors("close", "1 / 2 (50.0%)", "nan at index (0,) (up to 1e-05 allowed)",
                    "nan at index (0,) (up to 1.3e-06 allowed)"),
        ),
        (T(5), T(6), {}, scalars("equal", 6, 5, 1, 0.16666666666666666)),
        (
            T([1.0]), T([1.0]).double(), {},
            "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.",
        ),
        (
            T([1.0]), T([1.0, 2]), {},
            "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([2]).",
        ),
        (
            torch.zeros(2, 3), torch.zeros(3, 2).t(), {"check_stride": True},
            "The values for attribute 'stride()' do not match: (3, 1) != (1, 2).",
        ),
        (1, 2.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
        (
            1.0, inf, {},
            scalars("close", inf, 1.0, f"inf{DOUBLE}", f"nan{DOUBLE}"),
        ),
        (1, 2, {}, scalars("equal", 2, 1, 1, 0.5)),
        (True, False, {}, "Booleans mismatch: True is not False"),
        (None, 1.0, {}, "None mismatch: None is not 1.0"),
        ([1.0], [1.0, 2.0], {}, "The length of the sequences mismatch: 1 != 2"),
        (
            {"a": 1.0, "c": 2}, {"b": 2.0, "a": 1.0}, {},
            "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
            "Additional keys in the actual mapping: ['c']",
        ),
        (
            [0.0, {"k": 2.0}], [0.0, {"k": 3.0}], {},
            UNEQUAL_AT_1 + "\n\nThe failure occurred for item [1]['k']",
        ),
        (Point(1.0, 2.0), Point(1.0, 3.0), {},
         UNEQUAL_AT_1 + "\n\nThe failure occurred for item [1]"),
        ([2.0], [3.0], {"msg": "mine"}, "mine"),
        ([2.0], [3.0], {"msg": lambda text: "Here: " + text},
         f"Here: {UNEQUAL_AT_1}\n\nThe failure occurred for item [0]"),
    ],
)  # fmt: skip
def test_not_close(actual, expected, options, message):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("actual", "expected", "names", "place"),
    [
        ("a", "a", ("str", "str"), ""),
        ([1.0, "a"], [2.0, "a"], ("str", "str"), "\n\nThe failure occurred for item [1]"),
        (np.array(1.0), 1.0, ("numpy.ndarray", "float"), ""),
        ({1}, {1}, ("set", "set"), ""),
    ],
)
def test_what_cannot_be_compared_is_named(actual, expected, names, place):
    ours, theirs = (f"<class '{name}'>" for name in names)
    with pytest.raises(TypeError) as caught:
        assert_close(actual, expected)
    words = f"No comparison pair was able to handle inputs of type {ours} and {theirs}."
    assert str(caught.value) == words + place


def test_subclasses_are_compared_unless_forbidden():
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(torch.nn.Parameter(T([1.0])), T([1.0]), allow_subclasses=False)


@pytest.mark.parametrize(("given", "lacking"), [("rtol", "atol"), ("atol", "rtol")])
def test_tolerances_come_in_pairs(given, lacking):
    message = f"either specified or omitted, but got no {lacking}."
    with pytest.raises(ValueError, match=message):
        assert_close(T([1.0]), T([1.0]), **{given: 0.1})


def test_a_bool_and_a_number_have_no_tolerance():
    with pytest.raises(RuntimeError, match=r"Originating a NumberPair\(\) at item  with"):
        assert_close(True, 1)


def test_an_error_of_the_comparison_shows_the_pair():
    with pytest.raises(RuntimeError, match=r"Comparing\n\nTensorLikePair\(\n    id=\(\),"):
        assert_close(T([1.0]), T([2.0]), rtol=-1.0, atol=0.0)


def test_tolerances_are_the_widest():
    assert default_tolerances(torch.float64) == (1e-7, 1e-7)
    assert default_tolerances(T([1.0]), torch.bfloat16, torch.int8) == (1.6e-2, 1e-5)
    with pytest.raises(TypeError, match=r"Expected a torch.Tensor or a torch.dtype"):
        default_tolerances("float32")


def test_all_mismatches_are_found():
    found = not_close_error_metas(
        [T([1.0]), "a", "b"], [T([2.0]), "a", "c"], pair_types=(TensorLikePair, ObjectPair)
    )
    assert [mismatch.id for mismatch in found] == [(0,), (2,)]
    assert str(found[1].error()) == "b != c\n\nThe failure occurred for item [2]"


def test_assert_allclose_is_wider_and_says_that_it_is_old():
    with pytest.warns(FutureWarning, match=r"`torch.testing.assert_allclose\(\)` is deprecated"):
        assert_allclose(T([1.00005, nan]), [1.0, nan])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match=r"up to 0.0001 allowed"):
        assert_allclose(T([1.0005]), T([1.0]).double())


def test_sparse_tensors_differ_in_their_sparse_dimensions_first():
    x = torch.ones(2, 2, 2)
    with pytest.raises(AssertionError, match="number of sparse dimensions in sparse COO tensors "):
        assert_close(x.to_sparse(2), x.to_sparse(3))
