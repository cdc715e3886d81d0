"""Comparisons, element by element and of whole tensors."""

from tapegrad.arrays.namespaces import is_mapped, namespace_of, refuse_meta
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Scalar, Tensor
from tapegrad.core.argument_check import also_called, require_tensors
from tapegrad.core.torch_dispatch import leave_to_classes
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import constant, constant_elementwise, elementwise, leads_to
from tapegrad.operators.dtype_check import COMPLEX, lacks, tensor_first

__all__ = [
    "allclose", "eq", "equal", "ge", "greater", "greater_equal", "gt", "isclose", "isfinite",
    "isinf", "isnan", "le", "less", "less_equal", "lt", "ne", "not_equal",
]  # fmt: skip


@constant_elementwise(ufunc="equal", check=tensor_first("eq"))
def eq(xp, input, other):
    """Where two tensors are equal.

    >>> torch.eq(torch.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return input == other


@constant_elementwise(ufunc="not_equal", check=tensor_first("ne"))
def ne(xp, input, other):
    """Where two tensors differ.

    >>> torch.ne(torch.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return input != other


def _ordered(name: str) -> Any:
    return tensor_first(name, "other", lacks(f"{name}_cpu", COMPLEX))


@constant_elementwise(ufunc="less", check=_ordered("lt"))
def lt(xp, input, other):
    """Where `input` is less than `other`.

    >>> torch.lt(torch.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return input < other


@constant_elementwise(ufunc="less_equal", check=_ordered("le"))
def le(xp, input, other):
    """Where `input` is at most `other`.

    >>> torch.le(torch.tensor([2.0, 3.0]), 2)
    tensor([ True, False])
    """
    return input <= other


@constant_elementwise(ufunc="greater", check=_ordered("gt"))
def gt(xp, input, other):
    """Where `input` is greater than `other`.

    >>> torch.gt(torch.tensor([2.0, 3.0]), 2)
    tensor([False,  True])
    """
    return input > other


@constant_elementwise(ufunc="greater_equal", check=_ordered("ge"))
def ge(xp, input, other):
    """Where `input` is at least `other`.

    >>> torch.ge(torch.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return input >= other


# --- in place --------------------------------------------------------------------------------


def _steps(function: Any, hidden: tuple, node: str) -> Any:
    """A comparison whose results have the dtype of its operands: it is made of steps, slope 0."""

    def compare(xp, input, other):
        return xp.astype(function.on_arrays(xp, input, other), input.dtype)

    op = function.op
    declared = elementwise(
        name=op.name, node=node, hidden=hidden, check=op.check, holomorphic=False, registered=False
    )(compare)
    declared.vjp(input=lambda xp, g: xp.zeros_like(g))
    if not hidden:
        declared.vjp(other=lambda xp, g: xp.zeros_like(g))
    return declared


def _written(function: Any) -> Any:
    """The in-place form: unlike the result of its own, what it writes has a place in the graph."""
    name = function.__name__
    declared: list[Any] = []  # of tensors, and of a number: with the first call that needs them

    def compare(input: Tensor, other: Scalar) -> Any:
        needed = getattr(input, "requires_grad", False) or getattr(other, "requires_grad", False)
        if not (needed and is_grad_enabled()):
            return function(input, other)
        if not declared:
            of_tensors = _steps(function, (), f"{name.capitalize()}Backward1")
            declared.extend(
                [of_tensors, _steps(function, ("other",), f"{name.capitalize()}Backward0")]
            )
        found = declared[not hasattr(other, "_array")](input, other)
        if found.dtype is not input.dtype:  # written is what is true, and that fits any dtype
            array = found._array
            xp = namespace_of((array,))
            found._array, found._signature = xp.astype(array, xp.bool), None
        return found

    compare.__name__, compare.__module__ = name, function.__module__
    compare.op = function.op  # type: ignore[attr-defined]
    leads_to(function, compare)
    return in_place(compare)


eq_, ne_, lt_, le_, gt_, ge_ = map(_written, (eq, ne, lt, le, gt, ge))
not_equal = also_called("not_equal", ne)
not_equal_ = also_called("not_equal_", ne_)
less = also_called("less", lt)
less_ = also_called("less_", lt_)
less_equal = also_called("less_equal", le)
less_equal_ = also_called("less_equal_", le_)
greater = also_called("greater", gt)
greater_ = also_called("greater_", gt_)
greater_equal = also_called("greater_equal", ge)
greater_equal_ = also_called("greater_equal_", ge_)


# --- of one tensor ---------------------------------------------------------------------------


@constant_elementwise(ufunc="isnan")
def isnan(xp, x):
    """Where the elements are nan.

    >>> torch.isnan(torch.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return x != x


@constant_elementwise(ufunc="isinf")
def isinf(xp, x):
    """Where the elements are infinite.

    >>> torch.isinf(torch.tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """
    return xp.isinf(x)


@constant_elementwise(ufunc="isfinite")
def isfinite(xp, x):
    """Where the elements are neither infinite nor nan.

    >>> torch.isfinite(torch.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """
    return xp.isfinite(x)


# --- nearness --------------------------------------------------------------------------------


@constant(name="isclose", promote="arith")
def near(xp, input, other, *, rtol, atol, equal_nan):
    """Where two tensors are equal or nearly so."""
    equal = input == other
    if equal_nan:
        equal = xp.logical_or(equal, xp.logical_and(input != input, other != other))
    if rtol == 0 and atol == 0:
        return equal
    if xp.isdtype(input.dtype, ("bool", "integral")):
        input, other = xp.astype(input, xp.float64), xp.astype(other, xp.float64)
    distance = xp.abs(input - other)
    within = distance <= atol + xp.abs(rtol * other)
    return xp.logical_or(equal, xp.logical_and(xp.isfinite(distance), within))


def _tolerance(function: str, argument: str, given: Any) -> float:
    """The float meant by a tolerance: a number, or a tensor without dimensions and without grad."""
    array = getattr(given, "_array", None)
    if array is not None and (array.ndim or given.requires_grad):
        raise errors.must_be(function, argument, 0, "float", given)
    return float(given)


def _check_near(function: str, input: Any, other: Any, rtol: float, atol: float) -> None:
    errors.need_tensors(function, input=input, other=other)
    if input.dtype is not other.dtype:
        text = f"{input.dtype.scalar_name} did not match {other.dtype.scalar_name}"
        raise errors.runtime_error(text, "Give both tensors one dtype.")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            text = f"{name} must be greater than or equal to zero, but got {value:g}"
            raise errors.runtime_error(text, "Tolerances are not negative.")


@require_tensors
def isclose(
    input: Tensor, other: Scalar, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Where `|input - other| <= atol + rtol * |other|`, or both are equal.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError where the dtypes differ.

    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    rtol, atol = _tolerance("isclose", "rtol", rtol), _tolerance("isclose", "atol", atol)
    _check_near("isclose", input, other, rtol, atol)
    return near(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


@require_tensors
def allclose(
    input: Tensor, other: Scalar, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether `isclose` everywhere.

    Shapes: any that broadcast.
    Raises: RuntimeError inside of `vmap`.

    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.000001]))
    True
    """
    leave_to_classes("allclose", input, other)
    rtol, atol = _tolerance("allclose", "rtol", rtol), _tolerance("allclose", "atol", atol)
    _check_near("allclose", input, other, rtol, atol)
    array = near(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)._array
    if is_mapped(array):
        raise errors.runtime_error(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature.",
            "torch.isclose(a, b).all() gives a truth value for each member.",
        )
    return bool(namespace_of((array,)).all(array))


@require_tensors
def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and the same elements.

    Shapes: any; the result is a bool.
    Raises: RuntimeError inside of `vmap`.

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    a, b = input._array, other._array
    if is_mapped(a) or is_mapped(b):
        text = "Batching rule not implemented for aten::equal. We could not generate a fallback."
        raise errors.runtime_error(text, "(a == b).all() gives a truth value for each member.")
    refuse_meta("equal", input, other)
    return tuple(a.shape) == tuple(b.shape) and bool(namespace_of((a,)).all(a == b))
