"""assert_close: whether results are those expected, within the tolerance of their dtype.

Two results are taken apart together into pairs: of tensors, numbers, bools and None. Each kind of
pair is a class, which refuses inputs that it is not for; the first class that takes them compares.
"""

import cmath
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapegrad.core import dtype as dtypes
from tapegrad.core import errors
from tapegrad.core.dtype import dtype as DType
from tapegrad.core.errors import deprecated
from tapegrad.core.memory_format import sparse_csc, sparse_csr, strided
from tapegrad.core.promote_types import promote_types
from tapegrad.operators.creation.from_numpy_asarray import as_tensor
from tapegrad.tensors.tensor import Tensor
from tapegrad.testing._difference import scalar_mismatch, tensor_mismatch

_COMPRESSED = {
    sparse_csr: ("CSR", "crow_indices", "col_indices"),
    sparse_csc: ("CSC", "ccol_indices", "row_indices"),
}

__all__ = ["assert_allclose", "assert_close"]

Message = str | Callable[[str], str] | None
Options = dict[str, Any]

_HALF, _SINGLE, _DOUBLE = (1e-3, 1e-5), (1.3e-6, 1e-5), (1e-7, 1e-7)
_TOLERANCES = {
    dtypes.float16: _HALF,
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: _SINGLE,
    dtypes.float64: _DOUBLE,
    dtypes.complex32: _HALF,
    dtypes.complex64: _SINGLE,
    dtypes.complex128: _DOUBLE,
}

_BUG = (
    "resulted in the unexpected exception above. If you are a user and see this message during "
    "normal operation please file an issue at https://github.com/pytorch/pytorch/issues. If you "
    "are a developer and working on the comparison functions, please except the previous error and "
    "raise an expressive `ErrorMeta` instead."
)


def default_tolerances(
    *inputs: Tensor | DType, dtype_precisions: dict[DType, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """The relative and the absolute tolerance of tensors or dtypes: the widest of all.

    >>> from tapegrad.testing._comparison import default_tolerances
    >>> default_tolerances(torch.float32, torch.bfloat16)
    (0.016, 1e-05)
    """
    table = dtype_precisions or _TOLERANCES
    given = []
    for each in inputs:
        dtype = each.dtype if isinstance(each, Tensor) else each
        if not isinstance(dtype, DType):
            raise errors.type_error(
                f"Expected a torch.Tensor or a torch.dtype, but got {type(each)} instead.",
                "Pass what has a dtype.",
            )
        given.append(table.get(dtype, (0.0, 0.0)))
    relative, absolute = zip(*given, strict=True)
    return max(relative), max(absolute)


def get_tolerances(
    *inputs: Tensor | DType, rtol: float | None, atol: float | None, id: tuple = ()
) -> tuple[float, float]:
    """The given tolerances, or those of the inputs if none is given."""
    if rtol is None and atol is None:
        return default_tolerances(*inputs)
    if rtol is None or atol is None:
        raise errors.value_error(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}.{_at(id)}",
            "Pass both.",
        )
    return rtol, atol


class UnsupportedInputs(Exception):
    """The inputs are not of the kind that a pair compares."""


class Mismatch(Exception):
    """What does not agree: the class of the error, its message, the place in containers."""

    def __init__(
        self, message: str, id: tuple = (), msg: Message = None, kind: type = AssertionError
    ) -> None:
        super().__init__(message)
        self.message, self.id, self.msg, self.kind = message, id, msg, kind

    def error(self) -> Exception:
        """The error to raise, in the words of `msg` if there are such."""
        text = self.message + _at(self.id)
        if callable(self.msg):
            text = self.msg(text)
        elif isinstance(self.msg, str):
            text = self.msg
        return self.kind(text)


def _at(id: tuple) -> str:
    return f"\n\nThe failure occurred for item {_path(id)}" if id else ""


def _path(id: tuple) -> str:
    return "".join(f"[{each!r}]" for each in id)


class Pair:
    """Two things of one kind, and how they are compared.

    Raises:
        UnsupportedInputs: they are not of the kind of this class.
    """

    def __init__(self, actual: Any, expected: Any, *, id: tuple = (), **options: Any) -> None:
        self.actual, self.expected, self.id = actual, expected, id
        self.options = options

    def compare(self) -> None:
        """Raise Mismatch if they are not close."""
        raise NotImplementedError

    def mismatch(self, message: str) -> Mismatch:
        return Mismatch(message, self.id, self.options.get("msg"))

    def details(self) -> Iterator[tuple[str, Any]]:
        yield "id", self.id
        yield "actual", self.actual
        yield "expected", self.expected
        for name in self.shown:
            yield name, getattr(self, name)

    shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = "".join(f"    {name}={value},\n" for name, value in self.details())
        return f"{type(self).__name__}(\n{lines})"

    def require(self, *kinds: type) -> None:
        """Both inputs are of `kinds`."""
        if not (isinstance(self.actual, kinds) and isinstance(self.expected, kinds)):
            raise UnsupportedInputs


class NonePair(Pair):
    """None, which equals only itself."""

    def __init__(self, actual: Any, expected: Any, **options: Any) -> None:
        super().__init__(actual, expected, **options)
        if actual is not None and expected is not None:
            raise UnsupportedInputs

    def compare(self) -> None:
        if self.actual is not None or self.expected is not None:
            raise self.mismatch(f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two bools, of Python or NumPy."""

    def __init__(self, actual: Any, expected: Any, **options: Any) -> None:
        super().__init__(actual, expected, **options)
        self.require(bool, np.bool_)
        self.actual, self.expected = bool(actual), bool(expected)

    def compare(self) -> None:
        if self.actual is not self.expected:
            raise self.mismatch(f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two numbers, of Python or NumPy."""

    shown = ("rtol", "atol", "equal_nan", "check_dtype")

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple = (),
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_dtype: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(actual, expected, id=id, **options)
        self.require(int, float, complex, np.number)
        self.actual, self.expected = (
            x.item() if isinstance(x, np.number) else x for x in (actual, expected)
        )
        kinds = {int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}
        own = [kinds[type(x)] for x in (self.actual, self.expected)]
        self.rtol, self.atol = get_tolerances(*own, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            raise self.mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        if actual == expected:
            return
        if self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
            return
        distance = abs(actual - expected)
        if not (math.isfinite(distance) and distance <= self.atol + self.rtol * abs(expected)):
            raise self.mismatch(scalar_mismatch(actual, expected, self.rtol, self.atol))


class TensorLikePair(Pair):
    """Two tensors, or two things of one type that become tensors."""

    shown = (
        "rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride",
    )  # fmt: skip

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple = (),
        allow_subclasses: bool = True,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_device: bool = True,
        check_dtype: bool = True,
        check_layout: bool = True,
        check_stride: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(actual, expected, id=id, **options)
        is_one_type = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not is_one_type or (not allow_subclasses and type(actual) is not type(expected)):
            raise UnsupportedInputs
        self.actual, self.expected = self._tensor(actual), self._tensor(expected)
        self.rtol, self.atol = get_tolerances(
            self.actual, self.expected, rtol=rtol, atol=atol, id=id
        )
        self.equal_nan, self.check_stride = equal_nan, check_stride
        self.check_device, self.check_dtype = check_device, check_dtype
        self.check_layout = check_layout

    def _tensor(self, x: Any) -> Tensor:
        if isinstance(x, Tensor):
            return x
        try:
            return as_tensor(x)
        except Exception as error:
            raise UnsupportedInputs from error

    def compare(self) -> None:
        actual, expected = self.actual.detach(), self.expected.detach()
        self._compare_attributes(actual, expected)
        if "meta" in (actual.device.type, expected.device.type):
            return  # nothing to compare
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            dtype = _common_dtype(actual.dtype, expected.dtype)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.is_sparse and expected.is_sparse:
            self._compare_sparse(actual, expected)
            return
        if actual.layout is expected.layout and actual.layout in _COMPRESSED:
            self._compare_compressed(actual, expected)
            return
        actual, expected = (x if x.layout is strided else x.to_dense() for x in (actual, expected))
        reason = tensor_mismatch(actual, expected, self.rtol, self.atol, self.equal_nan)
        if reason is not None:
            raise self.mismatch(reason)

    def _compare_sparse(self, actual: Tensor, expected: Tensor) -> None:
        if actual.is_coalesced() != expected.is_coalesced():
            actual, expected = actual.coalesce(), expected.coalesce()
        if actual.sparse_dim() != expected.sparse_dim():
            raise self.mismatch(
                "The number of sparse dimensions in sparse COO tensors does not match: "
                f"{actual.sparse_dim()} != {expected.sparse_dim()}"
            )
        if actual._nnz() != expected._nnz():
            raise self.mismatch(
                "The number of specified values in sparse COO tensors does not match: "
                f"{actual._nnz()} != {expected._nnz()}"
            )
        self._compare_parts(
            "COO",
            ("indices", actual._indices(), expected._indices()),
            ("values", actual._values(), expected._values()),
        )

    def _compare_compressed(self, actual: Tensor, expected: Tensor) -> None:
        kind, starts, along = _COMPRESSED[actual.layout]
        if actual._nnz() != expected._nnz():
            raise self.mismatch(
                f"The number of specified values in sparse {kind} tensors does not match: "
                f"{actual._nnz()} != {expected._nnz()}"
            )
        both = actual, expected
        self._compare_parts(
            kind,
            (starts, *(getattr(x, starts)() for x in both)),
            (along, *(getattr(x, along)() for x in both)),
            ("values", *(x.values() for x in both)),
        )

    def _compare_parts(self, kind: str, *parts: tuple[str, Tensor, Tensor]) -> None:
        for name, ours, theirs in parts:
            rtol, atol = (self.rtol, self.atol) if name == "values" else (0.0, 0.0)
            reason = tensor_mismatch(ours, theirs, rtol, atol, self.equal_nan)
            if reason is not None:
                raise self.mismatch(reason.replace("Tensor-likes", f"Sparse {kind} {name}", 1))

    def _strides(self, *tensors: Tensor) -> list[Any]:
        return [x.stride() if self.check_stride else None for x in tensors]

    def _compare_attributes(self, actual: Tensor, expected: Tensor) -> None:
        checks = (
            (True, "shape", actual.shape, expected.shape),
            (self.check_layout, "layout", actual.layout, expected.layout),
            (self.check_stride, "stride()", *self._strides(actual, expected)),
            (self.check_device, "device", actual.device, expected.device),
            (self.check_dtype, "dtype", actual.dtype, expected.dtype),
        )
        for is_asked, name, ours, theirs in checks:
            if is_asked and ours != theirs:
                raise self.mismatch(
                    f"The values for attribute '{name}' do not match: {ours} != {theirs}."
                )


def _common_dtype(a: DType, b: DType) -> DType:
    has_fraction = any(x.is_floating_point or x.is_complex for x in (a, b))
    return promote_types(a, b) if has_fraction else dtypes.int64


class ObjectPair(Pair):
    """Any two things, equal as Python has it."""

    def compare(self) -> None:
        if self.actual != self.expected:
            raise self.mismatch(f"{self.actual} != {self.expected}")


_KINDS: tuple[type[Pair], ...] = (NonePair, BooleanPair, NumberPair, TensorLikePair)


def originate_pairs(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]] = _KINDS,
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    id: tuple = (),
    **options: Any,
) -> Iterator[Pair]:
    """The pairs of two things that may be containers; `id` is their place in those around them."""

    def inside(ours: Any, theirs: Any, place: Any) -> Iterator[Pair]:
        return originate_pairs(
            ours,
            theirs,
            pair_types=pair_types,
            sequence_types=sequence_types,
            mapping_types=mapping_types,
            id=(*id, place),
            **options,
        )

    is_text = isinstance(actual, str) or isinstance(expected, str)
    if _both(actual, expected, sequence_types) and not is_text:
        if len(actual) != len(expected):
            raise Mismatch(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", id
            )
        for i in range(len(actual)):
            yield from inside(actual[i], expected[i], i)
    elif _both(actual, expected, mapping_types):
        for key in _common_keys(actual, expected, id):
            yield from inside(actual[key], expected[key], key)
    else:
        yield _pair(actual, expected, pair_types, id, options)


def _both(actual: Any, expected: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(actual, kinds) and isinstance(expected, kinds)


def _common_keys(actual: Mapping, expected: Mapping, id: tuple) -> list:
    missing, additional = set(expected) - set(actual), set(actual) - set(expected)
    if missing or additional:
        raise Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\n"
            f"Additional keys in the actual mapping: {sorted(additional)}",
            id,
        )
    try:
        return sorted(actual)
    except TypeError:  # keys that have no order among each other
        return list(actual)


def _pair(
    actual: Any, expected: Any, kinds: Sequence[type[Pair]], id: tuple, options: Options
) -> Pair:
    for kind in kinds:
        try:
            return kind(actual, expected, id=id, **options)
        except UnsupportedInputs:
            continue
        except (Mismatch, ValueError):
            raise
        except Exception as error:
            raise errors.runtime_error(
                f"Originating a {kind.__name__}() at item {_path(id)} with\n\n"
                f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                f"{type(expected).__name__}(): {expected}\n\n{_BUG}",
                "A bool is compared with a bool only: convert one of them.",
            ) from error
    raise Mismatch(
        "No comparison pair was able to handle inputs of type "
        f"{type(actual)} and {type(expected)}.",
        id,
        kind=TypeError,
    )


def _compare(pair: Pair) -> None:
    try:
        pair.compare()
    except Mismatch:
        raise
    except Exception as error:
        raise errors.runtime_error(
            f"Comparing\n\n{pair!r}\n\n{_BUG}", "See the exception above."
        ) from error


def not_close_error_metas(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]] = (ObjectPair,),
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    **options: Any,
) -> list[Mismatch]:
    """All that does not agree, in the order of the containers."""
    found: list[Mismatch] = []
    try:
        pairs = list(
            originate_pairs(
                actual,
                expected,
                pair_types=pair_types,
                sequence_types=sequence_types,
                mapping_types=mapping_types,
                **options,
            )
        )
    except Mismatch as mismatch:
        raise mismatch.error() from None
    for pair in pairs:
        try:
            _compare(pair)
        except Mismatch as mismatch:
            found.append(mismatch)
    return found


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raise unless `|actual - expected| <= atol + rtol * |expected|` holds everywhere.

    Tensors, arrays, numbers, bools and None are compared with their like; sequences and mappings
    item by item.

    Args:
        allow_subclasses: compare an instance of a subclass with one of its base.
        rtol: relative tolerance; both or none. By default that of the dtype: 1.3e-6 for float32,
            1e-7 for float64, 1e-3 for float16, 1.6e-2 for bfloat16, 0 for integers.
        atol: absolute tolerance; 1e-5 by default, 1e-7 for float64, 0 for integers.
        equal_nan: nan equals nan.
        check_device, check_dtype, check_layout, check_stride: these must agree, too.
        msg: the message of the error, or a function that makes it of the usual one.

    Raises:
        AssertionError: they are not close.
        TypeError: there is no way to compare such inputs.
        ValueError: one of `rtol` and `atol` is given, without the other.

    >>> from tapegrad.testing import assert_close
    >>> assert_close(torch.tensor([1.0, 2.0]).sqrt() ** 2, torch.tensor([1.0, 2.0]))
    >>> assert_close([torch.tensor([1, 2, 3])], [torch.tensor([1, 2, 4])])
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not equal!
    <BLANKLINE>
    Mismatched elements: 1 / 3 (33.3%)
    Greatest absolute difference: 1 at index (2,)
    Greatest relative difference: 0.25 at index (2,)
    <BLANKLINE>
    The failure occurred for item [0]
    """
    found = not_close_error_metas(
        actual,
        expected,
        pair_types=_KINDS,
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
        msg=msg,
    )
    if found:
        raise found[0].error()


_OLDER = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older `assert_close`: wider tolerances, nan equals nan, dtypes may differ.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.testing.assert_allclose(torch.tensor([1.0]), [1.00005])
    """
    deprecated(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844."
    )
    if not isinstance(actual, Tensor):
        actual = as_tensor(actual)
    if not isinstance(expected, Tensor):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_OLDER)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )
