"""Functions with their pullback: `vjp`, and its transpose, `linearize`."""

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.backward_grad import cotangent_of
from tapegrad.autograd.mode import InTransform, Under, is_grad_enabled, outside_inference, switched
from tapegrad.autograd.node import make_leaf
from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase
from tapegrad.func.grad import (
    Recorded,
    are_live,
    handed_on,
    is_watched,
    leaf_of,
    others_behind,
    pulled,
    released,
    tangents_of,
    with_aux,
    zeros_of,
)
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten
from tapegrad.utils._pytree.tree import treespec_pprint


@outside_inference
def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of a function, and a function that pulls cotangents back: `v -> v' J`.

    Args:
        func: a function of tensors or trees of them that gives a tensor or a tree of them.
        primals: its arguments.
        has_aux: `func` gives `(output, aux)`; `aux` is handed on.

    Returns:
        `(output, vjp_fn)`, and `aux` with `has_aux`. `vjp_fn(cotangents)`, of the structure of the
        output, gives a tuple with the product for each of the primals; it may be called often.

    >>> from tapegrad.func import vjp
    >>> y, pull = vjp(torch.sin, torch.tensor([0.0, 1.0]))
    >>> pull(torch.ones(2))
    (tensor([1.0000, 0.5403]),)
    """
    outs, structure, leaves, own, aux = recorded_call(
        func, primals, has_aux, "vjp(f, *primals)", given=primals
    )
    results = unflatten([released(y, leaves) for y in outs], structure)

    @outside_inference
    def wrapper(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        gs, given = flatten(cotangents)
        if given != structure:
            raise errors.runtime_error(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {treespec_pprint(given)}, primal output: "
                f"{treespec_pprint(structure)}",
                "Give one cotangent for each output.",
            )
        gs = [cotangent_of(i, y, g) for i, (y, g) in enumerate(zip(outs, gs, strict=True))]
        return unflatten(pull_back(outs, leaves, gs, retain_graph, create_graph), own)

    if has_aux:
        return results, wrapper, aux
    return results, wrapper


def recorded_call(
    func: Callable, primals: tuple, has_aux: bool, name: str, hooks: bool = False, given: Any = ()
) -> tuple[list, Any, list, Any, Any]:
    """Outputs and their structure, leaves for the primals and theirs, and what is handed on.

    `hooks` on what is saved may be set in the function. It may write to what is `given` to it.
    """
    inputs, own = flatten(primals)
    pairs: list = []
    aux = None
    block: Any = InTransform(switched(True), pairs) if hooks else Recorded(pairs, given)
    with block:
        leaves = [leaf_of(x) for x in inputs]
        pairs += zip(leaves, inputs, strict=True)
        result = func(*unflatten(leaves, own))
        if has_aux:
            result, aux = with_aux(result, name)
        outs, structure = flatten(result)
        if not hooks:
            outs = [block.kept(y) for y in outs]
    aux = handed_on(aux, leaves) if has_aux else None
    require_tensors(name, outs)
    for y in outs:
        if not (y.dtype.is_floating_point or y.dtype.is_complex):
            raise errors.runtime_error(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {y.dtype}",
                "has_aux=True hands on what is not to be differentiated.",
            )
    return outs, structure, leaves, own, aux


def require_tensors(name: str, outs: list) -> None:
    """Raise unless the results of a function are tensors, one at least."""
    if not outs or (len(outs) == 1 and outs[0] is None):
        raise errors.runtime_error(
            f"{name}: Expected f to be a function that has non-empty output (got output = {outs})",
            "Return a tensor.",
        )
    for y in outs:
        if not isinstance(y, TensorBase):
            raise errors.runtime_error(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(y)}",
                "has_aux=True hands on what is not to be differentiated.",
            )


def pull_back(
    outs: list, leaves: list, cotangents: list, retain_graph: bool = True, create_graph: Any = None
) -> list:
    """Gradients of the leaves, recorded where somebody outside may differentiate them."""
    if create_graph is not None:
        return pulled(outs, leaves, cotangents, retain_graph, create_graph)
    if not is_grad_enabled():
        return pulled(outs, leaves, cotangents, retain_graph, False)
    others = others_behind(outs, leaves)
    watched = create_graph = are_live(others) or any(g.requires_grad for g in cotangents)
    if not watched:
        create_graph = is_watched(tangents_of(outs), leaves) or any(
            g.requires_grad for g in tangents_of(cotangents)
        )
    found = pulled(outs, leaves, cotangents, retain_graph, create_graph, not others)
    return [released(g, leaves) for g in found] if create_graph and not watched else found


# --- linearize ------------------------------------------------------------------------------------


@outside_inference
def linearize(func: Callable, *primals: Any) -> tuple:
    """The value of a function at a point, and its derivative there as a linear function.

    The function runs once; each call of the linear one costs about as much as a backward pass. It
    is the transpose of the backward pass, which is linear in its cotangents.

    >>> from tapegrad.func import linearize
    >>> y, push = linearize(torch.sin, torch.tensor([0.0, 1.0]))
    >>> push(torch.tensor([1.0, 1.0]))
    tensor([1.0000, 0.5403])
    """
    inputs, own = flatten(primals)
    outs, structure, leaves, _, _ = recorded_call(
        func, primals, False, "linearize(f, *primals)", True
    )
    with Under(switched(True)):
        probes = [make_leaf(zeros_of(y)) for y in outs]
        back = pulled(outs, leaves, probes, True, True)
    results = unflatten([released(y, leaves) for y in outs], structure)

    def push(*tangents: Any) -> Any:
        ts, given = flatten(tangents)
        if given != own:
            raise errors.runtime_error(
                f"Expected the tangents {given} to have the same argspec as the primals {own}",
                "Give one tangent for each primal.",
            )
        for i, (t, x) in enumerate(zip(ts, inputs, strict=True)):
            what = "shape" if t.shape != x.shape else "dtype"
            if t.shape != x.shape or t.dtype is not x.dtype:
                raise errors.runtime_error(
                    f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't "
                    f"match the {what} {getattr(x, what)} of the corresponding primal.",
                    "A tangent is like its primal.",
                )
        return unflatten(pull_back(back, [*probes, *leaves], ts)[: len(probes)], structure)

    return results, push
