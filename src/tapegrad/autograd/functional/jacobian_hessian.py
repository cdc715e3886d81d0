"""Whole Jacobians and Hessians: `torch.autograd.functional.jacobian` and `hessian`."""

from collections.abc import Callable, Iterable
from typing import Any

from tapegrad import operators
from tapegrad.autograd.functional import arguments
from tapegrad.autograd.mode import MODE, enable_grad
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.plan import Plan
from tapegrad.autograd.reachable import nodes_behind
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import OneOrMore
from tapegrad.core.torch_dispatch import is_stand_in


def is_plain(outs: Iterable) -> bool:
    """Whether a backward pass from `outs` only runs rules of operators on arrays."""
    mode = MODE.get()
    if type(mode) is not bool and not (mode.records and type(mode.under) is bool):
        return False
    return all(
        node.hooks is None
        and (type(node) is AccumulateGrad or type(getattr(node, "plan", None)) is Plan)
        for node in nodes_behind([edge_of(out) for out in outs])
    )


def jacobian(
    func: Callable,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every output element by every input element.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors
        inputs: a tensor or a tuple of tensors
        create_graph: whether the result can be differentiated itself; not with "forward-mode"
        strict: whether an input that does not matter is an error; not with `vectorize`
        vectorize: whether all rows, or all columns, are computed in one batch by `vmap`
        strategy: "reverse-mode" for rows, or "forward-mode" for columns, with `vectorize` alone;
            the better one where there are more outputs than inputs

    For one tensor in and out a tensor of shape (*output, *input); for several a tuple of tuples,
    outputs first.

    >>> from tapegrad.autograd.functional import jacobian
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise errors.assertion_error(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more '
            'performant. Otherwise, prefer to use "reverse-mode".',
            f"It was {strategy!r}.",
        )
    if strategy == "reverse-mode":
        return _by_rows(func, inputs, create_graph, strict, vectorize)
    if create_graph:
        raise errors.not_implemented(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.',
            "torch.func.jacfwd can be differentiated.",
        )
    return _by_columns(func, inputs, vectorize)


def _by_rows(
    func: Callable, inputs: OneOrMore, create_graph: bool, strict: bool, vectorize: bool = False
) -> Any:
    """Backward passes for all output elements.

    They are one pass where that was asked for, and where nobody can tell: rules of operators on
    arrays, without hooks or functions of the user.
    """
    with enable_grad():
        several, xs = arguments.as_tuple(inputs, "inputs", "jacobian")
        xs = arguments.prepare(xs, create_graph)
        several_outs, outs = arguments.as_tuple(func(*xs), arguments.OUTPUTS, "jacobian")
        arguments.require_outputs(outs, strict)
        if vectorize and strict:
            raise errors.runtime_error(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are "
                "not supported together. Please either set `strict=False` or "
                "`vectorize=False`.",
                "In one batch zeros cannot be told from what does not matter.",
            )
        if vectorize or (not strict and not create_graph and _goes_unseen(outs, xs)):
            table = _rows_at_once(outs, xs, create_graph)
        else:
            table = [_rows(i, out, xs, create_graph, strict) for i, out in enumerate(outs)]
    return _shaped(table, several, several_outs, create_graph)


def _goes_unseen(outs: tuple, xs: tuple) -> bool:
    """Whether one pass for all is what one pass for each would be; complex ones are refused."""
    if any(map(is_stand_in, (*outs, *xs))):
        return False
    return is_plain(outs) and not any(out.dtype.is_complex for out in outs)


def _rows(i: int, out: Any, xs: tuple, create_graph: bool, strict: bool) -> tuple:
    """For each input the rows of output number `i`, one backward pass after the other."""
    rows: tuple[list, ...] = tuple([] for _ in xs)
    flat = out.reshape(-1)
    for j in range(out.numel()):
        found = arguments.pull((flat[j],), xs, None, create_graph)
        for k, (row, g, x) in enumerate(zip(rows, found, xs, strict=True)):
            if strict and g is None:
                raise arguments.independent(
                    "Output {what} of the user-provided function is independent of input {i}. This "
                    "is not allowed in strict mode.",
                    k,
                    str(i),
                )
            if strict and create_graph and not g.requires_grad:
                raise arguments.independent(
                    arguments.CONSTANT, i, "jacobian"
                )  # PyTorch names the output here, too
            row.append(operators.zeros_like(x) if g is None else g)
    return tuple(
        operators.stack(row).view((*out.shape, *x.shape))
        if row
        else x.new_zeros((*out.shape, *x.shape))
        for row, x in zip(rows, xs, strict=True)
    )


def _rows_at_once(outs: tuple, xs: tuple, create_graph: bool) -> list:
    """The rows of all outputs in one backward pass."""
    from tapegrad.func.jacobian import pulled_back, unit_vectors

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


def _by_columns(func: Callable, inputs: OneOrMore, vectorize: bool) -> Any:
    """The columns of all inputs in one pass of forward mode. Several tensors come as lists."""
    from tapegrad.func.jacobian import unit_vectors
    from tapegrad.func.jvp import jvp as pushed
    from tapegrad.func.vmap import vmap

    several, xs = arguments.as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise errors.not_implemented(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`.",
            "Pass vectorize=True.",
        )
    if not xs:
        raise errors.assertion_error(
            "Expected at least one tensor", "There is nothing to differentiate by."
        )
    kinds: list[bool] = []

    def tuples(*args: object) -> tuple:
        several_outs, outs = arguments.as_tuple(func(*args), "outputs", None)
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
        table.append(parts)
    if not kinds[0]:
        return table[0] if several else table[0][0]
    return table if several else tuple([row[0] for row in table])


def _shaped(table: list, several: bool, several_outs: bool, create_graph: bool) -> Any:
    rows = [arguments.released(row, several, create_graph) for row in table]
    return tuple(rows) if several_outs else rows[0]


def hessian(
    func: Callable,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of the number `func` gives, by every pair of input elements.

    Args:
        func: takes the inputs, returns a tensor of one element
        outer_jacobian_strategy: how gradients are differentiated: the `strategy` of `jacobian`
        inputs, create_graph, strict, vectorize: as for `jacobian`

    For one input a tensor of shape (*input, *input); for several a tuple of tuples.

    >>> from tapegrad.autograd.functional import hessian
    >>> hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    several, xs = arguments.as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise errors.assertion_error(
            'Expected strategy to be either "forward-mode" or "reverse-mode".',
            f"It was {outer_jacobian_strategy!r}.",
        )

    def one(*args: object) -> Any:
        several_outs, outs = arguments.as_tuple(func(*args), arguments.OUTPUTS, "hessian")
        arguments.require_outputs(outs, strict)
        return arguments.number(outs, several_outs, "hessian").squeeze()

    def slope(*args: Any) -> tuple:
        if outer_jacobian_strategy == "forward-mode":
            from tapegrad.func.grad import leaf_of

            args = tuple(x if x.requires_grad else leaf_of(x) for x in args)
        slopes = _by_rows(one, args, True, False)
        arguments.require_graph(slopes, strict, "jacobian")
        return slopes

    table = jacobian(
        slope,
        xs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return table if several else table[0][0]
