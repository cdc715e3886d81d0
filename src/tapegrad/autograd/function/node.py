"""The node of a custom function: what its call keeps, and how its `backward` runs.

The node holds the `ctx` of the call, which knows the node only weakly, and of the results only the
arrays of those that are saved: a graph is freed without the help of the garbage collector.
"""

from numpy import ndarray

from tapegrad.arrays.signature import Like
from tapegrad.autograd.errors import freed
from tapegrad.autograd.function.context import unpicklable
from tapegrad.autograd.function.saved import FREED, TAKEN, saved_tensor
from tapegrad.autograd.node import AccumulateGrad, MultiNode, Port, next_sequence
from tapegrad.autograd.node_constructor import constructor
from tapegrad.autograd.sum_to_size import restore
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, DTypeLike, Namespace
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.dtype import of
from tapegrad.core.tensor_base import SPARSE, TensorBase, wrap


class Error(MultiNode):
    """The node behind them, which raises when a gradient reaches it."""

    __slots__ = ()

    def name(self) -> str:
        """The name as PyTorch gives it, with its namespace."""
        return "torch::autograd::Error"


class _RaisingPlan:
    __slots__ = ()
    saves = ()
    saves_tensors = False

    def gradients(self, node: Error, g: Array) -> Any:
        raise errors.runtime_error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            "Take the decorator away if its backward is made of tensor operators.",
        )

    run_on_tensors = gradients

    def saved_value(self, node: Error, name: str) -> Any:
        raise AttributeError(f"'Error' object has no attribute '_saved_{name}'")


RAISING_PLAN = _RaisingPlan()
_raising = constructor(Error, RAISING_PLAN)


def refusing(gradients: tuple) -> tuple:
    """The same gradients behind a node that raises."""
    detached = [g.detach() if isinstance(g, TensorBase) else g for g in gradients]
    edges = [AccumulateGrad(g) if isinstance(g, TensorBase) else None for g in detached]
    node = _raising(tuple(edges), ())
    node.output_metadata = None
    node.n_outputs = len(gradients)
    for i, g in enumerate(detached):
        if isinstance(g, TensorBase):
            g._node = Port(node, i)
    return tuple(detached)


new = object.__new__


class BackwardCFunction(MultiNode):
    """The node, of a class of its own for each custom function: `ExpBackward` for `Exp`.

    What is asked of it that it does not have is asked of its `ctx`.
    """

    __slots__ = (
        "__dict__", "ctx", "input_metadata", "input_order", "result_metadata", "saved_values",
    )  # fmt: skip
    plan: Any  # all have one
    output_metadata = versions = restore = None  # zeros are made here, not by the engine
    _forward_cls: Any
    ctx: Any
    input_metadata: list  # of each edge, the shape and dtype of its argument
    input_order: list[int]  # of each edge, the argument that it stands for
    saved_values: Any  # of each saved tensor itself, a Saved, a SavedPacked, or None
    result_metadata: list  # of each result: namespace, Like, signature; None if it is no tensor

    def __init__(self) -> None:
        self.ctx = self._context_cls(self)
        self.hooks = self.output_version = None
        self.saved_values = self.edges = ()
        self.sequence = next_sequence()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.ctx)]

    def __call__(self, *cotangents: Any, **keywords: Any) -> Any:
        raise errors.type_error(
            f"'{type(self).__name__}' object is not callable", "apply() calls backward."
        )

    # --- what the engine asks ---

    @property
    def saved(self) -> tuple:
        """Never None: that nothing is left matters only to who asks for `saved_tensors`."""
        return ()

    @saved.setter
    def saved(self, values: None) -> None:
        self.saved_values = FREED

    def like_of(self, index: int) -> Any:
        """What has the shape and dtype of a result; None for one that is no tensor."""
        output = self.result_metadata[index]
        return None if output is None else output[1]

    # --- what the user asks ---

    def apply(self, *gradients: Any) -> Any:
        """Call the function's `backward`."""
        return self.user_backward()(self.ctx, *gradients)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the function's `jvp`."""
        return self._forward_cls.jvp(self.ctx, *tangents)

    def user_backward(self) -> Any:
        """The function's `backward`, whichever of its two names it has."""
        function = self._forward_cls
        backward, vjp, neither = function.backward, function.vjp, function._unwritten
        if vjp is neither:
            return backward
        if backward is not neither:
            raise errors.runtime_error(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                "You should only implement one of them.",
                "They are two names of one thing.",
            )
        return vjp

    def _unpacked(self) -> tuple:
        """What the node saved, as tensors with their place in the graph: `ctx.saved_tensors`."""
        saved = self.saved_values
        if saved is FREED:
            raise freed(self)
        if saved is TAKEN:
            raise errors.runtime_error(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access="
                "True is set on the autograd.Function. Either access saved_tensors only once, "
                "or set clear_saved_tensors_on_access=False.",
                "Take them once: x, y = ctx.saved_tensors.",
            )
        found = tuple([saved_tensor(self, each) for each in saved])
        if saved and self._forward_cls.clear_saved_tensors_on_access:
            self.saved_values = TAKEN
        return found

    @property
    def _raw_saved_tensors(self) -> tuple:
        """What is saved of each saved tensor, as it is saved."""
        from tapegrad.autograd.raw_saved import SavedByFunction

        if self.saved_values is FREED or self.saved_values is TAKEN:
            raise freed()
        return tuple([SavedByFunction(self, i) for i in range(len(self.saved_values))])

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise unpicklable(self)


BackwardCFunction.__module__ = "torch.autograd.function"


class _Plan:
    """How such a node runs: the user's function on tensors, its results checked."""

    __slots__ = ()
    saves = ()
    saves_tensors = True

    def gradients(self, node: BackwardCFunction, g: Array) -> list:
        """The gradient of each edge, an array or None, from those of the results."""
        given = []
        for x, output in zip(g if type(g) is list else (g,), node.result_metadata, strict=True):
            if type(x) is not ndarray or output is None:
                given.append(x if x is None or isinstance(x, TensorBase) else wrap(x))
                continue
            tensor = new(
                tensor_base.Tensor
            )  # `wrap`, and the mark of the result: looking it up is dear
            tensor._array = x
            tensor._node = tensor._counter = tensor._view = tensor._grad = None
            tensor._born = tensor_base.BORN[0]
            like = output[1]
            same = x.dtype is like.dtype and x.shape == like.shape
            tensor._signature = output[2] if same else None
            given.append(tensor)
        return [
            x if x is None or (SPARSE and x.is_sparse) else resolved(x._array)
            for x in self._run(node, given)
        ]

    def run_on_tensors(self, node: BackwardCFunction, g: Array) -> list:
        """The same for tensors."""
        return self._run(node, list(g) if isinstance(g, (list, tuple)) else [g])

    def _run(self, node: BackwardCFunction, g: list) -> list:
        ctx = node.ctx
        if ctx.materialize_grads:
            for i, x in enumerate(g):
                if x is None and node.result_metadata[i] is not None:
                    g[i] = _zeros(*node.result_metadata[i][:2])
        function = node._forward_cls
        backward = node.user_backward()
        found = backward(ctx, g) if function.boxed_grads_call else backward(ctx, *g)
        return _checked(node, tuple(found) if isinstance(found, tuple) else (found,))

    def saved_value(self, node: BackwardCFunction, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


BackwardCFunction.plan = _Plan()


def _zeros(xp: Namespace, like: Like) -> Any:
    return wrap(xp.zeros(like.shape, dtype=like.dtype))


def _checked(node: BackwardCFunction, found: tuple) -> list:
    """Of what `backward` returned, one for each argument, the gradients of the edges."""
    n = len(node.ctx.needs_input_grad)
    if len(found) > n and all(g is None for g in found[n:]):
        found = found[:n]
    name = type(node).__name__
    if len(found) != n:
        raise errors.runtime_error(
            f"function {name} returned an incorrect number of gradients (expected {n}, got "
            f"{len(found)})",
            "backward returns a tuple of one gradient for each argument of forward, None for "
            "those that have none.",
        )
    order = node.input_order
    gradients: list[Any] = []
    if len(order) != n:
        for i, g in enumerate(found):
            if g is not None and i not in order:
                raise errors.runtime_error(
                    f"function {name} returned a gradient different than None at position "
                    f"{i + 1}, but the corresponding forward input was not a Variable",
                    "Return None for arguments that are no tensors.",
                )
    for i, edge, (shape, dtype) in zip(order, node.edges, node.input_metadata, strict=True):
        g = found[i]
        if g is None:
            gradients.append(None)
            continue
        if not isinstance(g, TensorBase):
            raise errors.runtime_error(
                f"expected Variable or None (got {type(g).__name__})", "Gradients are tensors."
            )
        if SPARSE and g.is_sparse and edge is not None:
            if tuple(g.shape) != shape:
                raise _invalid(name, len(gradients), g.shape, shape)
            gradients.append(g)
            continue
        array = None if edge is None else g._array
        if array is None:
            g = None
        elif array.dtype is not dtype or array.shape != shape:
            g = _fitted(name, len(gradients), g, shape, dtype)
        gradients.append(g)
    return gradients


def _fitted(name: str, i: int, g: Array, shape: tuple, dtype: DTypeLike) -> Any:
    """A gradient in the shape and dtype of the argument it is for."""
    have = g._array.shape
    if have == shape and g._array.dtype == dtype:
        return g
    extra = len(have) - len(shape)
    if extra < 0 or any(want not in (n, 1) for n, want in zip(have[extra:], shape, strict=True)):
        raise _invalid(name, i, have, shape)
    if g.dtype.is_complex and not of(dtype).is_complex:
        raise errors.unmet(
            "isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex)",
            "The gradient of a real argument is real: return its real part.",
        )
    return restore(g, shape, dtype)


def _invalid(name: str, i: int, have: tuple, want: tuple) -> RuntimeError:
    return errors.runtime_error(
        f"Function {name} returned an invalid gradient at index {i} - got {list(have)} but "
        f"expected shape compatible with {list(want)}",
        "A gradient has the shape of the argument it is for, or one that broadcasting made of it.",
    )
