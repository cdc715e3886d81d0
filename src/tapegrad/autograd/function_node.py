"""The node of a custom function: what its call keeps, and how its `backward` runs.

The node is the `ctx` of the call, so what `forward` leaves on it `backward` finds. It holds neither
the results (of those that are saved it keeps the array) nor a list of what was said of them.
"""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.arrays.mark import Like
from tapegrad.autograd.function_context import FunctionCtx
from tapegrad.autograd.graph import INFERENCE, MultiNode, Port, next_sequence
from tapegrad.autograd.kept import origin_kept, origin_of, version_now
from tapegrad.autograd.restore import restore
from tapegrad.dtype import of
from tapegrad.tensor import TensorCore, wrap

FREED: Any = type("Freed", (), {"__slots__": ()})()  # in place of what was saved
TAKEN: Any = type("Taken", (), {"__slots__": ()})()  # the same, where it may be asked for once


class Kept:
    """One tensor that `save_for_backward` was given, and its version then."""

    __slots__ = ("index", "value", "version")

    def __init__(self, node: BackwardCFunction, x: Any, index: int | None):
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


class BackwardCFunction(FunctionCtx, MultiNode):
    """The node, of a class of its own for each custom function: `ExpBackward` for `Exp`."""

    __slots__ = ("kept", "order", "outputs", "sources")
    _forward_cls: Any
    kept: Any  # of each saved tensor a Kept or None
    order: list[int]  # of each edge, the argument that it stands for
    outputs: list  # of each result, its namespace and a Like; None for what is no tensor
    sources: list  # of each edge, the shape and dtype of its argument

    def __init__(self) -> None:
        self.plan = PLAN
        self.versions = self.restore = self.hooks = self.output_version = None
        self.likes = None  # zeros are made here, not by the engine
        self.kept = ()
        self.edges = ()
        self.sequence = next_sequence()

    # --- what the engine asks ---

    @property
    def saved(self) -> tuple:  # type: ignore[override]
        """Never None: that nothing is left matters only to who asks for `saved_tensors`."""
        return ()

    @saved.setter
    def saved(self, values: None) -> None:
        self.kept = FREED

    def keep(self, results: list) -> None:
        """Keep what was given to `save_for_backward`, now that the results have their place."""
        kept = []
        numbers = {
            id(x): x._node.index
            for x in results
            if isinstance(x, TensorCore) and type(x._node) is Port and x._node.node is self
        }
        for i, x in enumerate(self.to_save or ()):
            if x is not None and not isinstance(x, TensorCore):
                raise errors.advised(
                    TypeError(
                        f"save_for_backward can only save variables, but argument {i} is of type "
                        f"{type(x).__name__}"
                    ),
                    "Keep anything but tensors as an attribute: ctx.name = value.",
                )
            kept.append(None if x is None else Kept(self, x, numbers.get(id(x))))
        self.kept = tuple(kept)

    # --- what `backward` asks ---

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` was given; in `jvp` what `save_for_forward` was given.

        Raises:
            RuntimeError: it was freed by a backward pass, or one of it was written since.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        kept = self.kept
        if kept is FREED:
            raise errors.freed()
        if kept is TAKEN:
            raise errors.advised(
                RuntimeError(
                    "saved_tensors can only be accessed once when "
                    "clear_saved_tensors_on_access=True is set on the autograd.Function. Either "
                    "access saved_tensors only once, or set clear_saved_tensors_on_access=False."
                ),
                "Take them once: x, y = ctx.saved_tensors.",
            )
        return tuple([None if each is None else each.tensor(self) for each in kept])

    @saved_tensors.setter
    def saved_tensors(self, value: Any) -> None:
        raise errors.advised(
            AttributeError(
                "attribute 'saved_tensors' of 'torch._C._FunctionBase' objects is not writable"
            ),
            "Use ctx.save_for_backward(...).",
        )

    @property
    def saved_variables(self) -> tuple:
        """The old name of `saved_tensors`."""
        import warnings

        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def maybe_clear_saved_tensors(self) -> None:
        """Let go of the saved tensors where the function has `clear_saved_tensors_on_access`."""
        if self._forward_cls.clear_saved_tensors_on_access and self.kept is not FREED:
            self.kept = TAKEN

    def apply(self, *gradients: Any) -> Any:
        """Call the function's `backward`."""
        return self._user_backward()(self, *gradients)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the function's `jvp`."""
        return self._forward_cls.jvp(self, *tangents)

    def _user_backward(self) -> Any:
        from tapegrad.autograd.function import Function

        function = self._forward_cls
        backward, vjp = function.backward, function.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise errors.advised(
                RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                    "You should only implement one of them."
                ),
                "They are two names of one thing.",
            )
        return vjp if vjp is not Function.vjp else backward

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise errors.advised(
            TypeError(f"cannot pickle '{type(self).__name__}' object"),
            "detach() tensors before they are stored or copied.",
        )


BackwardCFunction.__module__ = "torch.autograd.function"


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
        if node.materialize_grads:
            g = [
                _zeros(*output) if x is None and output is not None else x
                for x, output in zip(g, node.outputs, strict=True)
            ]
        function = node._forward_cls
        backward = node._user_backward()
        found = backward(node, g) if function.boxed_grads_call else backward(node, *g)
        if function.clear_saved_tensors_on_access:
            node.maybe_clear_saved_tensors()
        return _checked(node, found if isinstance(found, tuple) else (found,))

    def kept(self, node: BackwardCFunction, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


PLAN = _Plan()


def _zeros(xp: Any, like: Like) -> Any:
    return wrap(xp.zeros(like.shape, dtype=like.dtype))


def _checked(node: BackwardCFunction, found: tuple) -> list:
    """Of what `backward` returned, one for each argument, the gradients of the edges."""
    n = len(node.needs_input_grad)
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
        if g is not None and i not in node.order:
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
            zip(node.order, node.edges, node.sources, strict=True)
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
