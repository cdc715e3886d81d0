"""Whole Jacobians in one pass: unit vectors are a batch, pulled back or pushed forward."""

import functools

import numpy as np

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.batched.unit_vectors import units
from tapegrad.arrays.namespaces import below_batches, is_recorded, namespace_of
from tapegrad.autograd.backward_grad import starts_of
from tapegrad.autograd.engine import run_backward
from tapegrad.autograd.forward.tangent import only_maps
from tapegrad.autograd.mode import MODE, InTransform, Under, outside_inference
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Sequence
from tapegrad.core.device import META
from tapegrad.core.meta_array import device_of
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.func.grad import checked_argnums, chosen, ones_of, replaced
from tapegrad.func.jvp import jvp, jvp_with_aux
from tapegrad.func.level import enter, is_inside, leave, lift, shown
from tapegrad.func.vjp import pull_back, recorded_call
from tapegrad.func.vmap import check_randomness, depth_of, lowered
from tapegrad.func.vmap_mode import Mapping
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten


def jacrev(
    func: Callable,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """The Jacobian of a function in reverse mode: one pass back with all rows at once.

    Best where a function has fewer outputs than inputs.

    Args:
        func: gives a tensor or a tree of them.
        argnums: the number of the argument to differentiate by, or a tuple of such numbers.
        has_aux: `func` gives `(output, aux)`; `aux` is handed on.
        chunk_size: how many rows are computed at a time; None for all.

    Returns:
        A function of the same arguments: for each output a tree like the argument, of tensors of
        shape (*output, *input).

    >>> from tapegrad.func import jacrev
    >>> jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise errors.value_error(
            "jacrev: `chunk_size` should be greater than 0.",
            "It is how many rows are computed at a time.",
        )

    @functools.wraps(func)
    @outside_inference
    def wrapper(*args: object, **kwargs: object) -> Any:
        numbers = checked_argnums(argnums, len(args))

        def function(*primals: Any) -> Any:
            new = primals if isinstance(argnums, tuple) else primals[0]
            return func(*replaced(args, argnums, numbers, new), **kwargs)

        primals = tuple([args[i] for i in numbers])
        outs, structure, leaves, own, aux = recorded_call(
            function, primals, has_aux, "vjp(f, *primals)", given=(args, kwargs)
        )
        _require_real("jacrev", "inputs", leaves)
        _refuse_meta("jacrev", leaves)
        _require_real("jacrev", "outputs", outs)
        rows = []
        for row in _table(outs, leaves, chunk_size):
            tree = unflatten(row, own)
            rows.append(tree if isinstance(argnums, tuple) else tree[0])
        result = unflatten(rows, structure)
        return (result, aux) if has_aux else result

    return wrapper


def _refuse_meta(name: str, inputs: Sequence) -> None:
    """Raise for tensors on the meta device: unit vectors, which Jacobians start from, are not."""
    arrays = [getattr(x, "_array", None) for x in inputs]
    if any([type(x) is not np.ndarray and device_of(x) is META for x in arrays]):
        raise errors.not_implemented(
            f"{name}: tensors on the meta device have no Jacobians here",
            "Its shape is that of the output followed by that of the input.",
        )


def _require_real(name: str, what: str, tensors: list) -> None:
    """Raise where a tensor is complex: its derivative is no matrix of numbers."""
    for i, x in enumerate(tensors):
        if x.dtype.is_complex:
            raise errors.runtime_error(
                f"{name}: Expected all {what} to be real but received complex tensor at "
                f"flattened input idx: {i}",
                "torch.view_as_real(x) gives the two parts.",
            )


def _table(outs: list, leaves: list, chunk_size: int | None) -> list[list]:
    """The Jacobian of each output by each leaf: (*output, *input)."""
    sizes = [y.numel() for y in outs]
    total = sum(sizes)
    if total == len(outs) == 1:  # a gradient
        (y,) = outs
        found = pull_back(outs, leaves, [ones_of(y)])
        return [[g.reshape((*y.shape, *g.shape)) if y.ndim else g for g in found]]
    step = total if chunk_size is None else chunk_size
    columns: list[list] = []
    for first in range(0, max(total, 1), max(step, 1)):
        columns.append(_rows(outs, leaves, sizes, first, min(step, total - first)))
    whole = [_joined(parts) for parts in zip(*columns, strict=True)]
    table = []
    start = 0
    for y, size in zip(outs, sizes, strict=True):
        parts = [x if size == total else x.narrow(0, start, size) for x in whole]
        table.append([x.reshape((*y.shape, *x.shape[1:])) if y.ndim != 1 else x for x in parts])
        start += size
    return table


def _joined(parts: tuple) -> Any:
    return parts[0] if len(parts) == 1 else cat(list(parts))


def _rows(outs: list, leaves: list, sizes: list, first: int, n: int) -> list:
    """The rows first, ..., first + n - 1 of the Jacobian by each leaf: (n, *input)."""
    if n == 1:  # no batch, which not all of a backward pass may take
        units = [unit[0] for unit in unit_vectors(outs, sizes, first, 1)]
        return [g.unsqueeze(0) for g in pull_back(outs, leaves, units)]
    under = MODE.get()
    level = Level(n, "error", depth_of(under) + 1)
    cotangents = batch_of_units(outs, sizes, first, level)
    with Under(Mapping(under, level)):
        found = pull_back(outs, leaves, cotangents)
    return [outside(g, level) for g in found]


def outside(g: Array, level: Level) -> Any:
    """A result outside of its level, the batch first."""
    if not g.requires_grad and only_maps(MODE.get()):
        return wrap(shown(g._array, 0, level))
    g = g if is_inside(g._array, level) else lift(g, level=level)
    return leave(g, axis=0, level=level)


def batch_of_units(like: list, sizes: list, first: int, level: Level) -> list:
    """As many unit vectors as a level has members, the samples' cotangents or tangents."""
    dtype, below = like[0]._array.dtype, below_batches(like[0]._array)
    if len(like) == 1 and level.size == sizes[0] and dtype in _FLOATS:
        return [wrap(units(level, namespace_of((below,)).ones(like[0].shape, dtype=dtype)))]
    whole = unit_vectors(like, sizes, first, level.size)
    return [wrap(Batched(level, unit._array)) for unit in whole]


_FLOATS = (np.dtype("float32"), np.dtype("float64"))


def unit_vectors(like: list, sizes: list, first: int, n: int) -> list:
    """Some unit vectors of a space that is the product of several: for each its part, (n, *shape).

    They are of the library that the arrays of `like` are of below all levels.
    """
    found = []
    start = 0
    for x, size in zip(like, sizes, strict=True):
        dtype = x._array.dtype
        numpy = isinstance(dtype, np.dtype) and not is_recorded(below_batches(x._array))
        if numpy:
            units = np.eye(n, size, first - start, dtype=dtype)
        else:
            xp = namespace_of((x._array,))
            units = xp.astype(xp.asarray(np.eye(n, size, first - start)), dtype)
            units = xp.reshape(units, (n, *x.shape))
        found.append(wrap(units.reshape((n, *x.shape)) if numpy else units))
        start += size
    return found


def jacfwd(
    func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable:
    """The Jacobian of a function in forward mode: one pass with all columns at once.

    Best where a function has fewer inputs than outputs.

    Args:
        func: gives a tensor or a tree of them.
        argnums: the number of the argument to differentiate by, or a tuple of such numbers.
        has_aux: `func` gives `(output, aux)`; `aux` is handed on.
        randomness: what random functions in `func` do: see `vmap`.

    Returns:
        A function of the same arguments: for each output a tree like the argument, of tensors of
        shape (*output, *input).

    >>> from tapegrad.func import jacfwd
    >>> jacfwd(lambda x: torch.stack([x.sum(), x.prod()]))(torch.tensor([2.0, 3.0]))
    tensor([[1., 1.],
            [3., 2.]])
    """
    check_randomness(randomness)

    @functools.wraps(func)
    @outside_inference
    def wrapper(*args: object, **kwargs: object) -> Any:
        numbers = checked_argnums(argnums, len(args))
        primals = chosen(args, argnums, numbers)
        inputs, own = flatten(primals)
        _refuse_meta("jacfwd", inputs)
        sizes = [x.numel() if hasattr(x, "numel") else 1 for x in inputs]
        total = sum(sizes)

        def function(*leaves: Any) -> Any:
            return func(*replaced(args, argnums, numbers, unflatten(list(leaves), own)), **kwargs)

        if not (inputs and all(hasattr(x, "_array") for x in inputs)):
            jvp(function, tuple(inputs), tuple(inputs))  # raises what is wrong with the arguments
        _require_real("jacfwd", "inputs", inputs)
        under = MODE.get()
        level = Level(total, randomness, depth_of(under) + 1)
        units = batch_of_units(inputs, sizes, 0, level)
        with InTransform(Mapping(under, level), level):
            columns, aux = jvp_with_aux(function, inputs, units, has_aux, (args, kwargs))
        columns, aux = _columns(columns, level), lowered_tree(aux, level)
        outs, structure = flatten(columns)
        _require_real("jacfwd", "outputs", outs)
        result = unflatten([unflatten(_by_input(y, inputs), own) for y in outs], structure)
        return (result, aux) if has_aux else result

    return wrapper


def _by_input(y: Array, inputs: list) -> list:
    """Columns (*output, all inputs) as the Jacobian by each input: (*output, *input)."""
    shape = tuple(y.shape[:-1])
    parts, start = [], 0
    for x in inputs:
        part = y.narrow(-1, start, x.numel()) if len(inputs) > 1 else y
        parts.append(part if x.ndim == 1 else part.reshape((*shape, *x.shape)))
        start += x.numel()
    return parts


def _columns(tree: Any, level: Level) -> Any:
    """Tangents outside of their level, the batch last."""
    leaves, structure = flatten(tree)
    found = []
    for t in leaves:
        if not t.requires_grad and only_maps(MODE.get()):
            found.append(wrap(shown(t._array, t.ndim, level)))
        else:
            t = t if is_inside(t._array, level) else lift(t, level=level)
            found.append(leave(t, axis=t.ndim, level=level))
    return unflatten(found, structure)


def lowered_tree(tree: Any, level: Level) -> Any:
    """Tensors that are the same for each member, outside of their level."""
    if tree is None:
        return None
    leaves, structure = flatten(tree)
    return unflatten([lowered(y, level) for y in leaves], structure)


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """The second derivatives of a function that gives a number: for each pair of elements.

    The gradient in reverse mode, recorded, and all its rows pulled back in one pass.

    >>> from tapegrad.func import hessian
    >>> hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)


def pulled_back(
    outs: Sequence, cotangents: list, edges: list, n: int, retain_graph: bool, create_graph: bool
) -> list:
    """Gradients at `edges` for each of `n` cotangents; None where none arrives."""
    under = MODE.get()
    level = Level(n, "error", depth_of(under) + 1)
    inside = [enter(g, axis=0, level=level) for g in cotangents]
    with Under(Mapping(under, level)):
        found = run_backward(
            starts_of(outs, inside, create_graph),
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=edges,
        )
    return [
        None if g is None else outside(g if isinstance(g, TensorBase) else wrap(g), level)
        for g in found
    ]
