"""The node of a custom function: what its call keeps, and how its `backward` runs.

The node holds the `ctx` of the call, which knows the node only weakly, and of the results only the
arrays of those that are saved: a graph is freed without the help of the garbage collector.
"""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.arrays.mark import Like
from tapegrad.autograd.function_context import unpicklable
from tapegrad.autograd.graph import INFERENCE, MultiNode, Port, next_sequence
from tapegrad.autograd.kept import origin_kept, origin_of, version_now
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.plan import placed
from tapegrad.autograd.restore import restore
from tapegrad.autograd.view import edge_of
from tapegrad.dtype import of
from tapegrad.tensor import TensorCore, wrap

FREED: Any = type("Freed", (), {"__slots__": ()})()  # in place of what was saved
TAKEN: Any = type("Taken", (), {"__slots__": ()})()  # the same, where it may be asked for once


class Kept:
    """One tensor that `save_for_backward` was given, and its version then."""

    __slots__ = ("index", "value", "version")

    def __init__(self, x: Any, index: int | None):
        self.index = index  # which result of the function it is; None: another tensor
        self.version = version_now(x)
        # a result leads back to the node, which may therefore not hold it
        self.value = x if index is None else x._array

    def tensor(self, node: BackwardCFunction) -> Any:
        """The tensor, with its place in the graph; raises if it was written since."""
        index = self.index
        if index is None:
            x = self.value
            counter = x._counter
            if counter is not None and counter is not INFERENCE and counter.value != self.version:
                is_view = counter.origin and x._view is not None
                origin = "output 0 of AsStrided" if is_view else origin_kept(x, counter)
                raise errors.modified(x._array, counter, self.version, origin)
            return x
        x = wrap(self.value)
        x._node = Port(node, index)
        x._counter = counter = (node.output_version or {}).get(index)
        if counter is not None and counter.value != self.version:
            raise errors.modified(self.value, counter, self.version, origin_of(x._node))
        return x


class KeptPacked:
    """The same where saved-tensor hooks are on: what the pack hook gave for the tensor."""

    __slots__ = ("edge", "index", "packed")

    def __init__(self, packed: Any, edge: Any, index: int | None):
        self.packed = packed
        self.edge = edge  # behind another tensor than a result; None where it has no gradient
        self.index = index

    def tensor(self, node: BackwardCFunction) -> Any:
        """The tensor that the unpack hook gives now, with its place in the graph."""
        x = self.packed.tensor()
        if self.index is not None:
            x._node = Port(node, self.index)
            return x
        return x if self.edge is None else placed(x._array, self.edge)


class BackwardCFunction(MultiNode):
    """The node, of a class of its own for each custom function: `ExpBackward` for `Exp`.

    What is asked of it that it does not have is asked of its `ctx`.
    """

    __slots__ = ("__dict__", "ctx", "input_likes", "input_order", "kept_tensors", "output_likes")
    _forward_cls: Any
    ctx: Any
    input_likes: list  # of each edge, the shape and dtype of its argument
    input_order: list[int]  # of each edge, the argument that it stands for
    kept_tensors: Any  # of each saved tensor a Kept or None
    output_likes: list  # of each result, its namespace and a Like; None for what is no tensor

    def __init__(self) -> None:
        self.ctx = self._forward_cls._context_cls(self)
        self.plan = PLAN
        self.versions = self.restore = self.hooks = self.output_version = None
        self.likes = None  # zeros are made here, not by the engine
        self.kept_tensors = ()
        self.edges = ()
        self.sequence = next_sequence()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    # --- what the engine asks ---

    @property
    def saved(self) -> tuple:
        """Never None: that nothing is left matters only to who asks for `saved_tensors`."""
        return ()

    @saved.setter
    def saved(self, values: None) -> None:
        self.kept_tensors = FREED

    def like_of(self, index: int) -> Any:
        """What has the shape and dtype of a result; None for one that is no tensor."""
        output = self.output_likes[index]
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
            raise errors.advised(
                RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                    "You should only implement one of them."
                ),
                "They are two names of one thing.",
            )
        return vjp

    @property
    def _raw_saved_tensors(self) -> tuple:
        """What is kept of each saved tensor, as it is kept."""
        from tapegrad.autograd.raw_saved import SavedByFunction

        if self.kept_tensors is FREED or self.kept_tensors is TAKEN:
            raise errors.freed()
        return tuple(
            [
                None if x is None else SavedByFunction(self, i)
                for i, x in enumerate(self.kept_tensors)
            ]
        )

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise unpicklable(self)


BackwardCFunction.__module__ = "torch.autograd.function"


def keep(node: BackwardCFunction, tensors: tuple, results: list) -> None:
    """Keep what was given to `save_for_backward`, now that the results have their place."""
    numbers = {
        id(x): x._node.index
        for x in results
        if isinstance(x, TensorCore) and type(x._node) is Port and x._node.node is node
    }
    kept = []
    for i, x in enumerate(tensors):
        if x is not None and not isinstance(x, TensorCore):
            raise errors.advised(
                TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(x).__name__}"
                ),
                "Keep anything but tensors as an attribute: ctx.name = value.",
            )
        kept.append(None if x is None else _kept(x, numbers.get(id(x))))
    node.kept_tensors = tuple(kept)


def _kept(x: Any, index: int | None) -> Kept | KeptPacked:
    if type(MODE.get()) is not bool:
        from tapegrad.autograd.saving_mode import packed_by_mode

        packed = packed_by_mode(x)
        if packed is not None:
            return KeptPacked(packed, edge_of(x) if index is None else None, index)
    return Kept(x, index)


def saved_tensors(node: BackwardCFunction) -> tuple:
    """What a node kept, as tensors with their place in the graph."""
    kept = node.kept_tensors
    if kept is FREED:
        raise errors.freed(node)
    if kept is TAKEN:
        raise errors.advised(
            RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            ),
            "Take them once: x, y = ctx.saved_tensors.",
        )
    found = tuple([None if each is None else each.tensor(node) for each in kept])
    if kept and node._forward_cls.clear_saved_tensors_on_access:
        node.kept_tensors = TAKEN
    return found


class _Plan:
    """How such a node runs: the user's function on tensors, its results checked."""

    __slots__ = ()
    keeps = ()
    keeps_tensors = True

    def gradients(self, node: BackwardCFunction, g: Any) -> list:
        """The gradient of each edge, an array or None, from those of the results."""
        found = self.run_on_tensors(
            node, [x if x is None else wrap(x) for x in (g if type(g) is list else [g])]
        )
        return [x if x is None else x._array for x in found]

    def run_on_tensors(self, node: BackwardCFunction, g: Any) -> list:
        """The same for tensors."""
        g = list(g) if isinstance(g, (list, tuple)) else [g]
        ctx = node.ctx
        if ctx.materialize_grads:
            g = [
                _zeros(*output) if x is None and output is not None else x
                for x, output in zip(g, node.output_likes, strict=True)
            ]
        function = node._forward_cls
        backward = node.user_backward()
        found = backward(ctx, g) if function.boxed_grads_call else backward(ctx, *g)
        return _checked(node, found if isinstance(found, tuple) else (found,))

    def kept(self, node: BackwardCFunction, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


PLAN = _Plan()


def _zeros(xp: Any, like: Like) -> Any:
    return wrap(xp.zeros(like.shape, dtype=like.dtype))


def _checked(node: BackwardCFunction, found: tuple) -> list:
    """Of what `backward` returned, one for each argument, the gradients of the edges."""
    n = len(node.ctx.needs_input_grad)
    if len(found) > n and all(g is None for g in found[n:]):
        found = found[:n]
    name = type(node).__name__
    if len(found) != n:
        raise errors.advised(
            RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {n}, got "
                f"{len(found)})"
            ),
            "backward returns a tuple of one gradient for each argument of forward, None for "
            "those that have none.",
        )
    for i, g in enumerate(found):
        if g is not None and i not in node.input_order:
            raise errors.advised(
                RuntimeError(
                    f"function {name} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable"
                ),
                "Return None for arguments that are no tensors.",
            )
        if not (g is None or isinstance(g, TensorCore)):
            raise errors.advised(
                RuntimeError(f"expected Variable or None (got {type(g).__name__})"),
                "Gradients are tensors.",
            )
    return [
        None if edge is None or found[i] is None else _fitted(name, k, found[i], *source)
        for k, (i, edge, source) in enumerate(
            zip(node.input_order, node.edges, node.input_likes, strict=True)
        )
    ]


def _fitted(name: str, i: int, g: Any, shape: tuple, dtype: Any) -> Any:
    """A gradient in the shape and dtype of the argument it is for."""
    have = g._array.shape
    if have == shape and g._array.dtype == dtype:
        return g
    extra = len(have) - len(shape)
    if extra < 0 or any(want not in (n, 1) for n, want in zip(have[extra:], shape, strict=True)):
        raise errors.advised(
            RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - got {list(have)} but "
                f"expected shape compatible with {list(shape)}"
            ),
            "A gradient has the shape of the argument it is for, or one that broadcasting made "
            "of it.",
        )
    if g.dtype.is_complex and not of(dtype).is_complex:
        raise errors.advised(
            RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                "grad_is_complex) to be true, but got false.  (Could this error message be "
                "improved?  If so, please report an enhancement request to PyTorch.)"
            ),
            "The gradient of a real argument is real: return its real part.",
        )
    return restore(g, shape, dtype)
