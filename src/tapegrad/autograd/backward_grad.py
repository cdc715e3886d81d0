"""`backward` and `grad`: what they accept, checked once, before the engine starts."""

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.engine import run_backward
from tapegrad.autograd.mode import TRANSFORMS
from tapegrad.autograd.node import make_leaf
from tapegrad.autograd.returned import returned
from tapegrad.autograd.view import as_read, edge_of
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, EdgeLike, Sequence
from tapegrad.core.errors import deprecated
from tapegrad.core.registration import DISPATCH_CLASSES, VJP_BATCH
from tapegrad.core.torch_dispatch import StandIn
from tapegrad.core.torch_function import IN_USE, overridden, overrides
from tapegrad.core.warn_once import warn_once


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    Args:
        tensors: a tensor or several, or their places in the graph (`graph.GradientEdge`).
        grad_tensors: for each its cotangent, of the same shape; None for scalars.
        retain_graph: keep what the graph holds for another pass (default: `create_graph`).
        create_graph: make the gradients themselves differentiable.
        inputs: accumulate into these tensors only, or up to these places.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.backward([x * x, x * 2])
    >>> x.grad
    tensor(8.)
    """
    if IN_USE:
        options = {
            "grad_tensors": grad_tensors,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "inputs": inputs,
        }
        again = overridden(backward, (_several(tensors),), options)
        if again is not None:
            return again()
    if TRANSFORMS.get():
        raise errors.runtime_error(
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms.",
            "torch.func.grad(f)(x) gives the gradient as a value.",
        )
    if grad_variables is not None:
        deprecated("`grad_variables` is deprecated. Use `grad_tensors` instead.")
        if grad_tensors is not None:
            raise errors.runtime_error(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`.",
                "Leave grad_variables away.",
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _sequence(inputs)
        if not inputs:
            raise _no_inputs("backward")
    roots = roots_of(tensors, grad_tensors, create_graph)
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph:
        _warn_of_cycle()
    if inputs is not None:
        run_backward(
            roots,
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=accumulating(inputs),
            accumulate_inputs=True,
        )
        return
    run_backward(roots, retain_graph=retain_graph, create_graph=create_graph)


def accumulating(inputs: Sequence) -> list:
    """The edges of tensors that are to accumulate into their `.grad`, which they will have."""
    targets = _sequence(inputs)
    for tensor in targets:
        if isinstance(tensor, tuple):
            continue  # an edge has no .grad
        if not tensor.is_leaf or not tensor.requires_grad:
            tensor.retain_grad()  # an error where no gradient reaches the tensor
    return [_input_edge(t) for t in targets]


def grad(
    outputs: Sequence,
    inputs: Sequence,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple:
    """The gradients of `outputs` with respect to `inputs`, a tuple; `.grad` stays as it is.

    Args:
        outputs: a tensor or several, or their places in the graph (`graph.GradientEdge`).
        inputs: with respect to what: a tensor or several, or places.
        grad_outputs: for each output its cotangent; None for scalars.
        retain_graph: keep what the graph holds for another pass (default: `create_graph`).
        create_graph: make the gradients themselves differentiable.
        allow_unused: give None for an input that no output depends on, instead of an error.
        is_grads_batched: cotangents have a leading dimension of several; so have the results.
        materialize_grads: zeros instead of None.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise errors.value_error(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False.",
            "Zeros take the place of unused gradients: leave allow_unused away.",
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if IN_USE:
        options = {
            "grad_outputs": grad_outputs,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "only_inputs": only_inputs,
            "allow_unused": allow_unused,
            "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        }
        again = overridden(grad, (_several(outputs), _several(inputs)), options)
        if again is not None:
            return again()
    if not only_inputs:
        deprecated(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward."
        )
    outs = _outputs(outputs)
    targets = _sequence(inputs)
    if not targets:
        raise _no_inputs("grad")
    cotangents = _cotangents(grad_outputs, len(outs))
    if retain_graph is None:
        retain_graph = create_graph
    if is_grads_batched:
        edges = [_input_edge(t) for t in targets]
        found = _batched(outs, cotangents, edges, retain_graph, create_graph)
    else:
        roots = starts_of(outs, cotangents, create_graph)
        edges = [_input_edge(t) for t in targets]
        found = run_backward(
            roots, retain_graph=retain_graph, create_graph=create_graph, inputs=edges
        )
        if not create_graph:
            found = [None if g is None else returned(g, cotangents) for g in found]
    for i, (g, target) in enumerate(zip(found, targets, strict=True)):
        if g is None and not allow_unused:
            from tapegrad.autograd.trace import missed_by

            raise errors.runtime_error(
                f"The differentiated Tensor at index {i} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior.",
                missed_by(target)[1:]
                or "No output depends on it: was it detached, or converted before it was used?",
            )
        if g is None and materialize_grads:
            if isinstance(target, tuple):
                raise errors.runtime_error(
                    "materialize_grads cannot be used when the given input is a GradientEdge",
                    "Pass the tensor, or allow_unused=True.",
                )
            zeros = tensor_base.wrap(namespace_of((target._array,)).zeros_like(target._array))
            found[i] = make_leaf(zeros) if create_graph else zeros
    return tuple(found)


def _batched(
    outs: Sequence, cotangents: list, edges: list, retain_graph: bool, create_graph: bool
) -> list:
    """One pass for all entries of the cotangents' leading dimension."""
    for i, (out, g) in enumerate(zip(outs, cotangents, strict=True)):
        if isinstance(out, tuple) and g is not None:
            out = _behind_edge(out, g[0])
        _check_batch(i, out, g)
    sizes = [g.shape[0] for g in cotangents]
    if len(set(sizes)) != 1:
        raise errors.value_error(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension",
            "Stack the cotangents of each output along a first dimension of the same size.",
        )
    return VJP_BATCH().pulled_back(outs, cotangents, edges, sizes[0], retain_graph, create_graph)


def _check_batch(i: int, out: Any, g: Any) -> None:
    if g is None:
        raise errors.runtime_error(
            "grad can be implicitly created only for scalar outputs",
            "is_grads_batched=True needs a batch of cotangents for each output.",
        )
    if g.shape[1:] != out.shape or not g.ndim:
        raise errors.runtime_error(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
            "as the batch dimension. The sizes of the remaining dimensions are expected to "
            "match the shape of corresponding output, but a mismatch was detected: "
            f"grad_output[{i}] has a shape of {g.shape[1:]} and output[{i}] has a shape of "
            f"{out.shape}. If you only want some tensors in `grad_output` to be considered "
            "batched, consider using vmap.",
            "Give a cotangent of shape (batch, *output.shape).",
        )


def _warn_of_cycle() -> None:
    warn_once(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a memory leak. We recommend using "
        "autograd.grad when creating the graph to avoid this. If you have to use this function, "
        "make sure to reset the .grad fields of your parameters to None after use to break the "
        "cycle and avoid the leak."
    )


def _no_inputs(function: str) -> RuntimeError:
    return errors.runtime_error(
        f"`inputs` argument to `{function}()` cannot be empty.", "Name at least one tensor."
    )


def _sequence(x: Any) -> tuple:
    return (x,) if isinstance(x, tensor_base.Tensor) or _is_gradient_edge(x) else tuple(x)


def _several(x: Any) -> Any:
    """What a program's own class is handed: a tensor alone in a tuple."""
    return (x,) if overrides(x) or isinstance(x, tensor_base.Tensor) else x


def _is_gradient_edge(x: object) -> bool:
    return isinstance(x, tuple) and hasattr(x, "ownership_token")


def _outputs(x: object) -> tuple:
    """What to start from: tensors, and where their shape is not known the edges that were given."""
    if isinstance(x, tensor_base.Tensor):
        return (x,)
    found = _sequence(x)
    if any(isinstance(out, tuple) for out in found):
        from tapegrad.autograd.gradient_edge import output_behind

        return tuple(output_behind(out) if isinstance(out, tuple) else out for out in found)
    return found


def _behind_edge(edge: EdgeLike, g: Array) -> Any:
    """A tensor in place of an output of which only the edge and the cotangent are known."""
    if g is None:
        raise errors.runtime_error(
            "grad can be implicitly created only for scalar outputs",
            "The shape behind this edge is not known: pass a cotangent for it, or use an edge that "
            "get_gradient_edge() gave.",
        )
    from tapegrad.autograd.gradient_edge import output_behind

    return output_behind(edge, g._array)


def _input_edge(tensor: Any) -> Any:
    if isinstance(tensor, tuple):
        from tapegrad.autograd.gradient_edge import edge_behind

        return edge_behind(tensor)
    edge = edge_of(tensor)
    if edge is None:
        from tapegrad.autograd.trace import lost_by

        raise errors.runtime_error(
            "One of the differentiated Tensors does not require grad",
            "Set requires_grad on every input before the forward pass." + lost_by(tensor),
        )
    return edge


def _cotangents(given: Any, n: int) -> list:
    if given is None:
        return [None] * n
    found = [given] if isinstance(given, tensor_base.Tensor) else list(given)
    if len(found) != n:
        raise errors.runtime_error(
            f"got {n} tensors and {len(found)} gradients",
            "Give one cotangent (or None) for each output.",
        )
    return found


def roots_of(tensors: Sequence, grad_tensors: Any, create_graph: bool) -> list:
    """Where a backward pass starts: pairs (edge, cotangent), checked."""
    if grad_tensors is None and isinstance(tensors, tensor_base.Tensor):
        return [start_of(0, tensors, None, create_graph)]
    outputs = _outputs(tensors)
    return starts_of(outputs, _cotangents(grad_tensors, len(outputs)), create_graph)


def starts_of(outputs: Sequence, cotangents: list, create_graph: bool) -> list:
    """Pairs (edge, cotangent) to start from."""
    pairs = enumerate(zip(outputs, cotangents, strict=True))
    return [start_of(i, out, g, create_graph) for i, (out, g) in pairs]


def start_of(i: int, out: Any, g: Any, create_graph: bool) -> tuple[Any, Any]:
    """The edge behind output `i`, and its cotangent: an array, or a tensor for `create_graph`."""
    if isinstance(out, tuple):
        out = _behind_edge(out, g)
    elif g is None and not create_graph and out._node is not None and out._view is None:
        array = out._array
        if type(array) is np.ndarray and not array.ndim and array.dtype.kind == "f":
            return out._node, np.array(1, array.dtype)
    g = cotangent_of(i, out, g)
    edge = edge_of(out)
    if edge is None:
        from tapegrad.autograd.trace import lost_by

        raise errors.runtime_error(
            f"element {i} of tensors does not require grad and does not have a grad_fn",
            lost_by(out)[1:]
            or "Nothing it was computed from requires grad, or it was computed under no_grad.",
        )
    return edge, g if create_graph else as_read(g)._array


def cotangent_of(i: int, out: Any, g: Any) -> Any:
    """The cotangent of output `i`, checked; one where none is given and the output is a number."""
    if g is None:
        if out._node is None and not out.requires_grad:
            return out
        array = out._array
        if type(array) is np.ndarray and not array.ndim and array.dtype.kind == "f":
            return tensor_base.wrap(np.array(1, array.dtype))
        if array.size != 1:
            raise errors.runtime_error(
                "grad can be implicitly created only for scalar outputs",
                f"This output has shape {list(out.shape)}: pass gradient=..., or sum() it first.",
            )
        if not out.dtype.is_floating_point:
            raise errors.runtime_error(
                f"grad can be implicitly created only for real scalar outputs but got {out.dtype}",
                "Pass the cotangent of a complex output: gradient=...",
            )
        if type(array) is StandIn:
            return DISPATCH_CLASSES().one_like(out)
        return tensor_base.wrap(namespace_of((array,)).ones_like(array))
    if not isinstance(g, tensor_base.Tensor):
        raise errors.type_error(
            f"gradients can be either Tensors or None, but got {type(g).__name__}",
            "Make a tensor of it: torch.tensor(...).",
        )
    given, array = g._array, out._array
    if (
        type(given) is type(array) is np.ndarray
        and given.dtype is array.dtype
        and given.shape == array.shape
    ):
        return g  # the questions below, asked of the arrays: tensors take five times as long
    if g.shape != out.shape:
        raise errors.runtime_error(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] "
            f"has a shape of {out.shape}.",
            "The cotangent has the shape of its output.",
        )
    if out.dtype.is_complex != g.dtype.is_complex:
        raise errors.runtime_error(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {g.dtype} and "
            f"output[{i}] has a dtype of {out.dtype}.",
            f"Convert the cotangent with .to({out.dtype}).",
        )
    if g.dtype is not out.dtype:
        g = g.to(out.dtype)
    return g
