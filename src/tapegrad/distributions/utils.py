"""What distributions share: common shapes, probabilities and their logits, lazy attributes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, overload

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.nn import functional as F

T = TypeVar("T", contravariant=True)
R = TypeVar("R", covariant=True)

euler_constant: Final[float] = 0.57721566490153286060

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


def broadcast_all(*values: Any) -> tuple:
    """The values as tensors of one shape; numbers take the dtype and device of the tensors.

    Where all are numbers, they become tensors of the default dtype.

    Raises: ValueError if one is neither a number nor a tensor.

    >>> from tapegrad.distributions.utils import broadcast_all
    >>> [x.shape for x in broadcast_all(1, torch.zeros(3))]
    [torch.Size([3]), torch.Size([3])]
    """
    if not all(_is_tensor_like(x) or isinstance(x, (int, float)) for x in values):
        raise errors.value_error(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__.",
            "Parameters of a distribution are tensors or numbers.",
        )
    if not all(_is_tensor_like(x) for x in values):
        options: dict[str, Any] = {"dtype": torch.get_default_dtype()}
        for x in values:
            if isinstance(x, torch.Tensor):
                options = {"dtype": x.dtype, "device": x.device}
                break
        values = tuple(x if _is_tensor_like(x) else torch.tensor(x, **options) for x in values)
    return torch.broadcast_tensors(*values)


def _is_tensor_like(x: object) -> bool:
    return isinstance(x, torch.Tensor) or hasattr(type(x), "__torch_function__")


def one_of_probs_and_logits(probs: Any, logits: Any) -> None:
    """Raise ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise errors.value_error(
            "Either `probs` or `logits` must be specified, but not both.",
            "The one is computed from the other.",
        )


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers: independent of all parameters, hence without a gradient."""
    return torch.normal(
        torch.zeros(shape, dtype=dtype, device=device),
        torch.ones(shape, dtype=dtype, device=device),
    )


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sums over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities: a softmax over the last dimension, or a sigmoid of each element (`is_binary`).

    >>> from tapegrad.distributions.utils import logits_to_probs
    >>> logits_to_probs(torch.zeros(2)), logits_to_probs(torch.zeros(2), is_binary=True)
    (tensor([0.5000, 0.5000]), tensor([0.5000, 0.5000]))
    """
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities moved into `[eps, 1 - eps]`, so that their logarithms are finite.

    >>> from tapegrad.distributions.utils import clamp_probs
    >>> bool(clamp_probs(torch.tensor(0.0)) > 0)
    True
    """
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Logarithms of probabilities, or of their odds `p / (1 - p)` (`is_binary`).

    >>> from tapegrad.distributions.utils import probs_to_logits
    >>> probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    inside = clamp_probs(probs)
    logits = torch.log(inside)
    return logits - torch.log1p(-inside) if is_binary else logits


class lazy_property(Generic[T, R]):
    """An attribute that is computed when it is first asked for, with gradients, and then kept.

    >>> from tapegrad.distributions.utils import lazy_property
    >>> class Square:
    ...     @lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return 4
    >>> s = Square()
    >>> s.area, s.area
    computed
    (4, 4)
    """

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> Any: ...
    @overload
    def __get__(self, instance: T, obj_type: Any = None) -> R: ...
    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property[T, R], property):
    """What the class shows of a lazy property: a property, so that documentation finds it."""

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements on and below the diagonal `diag` of matrices `(*, D, D)`, row by row, `(*, N)`.

    Raises: ValueError if there is no such diagonal.

    >>> from tapegrad.distributions.utils import tril_matrix_to_vec
    >>> tril_matrix_to_vec(torch.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise errors.value_error(
            f"diag ({diag}) provided is outside [{-n}, {n - 1}].", "Diagonal 0 is the main one."
        )
    rows = torch.arange(n, device=mat.device)
    return mat[..., rows < (rows + 1 + diag).unsqueeze(-1)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Matrices `(*, D, D)` with the numbers `(*, N)` on and below the diagonal `diag`.

    Raises: ValueError if N numbers do not fill such a triangle.

    >>> from tapegrad.distributions.utils import vec_to_tril_matrix
    >>> vec_to_tril_matrix(torch.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    # D (D + 1) / 2 numbers of a square of D + diag rows: the positive root of the quadratic
    root = (math.sqrt((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) - 1) / 2
    n = root - diag
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise errors.value_error(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix.",
            "A triangle with its diagonal has D * (D + 1) / 2 elements.",
        )
    size = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    rows = torch.arange(size, device=vec.device)
    mat[..., rows < (rows + 1 + diag).unsqueeze(-1)] = vec
    return mat
