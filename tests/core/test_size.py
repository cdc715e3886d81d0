"""Shapes print, slice, join and pickle as PyTorch's."""

import copy
import pickle
from operator import add

import numpy as np
import pytest

from tapegrad.core.size import Size, from_shape


class Three:
    def __index__(self):
        return 3


def test_a_size_is_a_tuple_that_prints_its_name():
    s = Size([2, 3, 4])
    assert repr(s) == str(s) == f"{s}" == "torch.Size([2, 3, 4])"
    assert repr(Size()) == "torch.Size([])"
    assert s == (2, 3, 4)
    assert s != [2, 3, 4]
    assert hash(s) == hash((2, 3, 4))
    assert isinstance(s, tuple)


def test_anything_that_is_a_whole_number_is_a_length():
    s = Size([True, np.int64(3), Three(), -1])
    assert repr(s) == "torch.Size([1, 3, 3, -1])"
    assert [type(x) for x in s] == [int, int, int, int]
    assert Size(np.array([1, 2])) == Size(range(1, 3)) == (1, 2)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1.5], "torch.Size() takes an iterable of 'int' (item 0 is 'float')"),
        ([1, None], "torch.Size() takes an iterable of 'int' (item 1 is 'NoneType')"),
        ("ab", "torch.Size() takes an iterable of 'int' (item 0 is 'str')"),
        (3, "'int' object is not iterable"),
    ],
)
def test_other_lengths_are_refused(lengths, message):
    with pytest.raises(TypeError) as raised:
        Size(lengths)
    assert str(raised.value) == message


def test_lengths_fit_in_64_bits():
    assert Size([2**63 - 1, -(2**63)]) == (2**63 - 1, -(2**63))
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        Size([2**63])


def test_slices_and_joins_and_repeats_stay_sizes():
    s = Size([2, 3, 4])
    results = {
        "slice": (s[1:], (3, 4)),
        "reversed": (s[::-1], (4, 3, 2)),
        "sum": (add(s, (1,)), (2, 3, 4, 1)),
        "sum from the left": (add((1,), s), (1, 2, 3, 4)),
        "sum of sizes": (s[:1] + s[:1], (2, 2)),
        "product": (s * 2, (2, 3, 4, 2, 3, 4)),
        "product from the left": (2 * s[:1], (2, 2)),
    }
    for name, (found, expected) in results.items():
        assert type(found) is Size, name
        assert tuple(found) == expected, name
    assert s[0] == 2
    assert type(s[0]) is int


def test_what_cannot_be_joined_is_refused():
    s = Size([2])
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        add(s, [1])
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is 'str'\)"):
        add(s, ("a",))
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 0 is 'str'\)"):
        add(("a",), s)
    with pytest.raises(TypeError):
        1 + s
    with pytest.raises(TypeError, match="can't multiply sequence by non-int of type 'float'"):
        s * 1.5


def test_arrays_compute_element_by_element_with_a_size():
    s, x = Size([1, 2]), np.array([1, 2])
    for found in (s + x, x + s):
        np.testing.assert_array_equal(found, [2, 4])
    for found in (s * x, x * s):
        np.testing.assert_array_equal(found, [1, 4])


def test_numel_is_the_product_of_the_lengths():
    assert Size([2, 3, 4]).numel() == 24
    assert Size().numel() == 1
    assert Size([0, 2]).numel() == 0


def test_copies_and_pickles_are_sizes():
    s = Size([2, 3])
    for made in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert type(made) is Size
        assert made == s


def test_the_shape_of_an_array_becomes_a_size():
    s = from_shape(np.zeros((2, 0)).shape)
    assert type(s) is Size
    assert s == (2, 0)


def test_a_size_has_no_room_for_attributes():
    with pytest.raises(AttributeError):
        Size().colour = "red"


def test_a_length_of_thousands_of_digits_is_refused_like_any_other_too_large():
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        Size([2**400_000])
