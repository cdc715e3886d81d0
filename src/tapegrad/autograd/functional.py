"""Derivatives of functions of tensors: jacobian, hessian, vjp, jvp, vhp, hvp.

Inputs are copied as leaves of their own, so nothing here touches `.grad`. Results carry a graph
only with `create_graph=True`. With `strict=True` an input that does not matter is an error instead
of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad import errors, ops
from tapegrad.autograd.api import grad
from tapegrad.autograd.mode import TRANSFORMS, enable_grad
from tapegrad.autograd.plain_graph import is_plain
from tapegrad.autograd.view import edge_of
from tapegrad.tensor import Tensor, make_leaf

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# --- what comes in ---


def _as_tuple(x: Any, what: str, function: str) -> tuple[bool, tuple]:
    """Whether `x` is several tensors, and a tuple of them."""
    if isinstance(x, Tensor):
        return False, (x,)
    given = {"inputs": "inputs", "outputs": "outputs of the user-provided function", "v": "v"}[what]
    if not isinstance(x, tuple):
        raise TypeError(
            f"The {given} given to {function} must be either a Tensor or a tuple of Tensors but "
            f"the given {given} has type {type(x)}."
        )
    for i, each in enumerate(x):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"The {given} given to {function} must be either a Tensor or a tuple of Tensors "
                f"but the value at index {i} has type {type(each)}."
            )
    return True, x


def _prepare(inputs: tuple, create_graph: bool) -> tuple:
    """Leaves with the inputs' values; with `create_graph` aliases that keep their history."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else _leaf(x) for x in inputs)


def _leaf(x: Any) -> Any:
    """A leaf with the values of `x`."""
    if TRANSFORMS.get() or not (x.dtype.is_floating_point or x.dtype.is_complex):
        return x.detach().requires_grad_()  # an error
    return make_leaf(x.detach())


def _directions(v: Any, like: tuple, function: str, missing: str) -> tuple:
    """The given vectors, checked against what they are to be multiplied with; 1 for a number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise errors.advised(RuntimeError(missing), "Pass v, with the same shapes.")
        return (ops.ones_like(like[0]),)
    _, vectors = _as_tuple(v, "v", function)
    if len(vectors) != len(like):
        if len(like) == 1:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}."
        )
    for i, (one, x) in enumerate(zip(vectors, like, strict=True)):
        if one.shape != x.shape:
            entry = f"Entry {i} in " if len(like) > 1 else ""
            raise errors.advised(
                RuntimeError(
                    f"{entry}v has invalid size: should be {x.shape} but got {one.shape}."
                ),
                "The vector has the shape of what it multiplies.",
            )
    return vectors


_OF_INPUTS = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor "
    "with a single element."
)
_OF_OUTPUTS = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a "
    "single element."
)


# --- what goes out ---


def _released(x: tuple, several: bool, create_graph: bool) -> Any:
    """The result in the form the user gave, without a graph unless one was asked for."""
    if not create_graph:
        x = tuple(each.detach() if each.requires_grad else each for each in x)
    return x if several else x[0]


def _require(outputs: tuple, strict: bool) -> None:
    """In strict mode every output has to depend on something."""
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise errors.advised(
                RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The "
                    "outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode."
                ),
                "Pass strict=False to get zeros.",
            )


def _grad(outputs: tuple, inputs: tuple, cotangents: tuple | None, create_graph: bool) -> tuple:
    """`grad` of those outputs that depend on something; None where nothing does."""
    pairs = [
        (out, None if cotangents is None else g)
        for out, g in zip(outputs, cotangents or outputs, strict=True)
        if out.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    outs, gs = zip(*pairs, strict=True)
    return grad(outs, inputs, gs, allow_unused=True, create_graph=create_graph, retain_graph=True)


_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This "
    "is not allowed in strict mode.",
    "constant": "The jacobian of the user-provided function is independent of input {i}. This is "
    "not allowed in strict mode when create_graph=True.",
    "hessian": "While computing the hessian, found that the jacobian of the user-provided function "
    "with respect to input {i} is independent of the input. This is not allowed in strict mode. "
    "You should ensure that your function is twice differentiable and that the jacobian depends "
    "on the inputs (this would be violated by a linear function for example).",
}


def _filled(grads: tuple, like: tuple, strict: bool, stage: str) -> tuple:
    """Zeros for what does not matter; an error in strict mode."""
    found = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None and strict:
            raise errors.advised(
                RuntimeError(_INDEPENDENT[stage].format(i=i)), "Pass strict=False to get zeros."
            )
        found.append(ops.zeros_like(x) if g is None else g)
    return tuple(found)


# --- products with a vector ---


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The outputs of `func` and the product of `v` with its Jacobian, a pair.

    >>> from tapegrad.autograd.functional import vjp
    >>> vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        several, xs = _as_tuple(inputs, "inputs", "vjp")
        xs = _prepare(xs, create_graph)
        several_outs, outs = _as_tuple(func(*xs), "outputs", "vjp")
        _require(outs, strict)
        vectors = _directions(v, outs, "vjp", _OF_OUTPUTS)
        found = _grad(outs, xs, vectors, create_graph)
        product = _filled(found, xs, strict, "back")
    outputs = _released(outs, several_outs, create_graph)
    return outputs, _released(product, several, create_graph)


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The outputs of `func` and the product of its Jacobian with `v`, a pair.

    The product is the derivative of v' J with respect to v' (the double backward trick).

    >>> from tapegrad.autograd.functional import jvp
    >>> jvp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        _, xs = _as_tuple(inputs, "inputs", "jvp")
        xs = _prepare(xs, create_graph)
        vectors = _directions(v, xs, "jvp", _OF_INPUTS)
        several_outs, outs = _as_tuple(func(*xs), "outputs", "jvp")
        _require(outs, strict)
        probes = tuple(_leaf(ops.zeros_like(out)) for out in outs)
        pulled = _filled(_grad(outs, xs, probes, True), xs, strict, "back")
        _require_linear(pulled, strict)
        found = _grad(pulled, probes, vectors, create_graph)
        product = _filled(found, outs, strict, "back_trick")
    outputs = _released(outs, several_outs, create_graph)
    return outputs, _released(product, several_outs, create_graph)


def _require_linear(pulled: tuple, strict: bool) -> None:
    for i, g in enumerate(pulled):
        if strict and not g.requires_grad:
            raise RuntimeError(_INDEPENDENT["double_back"].format(i=i))


def _scalar(outs: tuple, several: bool, function: str) -> Any:
    """The one number that a Hessian is of."""
    if several:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outs[0].numel() != 1:
        raise errors.advised(
            RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single "
                "element"
            ),
            "A Hessian is of a number: sum() the result, or use jacobian.",
        )
    return outs[0]


def _first(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> Any:
    """What vhp and hvp share: inputs, vectors, the output and its gradient with a graph."""
    several, xs = _as_tuple(inputs, "inputs", name)
    xs = _prepare(xs, create_graph)
    vectors = _directions(v, xs, name, _OF_INPUTS)
    several_outs, outs = _as_tuple(func(*xs), "outputs", name)
    _require(outs, strict)
    _scalar(outs, several_outs, name)
    slopes = _filled(_grad(outs, xs, None, True), xs, strict, "back")
    for i, g in enumerate(slopes):
        if strict and not g.requires_grad:
            raise errors.advised(
                RuntimeError(_INDEPENDENT["hessian"].format(i=i)), "Pass strict=False to get zeros."
            )
    return several, xs, vectors, outs, slopes


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The number `func` gives and the product of `v` with its Hessian, a pair.

    >>> from tapegrad.autograd.functional import vhp
    >>> vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, vectors, outs, slopes = _first(func, inputs, v, create_graph, strict, "vhp")
        found = _grad(slopes, xs, vectors, create_graph)
        product = _filled(found, xs, strict, "double_back")
    outputs = _released(outs, False, create_graph)
    return outputs, _released(product, several, create_graph)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The number `func` gives and the product of its Hessian with `v`, a pair.

    `vhp` costs less and gives the same wherever the Hessian is symmetric.

    >>> from tapegrad.autograd.functional import hvp
    >>> hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, vectors, outs, slopes = _first(func, inputs, v, create_graph, strict, "hvp")
        probes = tuple(_leaf(ops.zeros_like(x)) for x in xs)
        pulled = _filled(_grad(slopes, xs, probes, True), xs, strict, "double_back")
        found = _grad(pulled, probes, vectors, create_graph)
        product = _filled(found, xs, strict, "back_trick")
    outputs = _released(outs, False, create_graph)
    return outputs, _released(product, several, create_graph)


# --- whole matrices ---


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every output element by every input element.

    For one tensor in and out a tensor of shape (*output, *input); for several a tuple of tuples,
    outputs first.

    >>> from tapegrad.autograd.functional import jacobian
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                "torch.autograd.functional.jacobian: `create_graph=True` and "
                '`strategy="forward-mode"` are not supported together (yet). Please either set '
                '`create_graph=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
                "only implemented for `vectorize=True`."
            )
        return _by_columns(func, inputs)
    return _by_rows(func, inputs, create_graph, strict, vectorize=vectorize)


def _by_rows(
    func: Callable,
    inputs: Any,
    create_graph: bool,
    strict: bool,
    constant: str = "constant",
    vectorize: bool = False,
) -> Any:
    """Backward passes for all output elements; `constant` names the error for a constant one.

    They are one pass where that was asked for, and where nobody can tell: rules of operators on
    arrays, without hooks or functions of the user.
    """
    with enable_grad():
        several, xs = _as_tuple(inputs, "inputs", "jacobian")
        xs = _prepare(xs, create_graph)
        several_outs, outs = _as_tuple(func(*xs), "outputs", "jacobian")
        _require(outs, strict)
        if vectorize or (not strict and not create_graph and is_plain(outs)):
            table = _rows_at_once(outs, xs, create_graph)
            return _shaped(table, several, several_outs, create_graph)
        table = []
        for i, out in enumerate(outs):
            rows: tuple[list, ...] = tuple([] for _ in xs)
            flat = out.reshape(-1)
            for j in range(out.numel()):
                found = _grad((flat[j],), xs, None, create_graph)
                for k, (row, g, x) in enumerate(zip(rows, found, xs, strict=True)):
                    if g is None and strict:
                        raise RuntimeError(
                            f"Output {i} of the user-provided function is independent of input "
                            f"{k}. This is not allowed in strict mode."
                        )
                    if g is not None and strict and create_graph and not g.requires_grad:
                        raise RuntimeError(_INDEPENDENT[constant].format(i=k))
                    row.append(ops.zeros_like(x) if g is None else g)
            table.append(
                tuple(
                    ops.stack(row).view((*out.shape, *x.shape))
                    if row
                    else x.new_zeros((*out.shape, *x.shape))
                    for row, x in zip(rows, xs, strict=True)
                )
            )
    return _shaped(table, several, several_outs, create_graph)


def _rows_at_once(outs: tuple, xs: tuple, create_graph: bool) -> list:
    """The rows of all outputs in one backward pass."""
    from tapegrad.func.jacobian import unit_vectors
    from tapegrad.func.pullback import pulled_back

    sizes = [out.numel() for out in outs]
    total = sum(sizes)
    units = unit_vectors(list(outs), sizes, 0, total)
    pairs = [(out, unit) for out, unit in zip(outs, units, strict=True) if out.requires_grad]
    found: list[Any] = [None] * len(xs)
    if pairs and total:
        ys, gs = zip(*pairs, strict=True)
        edges = [edge_of(x) for x in xs]
        found = pulled_back(ys, list(gs), edges, total, create_graph, create_graph)
    whole = [
        x.new_zeros((total, *x.shape)) if g is None else g for g, x in zip(found, xs, strict=True)
    ]
    table, start = [], 0
    for out, size in zip(outs, sizes, strict=True):
        parts = [g if size == total else g.narrow(0, start, size) for g in whole]
        table.append(
            tuple(g.reshape((*out.shape, *x.shape)) for g, x in zip(parts, xs, strict=True))
        )
        start += size
    return table


def _by_columns(func: Callable, inputs: Any) -> Any:
    """The columns of all inputs in one pass of forward mode."""
    from tapegrad.func.batch import vmap
    from tapegrad.func.forward import jvp as pushed
    from tapegrad.func.jacobian import unit_vectors

    several, xs = _as_tuple(inputs, "inputs", "jacobian")
    kinds: list[bool] = []

    def tuples(*args: Any) -> tuple:
        several_outs, outs = _as_tuple(func(*args), "outputs", "jacobian")
        kinds.append(several_outs)
        return outs

    sizes = [x.numel() for x in xs]
    units = unit_vectors(list(xs), sizes, 0, sum(sizes))
    columns = vmap(lambda *unit: pushed(tuples, xs, unit)[1], 0, -1)(*units)
    table = []
    for column in columns:
        parts, start = [], 0
        for x, size in zip(xs, sizes, strict=True):
            part = column if len(xs) == 1 else column.narrow(-1, start, size)
            parts.append(part.reshape((*column.shape[:-1], *x.shape)))
            start += size
        table.append(tuple(parts))
    return _shaped(table, several, kinds[0], False)


def _shaped(table: list, several: bool, several_outs: bool, create_graph: bool) -> Any:
    rows = [_released(row, several, create_graph) for row in table]
    return tuple(rows) if several_outs else rows[0]


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of the number `func` gives, by every pair of input elements.

    For one input a tensor of shape (*input, *input); for several a tuple of tuples.

    >>> from tapegrad.autograd.functional import hessian
    >>> hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    several, xs = _as_tuple(inputs, "inputs", "hessian")

    def number(*args: Any) -> Any:
        several_outs, outs = _as_tuple(func(*args), "outputs", "hessian")
        return _scalar(outs, several_outs, "hessian").squeeze()

    def slope(*args: Any) -> tuple:
        if outer_jacobian_strategy == "forward-mode":
            from tapegrad.func.reverse import leaf_of

            args = tuple(x if x.requires_grad else leaf_of(x) for x in args)
        return _by_rows(number, args, True, strict, "hessian")

    table = jacobian(
        slope,
        xs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return table if several else table[0][0]
