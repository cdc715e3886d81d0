"""The gradients of a module: two nodes of identities around its forward, and what they tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from warnings import warn

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.errors import advised
from tapegrad.ops.together import together
from tapegrad.tensor import Tensor


class BackwardHook:
    """Calls a module's backward hooks, for one forward call of it.

    The gradients of the outputs are known first; they wait here for those of the inputs.
    """

    def __init__(self, module: Any, hooks: list[Callable], pre_hooks: list[Callable]):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.n_inputs = 0
        self.n_outputs = 0
        self.input_places: list[int] = []
        self.output_places: list[int] = []
        self.grad_outputs: tuple | None = None

    def inputs(self, args: tuple) -> tuple:
        """The arguments of the forward, put behind a node."""
        self.n_inputs = len(args)
        args, self.input_places, node = _behind_a_node(args)
        if node is not None:
            node.register_hook(self._with_grad_inputs)
        return args

    def outputs(self, result: Any) -> Any:
        """The result of the forward, put behind a node."""
        values = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(values)
        values, self.output_places, node = _behind_a_node(values)
        if node is not None:
            node.register_prehook(self._with_grad_outputs)
        return values if isinstance(result, tuple) else values[0]

    def _with_grad_outputs(self, grads: tuple) -> tuple:
        given = _spread(grads, self.output_places, self.n_outputs)
        for hook in self.pre_hooks:
            changed = hook(self.module, given)
            if changed is not None:
                given = _checked("pre hook", "grad_output", changed, self.n_outputs)
        self.grad_outputs = given
        if not self.input_places:
            self._without_grad_inputs(given)
        return tuple(given[i] for i in self.output_places)

    def _with_grad_inputs(self, grads: tuple, _: tuple) -> tuple | None:
        if self.grad_outputs is None:
            return None  # the inputs were used without the outputs
        given = _spread(grads, self.input_places, self.n_inputs)
        for hook in self.hooks:
            changed = hook(self.module, given, self.grad_outputs)
            if changed is not None:
                given = _checked("hook", "grad_input", changed, self.n_inputs)
        self.grad_outputs = None
        return tuple(given[i] for i in self.input_places)

    def _without_grad_inputs(self, grad_outputs: tuple) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients.\nThe hook gets None for each of them.",
            stacklevel=2,
        )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.n_inputs, grad_outputs)
            if changed is not None and any(g is not None for g in changed):
                raise advised(
                    RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always "
                        "return None or None for all gradients."
                    ),
                    "There is no gradient to change.",
                )


def first_tensor(result: Any) -> Tensor:
    """The first tensor in a result, however deep in tuples, lists and dicts."""
    while not isinstance(result, Tensor):
        result = next(iter(result.values())) if isinstance(result, dict) else result[0]
    return result


def _behind_a_node(values: tuple) -> tuple[tuple, list[int], Any]:
    """`values` with the tensors that require grad replaced, their places, and the node."""
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]
    if not places or not is_grad_enabled():
        return values, [], None
    found = list(values)
    for i, tensor in zip(places, together(*[values[i] for i in places]), strict=True):
        found[i] = tensor
    return tuple(found), places, found[places[0]].grad_fn


def _spread(grads: tuple, places: list[int], n: int) -> tuple:
    found: list[Any] = [None] * n
    for place, grad in zip(places, grads, strict=True):
        found[place] = grad
    return tuple(found)


def _checked(what: str, kind: str, changed: Any, n: int) -> tuple:
    values = changed if isinstance(changed, tuple) else (changed,)
    if len(values) != n:
        raise advised(
            RuntimeError(
                f"Backward {what} returned an invalid number of {kind}, got {len(values)}, but "
                f"expected {n}"
            ),
            "Return one gradient for each, or None to change nothing.",
        )
    return values
