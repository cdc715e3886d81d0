"""Histograms of one value or of several: how many points lie between edges."""

import builtins
from math import isfinite

from tapegrad import return_types
from tapegrad.autograd.mode import no_grad
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float32, float64
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.creation.linspace_logspace import linspace
from tapegrad.operators.dtype_check import no_kernel, require_floating
from tapegrad.operators.linalg.matmul_check import c_name
from tapegrad.operators.no_formula import in_graph
from tapegrad.operators.reduction.bincount_histc import bincount, require_bins, require_same_dtype
from tapegrad.operators.reduction.searchsorted_bucketize_isin import places_in

__torch__ = "histogram histogramdd"


def _refused(problem: str, advice: str) -> RuntimeError:
    return errors.runtime_error(f"torch.histogramdd: {problem}", advice)


def _check_points(input: Tensor) -> None:
    if input._array.ndim < 2:
        text = "input tensor should have at least 2 dimensions"
        raise _refused(text, "The last one holds a point.")


def _require_span(input: Tensor) -> None:
    if input.dtype not in (float32, float64):
        raise no_kernel("histogramdd", input.dtype)


def _check_weight(input: Tensor, weight: Tensor | None) -> None:
    """Look at the weights (...) of points (..., D)."""
    shape = list(input._array.shape)
    if weight is None:
        return
    if weight.dtype is not input.dtype:
        raise _refused(
            "if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({c_name(input)}), and weight({c_name(weight)})",
            f"Convert it with .to({input.dtype}).",
        )
    if list(weight._array.shape) != shape[:-1]:
        raise _refused(
            "if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {shape} and weight with "
            f"shape {list(weight._array.shape)}",
            "One weight for each point.",
        )


def _check_edges(input: Tensor, edges: list) -> None:
    n = input._array.shape[-1]
    if len(edges) != n:
        raise _refused(
            f"expected {n} sequences of bin edges for a {n}-dimensional histogram but got "
            f"{len(edges)}",
            "One sequence for each value of a point.",
        )
    for i, each in enumerate(edges):
        if each.dtype is not input.dtype:
            raise _refused(
                "input tensor and bins tensors should have the same dtype, but got input with "
                f"dtype {c_name(input)} and bins for dimension {i} with dtype {c_name(each)}",
                f"Convert them with .to({input.dtype}).",
            )
        if each._array.ndim != 1:
            raise _refused(
                "bins tensor should have one dimension, but got "
                f"{each._array.ndim} dimensions in the bins tensor for dimension {i}",
                "The edges of the bins are a vector.",
            )
        if not each._array.size:
            raise _refused(
                "bins tensor should have at least 1 element, but got 0 elements in the bins tensor "
                f"for dimension {i}",
                "n bins have n + 1 edges.",
            )


def _made_edges(input: Tensor, bins: list, range: Any) -> list:
    """Edges of bins of equal width over `range`, or over what the points span."""
    n = input._array.shape[-1]
    if range is not None and len(range) != 2 * n:
        raise _refused(
            f"for a {n}-dimensional histogram range should have {2 * n} elements, but got "
            f"{len(range)}",
            "Give the lower and the upper end for each dimension.",
        )
    if range is None:
        _require_span(input)
    points = input._array.reshape(-1, n)
    spans = []
    for i in builtins.range(n):
        if range is not None:
            low, high = float(range[2 * i]), float(range[2 * i + 1])
        elif points.shape[0]:
            low, high = float(points[:, i].min()), float(points[:, i].max())
        else:
            low, high = 0.0, 1.0
        if not (isfinite(low) and isfinite(high)):
            text = f"dimension {i}'s range [{low:g}, {high:g}] is not finite"
            raise _refused(text, "Give a range.")
        if low > high:
            text = f"min should not exceed max, but got min {low:g} max {high:g} for dimension {i}"
            raise _refused(text, "The lower end comes first.")
        spans.append((low - 0.5, high + 0.5) if low == high else (low, high))
    if len(bins) != n:
        raise errors.runtime_error(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input.",
            f"A point has {n} values.",
        )
    for i, size in enumerate(bins):
        require_bins(size, i)
    return [
        linspace(low, high, size + 1, dtype=input.dtype)
        for (low, high), size in zip(spans, bins, strict=True)
    ]


def _counted(input: Tensor, edges: list, weight: Tensor | None, density: bool) -> Any:
    """How many points lie in each box; a box has its lower edges, and the last its upper, too."""
    points = input.detach().reshape(-1, input._array.shape[-1])
    sizes = [each._array.size - 1 for each in edges]
    flat: Any = 0
    inside: Any = True
    n_boxes = 1
    for i, (each, size) in enumerate(zip(edges, sizes, strict=True)):
        column = points[:, i].contiguous()
        inside = (column >= each[0]) & (column <= each[-1]) & inside
        place = places_in(each, column, right=True) - 1
        flat = flat * size + place.clamp(max=size - 1)
        n_boxes *= size
    weights = None if weight is None else weight.detach().reshape(-1)[inside]
    hist = bincount(flat[inside], weights, minlength=n_boxes).to(input.dtype).reshape(sizes)
    if density:
        hist = hist / hist.sum()
        for i, each in enumerate(edges):
            widths = each[1:] - each[:-1]
            hist = hist / widths.reshape([-1 if j == i else 1 for j, _ in enumerate(edges)])
    return hist


@per_sample
def histogram(
    input: Any,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """How many elements lie between edges, a pair (hist, bin_edges).

    `bins` is a number of bins of equal width over `range`, or over what the elements span; or a
    vector of edges. Elements count as much as their `weight`; with `density` the counts are divided
    by their sum and by the width of the bins.

    Shapes: any to (number of bins,) and (number of bins + 1,); weight the input's.

    >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
    tensor([0., 2., 1., 0.])
    """
    if not hasattr(bins, "_array") and (isinstance(bins, bool) or not isinstance(bins, int)):
        rest = "Tensor weight = None, bool density = False, tuple of Tensors out = None"
        forms = (
            f"Tensor input, Tensor bins, *, {rest}",
            f"Tensor input, int bins = 100, *, tuple of floats range = None, {rest}",
        )
        raise errors.invalid_combination("histogram", (input, bins), {}, forms)
    with no_grad():
        points = input.reshape(-1, 1)
        weights = None if weight is None else weight.reshape(-1)
        if hasattr(bins, "_array"):
            edges = [bins.detach()]
            _check_edges(points, edges)
        else:
            edges = _made_edges(points, [bins], range)
        _check_weight(points, weights)
        if out is not None:
            require_same_dtype(input, out[0], "hist")
            require_same_dtype(input, out[1], "bin_edges", " for dimension 0")
        require_floating("histogram_cpu", points)
        hist = _counted(points, edges, weights, density)
    found: Any = (hist, edges[0])
    if out is None:
        edges = [bins] if hasattr(bins, "_array") else []
        found = in_graph("histogram", found, input, *edges, weight)
    return finish("histogram", return_types.histogram(found), out)


@require_tensors
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """How many points (..., D) lie in each box between edges, a pair (hist, bin_edges).

    `bins` is for each of the D values a number of bins of equal width or a vector of edges; one
    number is for all.

    Shapes: hist (bins 1, ..., bins D), and D vectors of edges, one longer; weight (...).

    >>> points = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    >>> torch.histogramdd(points, bins=[2, 2]).hist
    tensor([[0., 1.],
            [2., 1.]])
    """
    _check_points(input)
    if isinstance(bins, int):
        bins = [bins] * input._array.shape[-1]
    given = list(bins) if bins and hasattr(bins[0], "_array") else []
    with no_grad():
        if given:
            edges = [each.detach() for each in given]
            _check_edges(input, edges)
        else:
            edges = _made_edges(input, list(bins), range)
        _check_weight(input, weight)
        require_floating("histogram_cpu", input)
        hist = _counted(input, edges, weight, density)
    name = "_histogramdd_from_bin_tensors" if given else "_histogramdd_from_bin_cts"
    hist = in_graph(name, (hist,), input, *given, weight)[0]
    ends = given or in_graph("_histogramdd_bin_edges", tuple(edges), input, weight)
    return return_types.histogramdd((hist, tuple(ends)))
