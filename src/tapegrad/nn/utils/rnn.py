"""Sequences of different lengths: padded to one tensor, or packed time by time without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from tapegrad.arrays.numpy.searchsorted_bincount import counts_of
from tapegrad.core import errors
from tapegrad.core.annotations import DTypeLike
from tapegrad.core.errors import assertion_error, runtime_error, value_error
from tapegrad.core.missing import public_names
from tapegrad.core.shape import numbered
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.creation.tensor import tensor as new_tensor
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one.

    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    found = np.empty_like(permutation._array)
    found[permutation._array] = np.arange(len(found))
    return wrap(found)


class PackedSequence(tuple):
    """A batch of sequences of different lengths, longest first, one time after the other.

    `data` (rows, ...) holds `batch_sizes[t]` rows for time t; `sorted_indices` is the order in
    which sequences were put, `unsorted_indices` the way back. Made by `pack_padded_sequence` and
    `pack_sequence`; recurrent layers take it and return one.

    >>> pack = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> pack.data, pack.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    __slots__ = ()
    _fields = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")

    def __new__(
        cls,
        data: object,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise assertion_error(
                    "Expected data to be a list or tuple of length 2",
                    "Pass data and batch_sizes; pack_sequence makes them of a list of tensors.",
                )
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, (data, batch_sizes, sorted_indices, unsorted_indices))

    def __getnewargs__(self) -> tuple:
        return tuple(self)

    def __repr__(self) -> str:
        items = ", ".join(f"{n}={x!r}" for n, x in zip(self._fields, self, strict=True))
        return f"PackedSequence({items})"

    @property
    def data(self) -> Tensor:
        """The rows, those of one time after those of the time before."""
        return self[0]

    @property
    def batch_sizes(self) -> Tensor:
        """How many sequences go on at each time."""
        return self[1]

    @property
    def sorted_indices(self) -> Tensor | None:
        """Which sequence stands at each place; None if they were in order."""
        return self[2]

    @property
    def unsorted_indices(self) -> Tensor | None:
        """At which place each sequence stands."""
        return self[3]

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data are in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self) -> PackedSequence:
        """The same with all parts in pinned memory."""
        return type(self)(*(None if x is None else x.pin_memory() for x in self))

    def to(self, *args: object, **kwargs: object) -> PackedSequence:
        """The same with data in another dtype or on another device, as `Tensor.to`."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [None if x is None else x.to(data.device) for x in self[2:]]
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self, *args: object, **kwargs: object) -> PackedSequence:
        """The same on the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: object, **kwargs: object) -> PackedSequence:
        """The same on a GPU."""
        return self.to(*args, device="cuda", **kwargs)

    def double(self) -> PackedSequence:
        """The same with data in float64."""
        return self._cast("double")

    def float(self) -> PackedSequence:
        """The same with data in float32."""
        return self._cast("float")

    def half(self) -> PackedSequence:
        """The same with data in float16."""
        return self._cast("half")

    def long(self) -> PackedSequence:
        """The same with data in int64."""
        return self._cast("long")

    def int(self) -> PackedSequence:
        """The same with data in int32."""
        return self._cast("int")

    def short(self) -> PackedSequence:
        """The same with data in int16."""
        return self._cast("short")

    def char(self) -> PackedSequence:
        """The same with data in int8."""
        return self._cast("char")

    def byte(self) -> PackedSequence:
        """The same with data in uint8."""
        return self._cast("byte")

    def _cast(self, name: str) -> PackedSequence:
        return self.to(dtype=getattr(self.data, name)().dtype)


def _time_and_place(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Time and sequence of each row of a packed sequence."""
    starts = np.cumsum(sizes) - sizes
    times = numbered(sizes)
    return times, np.arange(len(times)) - starts[times]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences: (T, B, ...), or (B, T, ...) with `batch_first`, and their lengths.

    With `enforce_sorted` the lengths must not increase; without, sequences are sorted, and layers
    give their results back in the order they came in.

    >>> x = torch.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
    >>> pack = torch.nn.utils.rnn.pack_padded_sequence
    >>> pack(x, [2, 1, 3], batch_first=True, enforce_sorted=False).data
    tensor([4, 1, 3, 5, 2, 6])
    """
    if not isinstance(lengths, Tensor):
        lengths = new_tensor([int(n) for n in lengths])
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    counts = lengths._array.astype(np.int64)
    _check_lengths(input, counts)
    # how many of the sequences, longest first, are longer than 0, 1, ...
    longer = counts > np.arange(counts[0])[:, None]
    sizes = longer.sum(axis=1, dtype=np.int64)
    times, places = _time_and_place(sizes)
    if len(times) == input.shape[0] * input.shape[1]:
        data = input.reshape(len(times), *input.shape[2:]).clone()
    else:
        data = input[wrap(times), wrap(places)]
    return PackedSequence(data, wrap(sizes), sorted_indices)


def _check_lengths(input: Tensor, lengths: np.ndarray) -> None:
    batch = input.size(1)
    if not input.numel():
        raise runtime_error(
            "Cannot pack empty tensors.", "There is a sequence, of one time or more."
        )
    if len(lengths) != batch:
        raise runtime_error(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} "
            f"(batch_size={batch})",
            "The input is (time, batch, ...), with batch_first=True (batch, time, ...).",
        )
    if lengths.min() <= 0:
        raise runtime_error(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0",
            "Leave empty sequences out.",
        )
    if (lengths[1:] > lengths[:-1]).any():
        raise runtime_error(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence "
            "to sidestep this requirement if you do not need ONNX exportability.",
            "Pass enforce_sorted=False.",
        )
    if lengths[0] > input.size(0):
        raise runtime_error(
            f"Expected lengths of at most {input.size(0)}, the number of times in the input, "
            f"but found {lengths[0]}",
            "The input is (time, batch, ...), with batch_first=True (batch, time, ...).",
        )


def _with_padding(rows: Tensor, index: np.ndarray, padding_value: float) -> Tensor:
    """`rows` at each place of `index`, padding where it is past the last row."""
    padding = rows.new_full((1, *rows.shape[1:]), padding_value)
    found = cat((rows, padding)).index_select(0, wrap(index.reshape(-1)))
    return found.view(*index.shape, *rows.shape[1:])


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """A packed sequence as a padded tensor (T, B, ...), and the lengths.

    >>> rnn = torch.nn.utils.rnn
    >>> pack = rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> rnn.pad_packed_sequence(pack, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    sizes = sequence.batch_sizes._array
    n_times, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < n_times:
            raise value_error(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{n_times}",
                f"Pass {n_times} or more.",
            )
        n_times = total_length
    data = sequence.data
    times, places = _time_and_place(sizes)
    index = np.full((n_times, batch), len(data))
    index[times, places] = np.arange(len(data))
    lengths = counts_of(places, batch)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices._array
        index, lengths = index[:, order], lengths[order]
    padded = _with_padding(data, index.T if batch_first else index, padding_value)
    return padded, wrap(lengths)


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Tensors of shapes (L_i, ...) padded to one (max L_i, B, ...), or (B, max L_i, ...).

    >>> pad = torch.nn.utils.rnn.pad_sequence
    >>> pad([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise runtime_error(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}",
            "Pass a list of tensors.",
        )
    given = sequences.unbind(0) if isinstance(sequences, Tensor) else tuple(sequences)
    if not given:
        raise runtime_error("received an empty list of sequences", "There is one at least.")
    if padding_side not in ("left", "right"):
        raise runtime_error(
            f"Expected padding_side to be one of left or right, but got {padding_side}.",
            "Padding is put on the left or on the right.",
        )
    if not given[0].dim():
        raise runtime_error(
            "ArrayRef: invalid slice, N = 1; size = 0", "A sequence has a dimension of time."
        )
    trailing = tuple(given[0].shape[1:])
    given = tuple(_alike(x, trailing, given[0].dtype) for x in given)
    lengths = np.array([len(x) for x in given])
    width = lengths.max()
    rows = cat(given)
    times = np.arange(width)[None, :] - (
        (width - lengths)[:, None] if padding_side == "left" else 0
    )
    starts = np.cumsum(lengths) - lengths
    inside = (times >= 0) & (times < lengths[:, None])
    index = np.where(inside, starts[:, None] + times, len(rows))  # (B, T)
    return _with_padding(rows, index if batch_first else index.T, padding_value)


def _alike(x: Tensor, trailing: tuple[int, ...], dtype: DTypeLike) -> Tensor:
    """A sequence with trailing sizes and dtype of the first one."""
    shape = (x.shape[0], *trailing)
    if tuple(x.shape) != shape:
        if any(n not in (1, m) for n, m in zip(reversed(x.shape), reversed(shape), strict=False)):
            raise errors.broadcast(shape, tuple(x.shape))
        x = x.expand(shape)
    return x if x.dtype is dtype else x.to(dtype)


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack tensors of shapes (L_i, ...).

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """
    lengths = new_tensor([len(x) for x in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Any, batch_first: bool = False
) -> list[Tensor]:
    """A padded tensor as a list of tensors without padding.

    >>> unpad = torch.nn.utils.rnn.unpad_sequence
    >>> unpad(torch.tensor([[1, 2, 3], [4, 0, 0]]), torch.tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [x[: int(n)].clone() for x, n in zip(padded_sequences, lengths, strict=False)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """A packed sequence as a list of tensors.

    >>> rnn = torch.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__all__ = public_names(globals())
