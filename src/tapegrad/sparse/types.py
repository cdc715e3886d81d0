"""The old constructors `torch.sparse.FloatTensor` and their kin."""

from typing import Any

from tapegrad.core import tensor_base
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.memory_format import sparse_coo
from tapegrad.core.warn_once import warn_once
from tapegrad.sparse.creation import empty, sparse_coo_tensor
from tapegrad.sparse.tensor import is_sparse

NAMES = {
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "DoubleTensor": "float64",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "ShortTensor": "int16",
}


def _warn_of_form(given: str, current: str) -> None:
    warn_once(
        f"torch.sparse.SparseTensor({given}) is deprecated.  Please use torch.sparse_coo_tensor("
        f"{current})."
    )


class SparseType:
    """A type of sparse tensors: called it makes one, `isinstance` asks for one.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     x = torch.sparse.FloatTensor(torch.tensor([[1]]), torch.tensor([2.0]), (3,))
    >>> x.to_dense(), isinstance(x, torch.sparse.FloatTensor)
    (tensor([0., 2., 0.]), True)
    """

    is_sparse = True
    layout = sparse_coo
    __module__ = "torch.sparse"

    def __init__(self, name: str, dtype: Any):
        self.__name__ = self.__qualname__ = name
        self.dtype = dtype

    def __call__(self, *args: Any) -> Any:
        if not args:
            _warn_of_form("", "(0,), dtype=")
            return empty((0,), self.dtype)
        if isinstance(args[0], tensor_base.TensorBase):
            given = "indices, values, shape" if len(args) > 2 else "indices, values"
            _warn_of_form(f"{given}, *, device=", f"{given}, dtype=, device=")
            return sparse_coo_tensor(*args, check_invariants=False)
        _warn_of_form("shape, *, device=", "shape, dtype=, device=")
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return empty(size, self.dtype)

    def __instancecheck__(self, x: object) -> bool:
        return is_sparse(x) and x.dtype is self.dtype  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<class 'torch.sparse.{self.__name__}'>"


TYPES = {name: SparseType(name, BY_NAME[dtype]) for name, dtype in NAMES.items()}
