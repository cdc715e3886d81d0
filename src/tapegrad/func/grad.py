"""Reverse-mode derivatives of functions: `grad`, `grad_and_value`.

A transform gives the function leaves of its own and walks the graph back to them. All transforms
of a program share one graph: a derivative that another one, or a tensor outside, may want to be
differentiated itself is recorded; whether any does is seen from the leaves that the graph has.
"""

import functools

from tapegrad.autograd.captured import Refusing
from tapegrad.autograd.engine import run_backward
from tapegrad.autograd.forward.mode import Forward
from tapegrad.autograd.forward.tangent import only_maps
from tapegrad.autograd.mode import (
    MODE,
    InTransform,
    Under,
    is_grad_enabled,
    outside_inference,
    switched,
)
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, make_leaf
from tapegrad.autograd.reachable import nodes_behind
from tapegrad.autograd.saved_tensor_hooks import FORBIDDEN, forbid_hooks
from tapegrad.autograd.view import as_read, edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Tensor
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.core.torch_function import ALL_OFF, IN_USE, STATE, undisturbed
from tapegrad.func.vmap_mode import lifted_everywhere
from tapegrad.operators.creation.like import ones_like, zeros_like
from tapegrad.operators.shape.forward_ad_views import dual_view
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten


class Recorded(InTransform):
    """A block in a transform that records what is computed: hooks on what is saved are refused.

    The gradients of a transform are themselves recorded, which hooks were not made for.
    """

    __slots__ = ("hooks", "writes")

    def __init__(self, leaves: list, arguments: Any):
        self.mode, self.what = switched(True), leaves
        self.writes = Refusing(arguments)

    def __enter__(self) -> Any:
        self.hooks = forbid_hooks(_NO_HOOKS)
        self.writes.__enter__()
        InTransform.__enter__(self)
        return self

    def kept(self, y: Any) -> Any:
        """A result with its history, which what the caller gave and is written does not keep."""
        counter = getattr(y, "_counter", None)
        if counter is not None and any([x._counter is counter for x in self.writes.written]):
            y = dual_view(y)
            y._view = None
        return y

    def __exit__(self, *error: object) -> None:
        InTransform.__exit__(self)
        FORBIDDEN.reset(self.hooks)
        self.writes.__exit__()
        for x in self.writes.written:  # the caller's: nothing that is differentiated here is seen
            edge = edge_of(x)
            if edge is not None and not is_watched([x], [leaf for leaf, _ in self.what]):
                x._node = None
        for leaf, _ in self.what:
            edge = edge_of(leaf)
            if type(edge) is AccumulateGrad:
                edge.spent = True


_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. "
    "Please open an issue with your use case."
)


# --- what goes in and comes out -------------------------------------------------------------------


def leaf_of(x: Any) -> Any:
    """A tensor with the values of `x` that gradients stop at, or pass on their way to `x`."""
    if not isinstance(x, TensorBase):
        raise errors.value_error(
            f"Thing passed to transform API must be Tensor, got {type(x)}",
            "Bind other arguments with a lambda or functools.partial.",
        )
    if IN_USE and STATE.get() != ALL_OFF:  # no class is asked for this
        return undisturbed(leaf_of, x)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise errors.cannot_require_grad(x.dtype)
    mode = MODE.get()
    inside = x if type(mode) is bool else lifted_everywhere(x, mode)
    if inside is x:
        inside = dual_view(x)
        if inside._counter is INFERENCE:
            inside._counter = None
    if edge_of(inside) is None:
        inside._view = None
        make_leaf(inside)
    return inside


def others_behind(ys: list, leaves: list) -> list:
    """What `ys` have been computed from beside the leaves of a transform: nodes of leaves."""
    own = set()
    for x in leaves:
        edge = edge_of(x)
        if type(edge) is not AccumulateGrad:
            return [edge]
        own.add(edge)
    behind = nodes_behind([edge_of(y) for y in ys])
    return [node for node in behind if type(node) is AccumulateGrad and node not in own]


def is_watched(ys: list, leaves: list) -> bool:
    """Whether somebody outside may differentiate what has been computed from the leaves."""
    return are_live(others_behind(ys, leaves))


def are_live(nodes: list) -> bool:
    """Whether somebody may still differentiate by one of these leaves, or more."""
    return any(type(node) is not AccumulateGrad or not node.spent for node in nodes)


def tangents_of(ys: list) -> list:
    """The tangents of tensors, in whatever levels, and those that they have themselves."""
    found: list[Any] = []
    mode = MODE.get()
    while type(mode) is not bool:
        if isinstance(mode, Forward):
            tangents = [t for t in map(mode.tangent, ys) if t is not None]
            with Under(mode.under):
                found += tangents + tangents_of(tangents)
        mode = mode.under
    return found


def released(y: Array, leaves: list) -> Any:
    """A result for the caller: without a graph, if nobody outside may differentiate it."""
    if not isinstance(y, TensorBase) or not y.requires_grad:
        return y
    edge = edge_of(y)
    if (is_grad_enabled() or type(edge) is AccumulateGrad) and is_watched([y], leaves):
        return y
    if only_maps(MODE.get()):
        return wrap(y._array)
    with Under(switched(False)):
        alone = dual_view(y)
    alone._view = None
    mode = MODE.get()
    while type(mode) is not bool:
        tangent = mode.tangent(y) if isinstance(mode, Forward) else None
        if tangent is not None and tangent.requires_grad:  # it may be others that gave it a graph
            with Under(mode.under):
                mode.level.set(alone._array, released(tangent, leaves))
        mode = mode.under
    return alone


def pulled(
    outs: list,
    leaves: list,
    cotangents: list,
    retain_graph: bool,
    create_graph: bool,
    alone: bool = False,
) -> list:
    """The gradients of `leaves`; zeros where nothing comes back. `alone`: there are no others."""
    roots, edges = [], [edge_of(x) for x in leaves]
    for y, g in zip(outs, cotangents, strict=True):
        edge = edge_of(y)
        if edge is not None:
            roots.append((edge, g if create_graph else as_read(g)._array))
    found: list[Any] = [None] * len(leaves)
    if roots:
        found = run_backward(
            roots,
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=edges,
            inputs_alone=alone,
        )
    return [zeros_of(x) if g is None else g for g, x in zip(found, leaves, strict=True)]


def zeros_of(x: Tensor) -> Any:
    """Zeros for each element of `x`, without a graph."""
    return zeros_like(x, requires_grad=False)


def ones_of(x: Tensor) -> Any:
    return ones_like(x, requires_grad=False)


# --- grad -----------------------------------------------------------------------------------------


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The gradient of a function that gives a number, as a function of the same arguments.

    Args:
        func: gives a tensor without dimensions.
        argnums: the number of the argument to differentiate by, or a tuple of such numbers.
        has_aux: `func` gives `(output, aux)`; `aux` is handed on.

    Returns:
        A function that gives the gradient, of the structure of the argument (a tuple where
        `argnums` is one); with `has_aux` the pair `(gradient, aux)`.

    >>> from tapegrad.func import grad
    >>> grad(torch.sin)(torch.tensor(0.0))
    tensor(1.)
    >>> grad(grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: object, **kwargs: object) -> Any:
        slope, value = both(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    return wrapper


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The gradient and the value of a function that gives a number, in one pass: a pair.

    The arguments are those of `grad`. With `has_aux` the value is the pair `(output, aux)`.

    >>> from tapegrad.func import grad_and_value
    >>> grad_and_value(lambda x: (x * x).sum())(torch.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    @outside_inference
    def wrapper(*args: object, **kwargs: object) -> Any:
        outer = is_grad_enabled()
        numbers = checked_argnums(argnums, len(args))
        inputs, structure = flatten(chosen(args, argnums, numbers))
        pairs: list = []
        with Recorded(pairs, (args, kwargs)) as block:
            leaves = [leaf_of(x) for x in inputs]
            pairs += zip(leaves, inputs, strict=True)
            inside = replaced(args, argnums, numbers, unflatten(leaves, structure))
            output = func(*inside, **kwargs)
            aux = None
            if has_aux:
                output, aux = with_aux(output, "grad_and_value(f)(*args)")
            check_number(output)
            output = block.kept(output)
        others = others_behind([output], leaves)
        watched = outer and are_live(others)
        recorded = watched or (outer and is_watched(tangents_of([output]), leaves))
        alone = outer and not others
        found = pulled([output], leaves, [ones_of(output)], recorded, recorded, alone)
        if recorded and not watched:
            found = [released(g, leaves) for g in found]
        slope = unflatten(found, structure)
        value = output if watched else released(output, leaves)
        return slope, (value, handed_on(aux, leaves)) if has_aux else value

    return wrapper


def checked_argnums(argnums: Any, n: int) -> tuple[int, ...]:
    """The numbers of the arguments to differentiate by, from the front."""
    if not isinstance(argnums, (int, tuple)):
        raise errors.runtime_error(
            f"argnums must be int or Tuple[int, ...], got: {type(argnums)}",
            "0 is the first argument.",
        )
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers:
        raise errors.runtime_error("argnums must be non-empty", "Name an argument.")
    for number in numbers:
        if not isinstance(number, int):
            raise errors.runtime_error(
                f"argnum must be int, got: {type(number)}", "0 is the first argument."
            )
        if not -n <= number < n:
            raise errors.runtime_error(
                f"Got argnum={number}, but only {n} positional inputs",
                "Only arguments given by place can be named.",
            )
    numbers = tuple([number % n for number in numbers])
    if len(set(numbers)) != len(numbers):
        raise errors.runtime_error(
            f"argnums elements must be unique, got {numbers}", "Name each once."
        )
    return numbers


def chosen(args: tuple, argnums: Any, numbers: tuple[int, ...]) -> Any:
    """The arguments to differentiate by: one, or a tuple where `argnums` is one."""
    return tuple([args[i] for i in numbers]) if isinstance(argnums, tuple) else args[numbers[0]]


def replaced(args: tuple, argnums: Any, numbers: tuple[int, ...], new: Any) -> tuple:
    """The arguments with others in the place of the chosen ones."""
    found = list(args)
    for i, x in zip(numbers, new if isinstance(argnums, tuple) else (new,), strict=True):
        found[i] = x
    return tuple(found)


def handed_on(aux: Any, leaves: list) -> Any:
    """What a function gives besides its output, for the caller: tensors in a tree."""
    found, structure = flatten(aux)
    check_aux(found)
    return unflatten([released(y, leaves) for y in found], structure)


def check_aux(found: list) -> None:
    """Raise if a function hands on something besides tensors."""
    for y in found:
        if not isinstance(y, TensorBase):
            raise errors.runtime_error(
                f"Expected tensors, got unsupported type {type(y)}", "aux may hold tensors only."
            )


def with_aux(result: Tensor, name: str) -> tuple:
    """The two things that a function gives with `has_aux`."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise errors.runtime_error(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True",
            "Return two things, or leave has_aux away.",
        )
    return result


def check_number(output: Tensor) -> None:
    """Raise unless a function gave a tensor without dimensions."""
    start = "grad_and_value(f)(*args): Expected f(*args) to return a "
    if not isinstance(output, TensorBase):
        raise errors.runtime_error(
            f"{start}Tensor, got {type(output)}", "has_aux hands on other results."
        )
    if output.ndim:
        raise errors.runtime_error(
            f"{start}scalar Tensor, got tensor with {output.ndim} dims. Maybe you wanted to "
            "use the vjp or jacrev APIs instead?",
            "sum() or mean() makes one number of it.",
        )
    if output.dtype.is_complex:
        raise errors.runtime_error(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}",
            "Return the real part, or the absolute value.",
        )
