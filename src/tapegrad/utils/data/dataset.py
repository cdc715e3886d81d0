"""Data sets: samples that have indices (`Dataset`), or come in turn (`IterableDataset`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.data.split import random_split

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples that are found by an index: derive a class with `__getitem__` and `__len__`.

    A class may also have `__getitems__(indices)`, which gives the samples of a batch in one call.

    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> list(torch.utils.data.DataLoader(Squares(), batch_size=2))
    [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> Any:
        from tapegrad.utils.data.joint import ConcatDataset

        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples that come one after the other: derive a class with `__iter__`.

    Each worker of a DataLoader has a copy and gives all of it, unless `__iter__` asks
    `get_worker_info()` which part is its own.

    >>> class Letters(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter("abc")
    >>> list(torch.utils.data.DataLoader(Letters(), batch_size=2))
    [['a', 'b'], ['c']]
    """

    def __add__(self, other: Dataset) -> Any:
        from tapegrad.utils.data.joint import ChainDataset

        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors: sample `i` is `(a[i], b[i], ...)`.

    A DataLoader picks the rows of a whole batch at once, which gives the same and takes a fraction
    of the time.

    Args:
        tensors: of any shapes `(N, ...)` with the same `N`.

    >>> x, y = torch.arange(6).reshape(3, 2), torch.tensor([7, 8, 9])
    >>> torch.utils.data.TensorDataset(x, y)[1]
    (tensor([2, 3]), tensor(8))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise errors.assertion_error(
                "Size mismatch between tensors",
                "Dimension 0 counts the samples: it is the same for all tensors.",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class Subset(Dataset[T_co]):
    """The samples of a data set at given indices.

    >>> part = torch.utils.data.Subset("abcdef", [4, 0, 2])
    >>> len(part), part[0]
    (3, 'e')
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list) -> list:
        picked = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(picked)
        return [self.dataset[i] for i in picked]

    def __len__(self) -> int:
        return len(self.indices)


from tapegrad.utils.data.joint import ChainDataset, ConcatDataset, StackDataset  # noqa: E402  (it needs the classes above)
