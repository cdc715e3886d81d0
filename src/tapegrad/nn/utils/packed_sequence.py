"""A batch of sequences of different lengths, packed time by time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tapegrad.core.errors import assertion_error
from tapegrad.core.tensor_base import wrap
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
        data: Any,
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

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with data in another dtype or on another device, as `Tensor.to`."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [None if x is None else x.to(data.device) for x in self[2:]]
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same on the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
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
