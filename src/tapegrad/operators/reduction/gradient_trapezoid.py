"""Derivatives and integrals of sampled functions: gradient, trapezoid, cumulative_trapezoid."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axes_of, axis_of, no_dimensions
from tapegrad.operators.creation.zeros_eye import zeros
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.operators.with_number import over_number, times_number

__torch__ = "cumulative_trapezoid gradient trapezoid trapz"

# --- derivatives -----------------------------------------------------------------------------

_FORMS = (
    "Tensor input, *, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Scalars spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Scalars spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1",
)


def _part(x: Any, axis: int, start: Any, stop: Any = None) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _evenly(x: Tensor, axis: int, h: Any, edge_order: int) -> Any:
    """Differences over steps of one size."""
    inner = (_part(x, axis, 2) - _part(x, axis, 0, -2)) / (2 * h)
    n = x._array.shape[axis]
    if edge_order == 1:
        first = (_part(x, axis, 1, 2) - _part(x, axis, 0, 1)) / h
        last = (_part(x, axis, n - 1) - _part(x, axis, n - 2, n - 1)) / h
    else:
        a, b, c = (_part(x, axis, i, i + 1) for i in (0, 1, 2))
        first = (-1.5 * a + 2 * b - 0.5 * c) / h
        a, b, c = (_part(x, axis, n - i, n - i + 1) for i in (3, 2, 1))
        last = (0.5 * a - 2 * b + 1.5 * c) / h
    return cat([first, inner, last], axis)


def _unevenly(x: Tensor, axis: int, places: Any, edge_order: int) -> Any:
    """Second order between neighbours at distances d and e: weights of x[i-1], x[i], x[i+1]."""
    shape = [-1 if i == axis else 1 for i in range(x._array.ndim)]
    steps = (places[1:] - places[:-1]).reshape(shape)
    d, e = _part(steps, axis, 0, -1), _part(steps, axis, 1)
    inner = (
        -e / (d * (d + e)) * _part(x, axis, 0, -2)
        + (e - d) / (d * e) * _part(x, axis, 1, -1)
        + d / (e * (d + e)) * _part(x, axis, 2)
    )
    n = x._array.shape[axis]
    if edge_order == 1:
        first = (_part(x, axis, 1, 2) - _part(x, axis, 0, 1)) / _part(steps, axis, 0, 1)
        last = (_part(x, axis, n - 1) - _part(x, axis, n - 2, n - 1)) / _part(steps, axis, -1)
        return cat([first, inner, last], axis)
    d, e = _part(steps, axis, 0, 1), _part(steps, axis, 1, 2)
    a, b, c = (_part(x, axis, i, i + 1) for i in (0, 1, 2))
    first = -(2 * d + e) / (d * (d + e)) * a + (d + e) / (d * e) * b - d / (e * (d + e)) * c
    d, e = _part(steps, axis, -2, -1), _part(steps, axis, -1)
    a, b, c = (_part(x, axis, n - i, n - i + 1) for i in (3, 2, 1))
    last = e / (d * (d + e)) * a - (d + e) / (d * e) * b + (2 * e + d) / (e * (d + e)) * c
    return cat([first, inner, last], axis)


def _is_number(x: Tensor) -> bool:
    if hasattr(x, "_array"):
        return not x._array.ndim and not x.requires_grad
    return isinstance(x, (int, float, complex))


def _spacings(input: Tensor, spacing: Any, dim: Dim, n: int) -> list:
    """For each dimension the step, a number, or the places of the samples, a vector."""
    if spacing is None:
        return [1] * n
    if _is_number(spacing) and (dim is not None or not hasattr(spacing, "_array")):
        return [spacing] * n
    if not isinstance(spacing, (tuple, list)):
        given = {"spacing": spacing} if dim is None else {"spacing": spacing, "dim": dim}
        raise errors.invalid_combination("gradient", (input,), given, _FORMS)
    if len(spacing) != n:
        wanted = "torch.gradient expected spacing to be unspecified, a scalar"
        if dim is None:
            text = (
                f"{wanted}, or a list of length equal to 'self.dim() = {n}', since dim argument "
                f"was not given, but got a list of length {len(spacing)}"
            )
        else:
            text = (
                f"{wanted} or it's spacing and dim arguments to have the same length, but got a "
                f"spacing argument of length {len(spacing)} and a dim argument of length {n}."
            )
        raise errors.runtime_error(text, "Give one spacing for each dimension.")
    for each in spacing:
        if hasattr(each, "_array") and each._array.ndim != 1:
            raise errors.runtime_error(
                "torch.gradient expected each element of spacing to have one dimension, but "
                f"got an element with {each._array.ndim} dimensions!",
                "Give a number, or the places of the samples as a vector.",
            )
    return list(spacing)


@require_tensors
def gradient(input: Tensor, *, spacing: Any = None, dim: Dim = None, edge_order: int = 1) -> tuple:
    """Estimates of the derivatives of a sampled function along `dim`, by default all dimensions.

    Central differences, of second order inside, one-sided ones of `edge_order` at both ends.

    Args:
        spacing: the distance of samples (1), a number for each dimension, or for each the places
            of its samples.

    Returns:
        A tensor of the input's shape for each dimension.

    Raises: RuntimeError where a dimension has fewer than `edge_order` + 1 samples.

    >>> torch.gradient(torch.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)
    """
    errors.need_tensor("gradient", "input", 1, input)
    several = dim if isinstance(dim, (tuple, list)) else (dim,)
    if (dim is not None and not all(hasattr(d, "__index__") for d in several)) or not hasattr(
        edge_order, "__index__"
    ):
        given = {"edge_order": edge_order} if dim is None else {"dim": dim}
        raise errors.invalid_combination("gradient", (input,), given, _FORMS)
    ndim = input._array.ndim
    steps = _spacings(input, spacing, dim, ndim if dim is None else len(several))
    problem = ""
    if input.dtype.name == "uint8":
        problem = "torch.gradient does not support uint8 input."
    elif edge_order not in (1, 2):
        problem = "torch.gradient only supports edge_order=1 and edge_order=2."
    if problem:
        raise errors.runtime_error(problem, "Convert the input, or choose 1 or 2.")
    axes = _axes(dim, ndim)
    if any(input._array.shape[axis] <= edge_order for axis in axes):
        text = "torch.gradient expected each dimension size to be at least edge_order+1"
        raise errors.runtime_error(text, "A difference needs two samples, or three.")
    found = []
    for axis, h in zip(axes, steps, strict=True):
        places = hasattr(h, "_array") and h._array.ndim
        found.append((_unevenly if places else _evenly)(input, axis, h, edge_order))
    return tuple(found)


def _axes(dim: Dim, ndim: int) -> tuple[int, ...]:
    if dim is not None and not ndim:
        first: Any = dim[0] if isinstance(dim, (tuple, list)) else dim
        raise _no_dimensions(first)
    return axes_of(dim, ndim)


def _no_dimensions(dim: int) -> IndexError:
    return no_dimensions(dim, "A single number is no sampled function.")


# --- integrals -------------------------------------------------------------------------------


def _integrand(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int, first: str) -> int:
    """The axis to integrate along, after a look at the arguments."""
    named = {}
    if dx is not None:
        named["dx"] = dx
    if (x is not None and (dx is not None or not hasattr(x, "_array"))) or not (
        dx is None or _is_number(dx)
    ):
        args = (y,) if x is None or dx is not None else (y, x)
        if x is not None and dx is not None:
            named = {"x": x, "dx": dx}
        forms = (
            f"Tensor y, *, {first} dx = 1, int dim = -1",
            "Tensor y, Tensor x, *, int dim = -1",
        )
        forms = forms if first == "float" else forms[::-1]
        raise errors.invalid_combination(name, args, named, forms)
    own = "trapezoid" if name == "trapz" else name
    if y.dtype.name == "bool" or (x is not None and x.dtype.name == "bool"):
        which = "`y`" if x is None else "`x` or `y`"
        text = f"{own}: received a bool input for {which}, but bool is not supported"
        raise errors.runtime_error(text, "Convert it: y.float().")
    if first == "Number" and isinstance(dx, (bool, complex)):
        text = f"{own}: Currently, we only support dx as a real number."
        raise errors.runtime_error(text, "It is the distance of the samples.")
    if not y._array.ndim:
        if own == "trapezoid":
            raise _no_dimensions(dim)
        text = "slice() cannot be applied to a 0-dim tensor."
        raise errors.index_error(text, "A single number is no sampled function.")
    return axis_of(dim, y._array.ndim)


def _steps(name: str, y: Tensor, x: Tensor, axis: int) -> Any:
    """The distances of the places `x`, along `axis` of `y`."""
    ndim = y._array.ndim
    if x._array.ndim == 1:
        if x._array.shape[0] != y._array.shape[axis]:
            text = f"{name}: There must be one `x` value for each sample point"
            advice = f"There are {y._array.shape[axis]} samples and {x._array.shape[0]} places."
            raise errors.runtime_error(text, advice)
        x = x.reshape([-1 if i == axis else 1 for i in range(ndim)])
    elif x._array.ndim < ndim:
        x = x.reshape((1,) * (ndim - x._array.ndim) + x._array.shape)
    return _part(x, axis, 1) - _part(x, axis, 0, -1)


def _pair_sums(y: Tensor, axis: int) -> Any:
    return _part(y, axis, 0, -1) + _part(y, axis, 1)


def _trapezoid(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int, first: str) -> Any:
    axis = _integrand(name, y, x, dx, dim, first)
    if not y._array.shape[axis]:
        shape = y._array.shape
        return zeros((*shape[:axis], *shape[axis + 1 :]), dtype=y.dtype)
    if x is not None:
        product = _pair_sums(y, axis) * _steps("trapezoid", y, x, axis)
        return over_number(product.sum(axis), number=2)
    ends = y.select(axis, 0) + y.select(axis, -1)
    inner = y.sum(axis) - times_number(ends, number=0.5)
    return times_number(inner, number=1 if dx is None else dx)


@require_tensors
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of a sampled function along `dim` by the trapezoidal rule.

    `sum of (y[i] + y[i+1]) / 2 * (x[i+1] - x[i])`, for samples at places `x`, or `dx` (1) apart.

    Shapes: y's without `dim`; x is a vector along it, or broadcasts with y.

    >>> torch.trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    return _trapezoid("trapezoid", y, x, dx, dim, "Number")


@require_tensors
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The same as `trapezoid`, under its old name.

    Shapes: y's without `dim`; x is a vector along it, or broadcasts with y.

    >>> torch.trapz(torch.tensor([1.0, 2.0, 3.0]), dx=2.0)
    tensor(8.)
    """
    return _trapezoid("trapz", y, x, dx, dim, "float")


@require_tensors
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Any:
    """The integral up to each sample but the first, by the trapezoidal rule; see `trapezoid`.

    Shapes: y's, one less along `dim`; x is a vector along it, or broadcasts with y.

    >>> torch.cumulative_trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    axis = _integrand("cumulative_trapezoid", y, x, dx, dim, "Number")
    if x is not None:
        product = _pair_sums(y, axis) * _steps("cumulative_trapezoid", y, x, axis)
        return over_number(product.cumsum(axis), number=2)
    half = (1 if dx is None else dx) / 2.0
    return times_number(_pair_sums(y, axis), number=half).cumsum(axis)
