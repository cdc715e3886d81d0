"""Sequences of different lengths: padded, packed and back."""

import copy
import pickle

import tapegrad as torch
from tapegrad.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)
from tests.messages import raises

A, B, C = torch.tensor([1, 2]), torch.tensor([3, 4, 5]), torch.tensor([6])


def test_sequences_are_packed_time_by_time_longest_first():
    pack = pack_sequence([A, B, C], enforce_sorted=False)
    assert pack.data.tolist() == [3, 1, 6, 4, 2, 5]
    assert pack.batch_sizes.tolist() == [3, 2, 1]
    assert pack.sorted_indices.tolist() == [1, 0, 2]
    assert [x.tolist() for x in unpack_sequence(pack)] == [[1, 2], [3, 4, 5], [6]]


def test_padding_comes_back_with_the_lengths():
    pack = pack_sequence([A, B, C], enforce_sorted=False)
    padded, lengths = pad_packed_sequence(pack, padding_value=-1, total_length=4)
    assert padded.t().tolist() == [[1, 2, -1, -1], [3, 4, 5, -1], [6, -1, -1, -1]]
    assert lengths.tolist() == [2, 3, 1]


def test_padding_may_be_on_the_left():
    assert pad_sequence([A, B], True, 9, "left").tolist() == [[9, 1, 2], [3, 4, 5]]
    assert pad_sequence([A, B]).tolist() == [[1, 3], [2, 4], [0, 5]]
    assert [x.tolist() for x in unpad_sequence(pad_sequence([A, B]), torch.tensor([2, 3]))] == [
        [1, 2],
        [3, 4, 5],
    ]


def test_gradients_go_back_to_what_is_no_padding():
    x = torch.ones(3, 2, 1, requires_grad=True)
    pack = pack_padded_sequence(x, [3, 1])
    padded, _ = pad_packed_sequence(pack)
    (padded * torch.arange(6.0).view(3, 2, 1)).sum().backward()
    assert x.grad.flatten().tolist() == [0.0, 1.0, 2.0, 0.0, 4.0, 0.0]


def test_a_packed_sequence_is_a_named_tuple():
    pack = pack_sequence([B, A])
    assert repr(pack) == (
        "PackedSequence(data=tensor([3, 1, 4, 2, 5]), batch_sizes=tensor([2, 2, 1]), "
        "sorted_indices=None, unsorted_indices=None)"
    )
    data, sizes, _, _ = pack
    assert PackedSequence((data, sizes)).data is data
    assert pack.double().data.dtype is torch.float64
    assert pack.to(torch.int64) is pack
    for same in (copy.deepcopy(pack), pickle.loads(pickle.dumps(pack))):
        assert type(same) is PackedSequence
        assert torch.equal(same.data, data)


def test_lengths_that_do_not_fit_are_named():
    x = torch.zeros(5, 3, 2)
    message = "Expected `len(lengths)` to be equal to batch_size, but got 2 (batch_size=3)"
    with raises(RuntimeError, message):
        pack_padded_sequence(x, [5, 3])
    message = (
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that "
        "is <= 0"
    )
    with raises(RuntimeError, message):
        pack_padded_sequence(x, [5, 3, 0])
    message = (
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
        "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
        "requirement if you do not need ONNX exportability."
    )
    with raises(RuntimeError, message):
        pack_padded_sequence(x, [1, 3, 5])
    message = "Expected lengths of at most 5, the number of times in the input, but found 6"
    with raises(RuntimeError, message):
        pack_padded_sequence(x, [6, 3, 1])
    message = (
        "Expected total_length to be at least the length of the longest sequence in input, but got "
        "total_length=2 and max sequence length being 3"
    )
    with raises(ValueError, message):
        pad_packed_sequence(pack_sequence([B, A]), total_length=2)


def test_sequences_that_do_not_fit_are_named():
    with raises(RuntimeError, "received an empty list of sequences"):
        pad_sequence([])
    message = (
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    )
    with raises(RuntimeError, message):
        pad_sequence([torch.zeros(2, 3), torch.zeros(2, 4)])
    message = "Expected padding_side to be one of left or right, but got up."
    with raises(RuntimeError, message):
        pad_sequence([A, B], padding_side="up")
