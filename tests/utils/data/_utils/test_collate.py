"""Batches of samples: what is stacked, what is taken apart, what is left as it is."""

import collections

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.utils.data import default_collate, default_convert
from tapegrad.utils.data._utils.collate import (
    collate,
    default_collate_fn_map,
    np_str_obj_array_pattern,
)

Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "batch, text",
    [
        ([1, 2], "tensor([1, 2])"),
        ([1.5, 2], "tensor([1.5000, 2.0000], dtype=torch.float64)"),
        ([1, 2.5], "tensor([1.0000, 2.5000])"),
        ([True, False], "tensor([ True, False])"),
        (["a", "b"], "['a', 'b']"),
        ([np.float32(1), np.float32(3)], "tensor([1., 3.])"),
        ([np.int8(1), np.int8(3)], "tensor([1, 3], dtype=torch.int8)"),
        ([np.array(3, "int64"), np.array(4, "int64")], "tensor([3, 4])"),
        ([(1, "a"), (2, "b")], "[tensor([1, 2]), ('a', 'b')]"),
        (
            [Pair(1, 2.0), Pair(3, 4.0)],
            "Pair(a=tensor([1, 3]), b=tensor([2., 4.], dtype=torch.float64))",
        ),
        ([{"a": 1, "b": "x"}, {"a": 3, "b": "y"}], "{'a': tensor([1, 3]), 'b': ['x', 'y']}"),
        ([collections.OrderedDict(a=1)] * 2, "OrderedDict([('a', tensor([1, 1]))])"),
        ([collections.deque([1])] * 2, "deque([tensor([1, 1])])"),
        ([range(2), range(2)], "[tensor([0, 0]), tensor([1, 1])]"),
        ([(), ()], "[]"),
    ],
)
def test_a_batch_is_pytorchs(batch, text):
    found = repr(default_collate(batch))
    assert (
        found.replace("OrderedDict({'a': tensor([1, 1])})", "OrderedDict([('a', tensor([1, 1]))])")
        == text
    )


@pytest.mark.parametrize(
    "batch, error, message",
    [
        ([None], TypeError, "found <class 'NoneType'>"),
        ([1j], TypeError, "found <class 'complex'>"),
        ([np.array(["a"])], TypeError, "found <U1"),
        ([[1], [1, 2]], RuntimeError, "each element in list of batch should be of equal size"),
        ([{"a": 1}, {"b": 1}], KeyError, "'a'"),
        (
            [torch.ones(2), torch.ones(3)],
            RuntimeError,
            r"stack expects each tensor to be equal size, but got \[2\] at entry 0 and \[3\] .*",
        ),
        ([torch.ones(2), 3], TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    ],
)
def test_what_cannot_be_a_batch_is_refused_in_pytorchs_words(batch, error, message):
    with pytest.raises(error, match=f"(?m){message}$"):
        default_collate(batch)


def test_a_table_of_types_may_be_the_users():
    def longest(batch, *, collate_fn_map):
        return max(batch, key=len)

    table = {**default_collate_fn_map, str: longest}
    assert repr(collate([("ab", 1), ("c", 2)], collate_fn_map=table)) == "['ab', tensor([1, 2])]"


def test_arrays_become_tensors_and_text_stays():
    found = default_convert({"x": np.array([1.0]), "y": [np.float32(2), "a", None], "z": (1,)})
    assert repr(found) == (
        "{'x': tensor([1.], dtype=torch.float64), 'y': [tensor(2.), 'a', None], 'z': [1]}"
    )
    assert default_convert(np.array(["a"])).dtype == np.dtype("<U1")


@pytest.mark.parametrize("values, found", [(["a"], True), ([None], True), ([1], False)])
def test_arrays_of_text_and_objects_are_no_tensors(values, found):
    kind = np.array(values).dtype.str
    assert (np_str_obj_array_pattern.search(kind) is not None) is found
