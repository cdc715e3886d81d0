"""The mode inside `vmap`: operators meet batched tensors.

It only sees to it that all of an operator's tensors are in the level: one from outside that takes
part in a graph, or may have a tangent, is lifted, so that what comes back to it is added up over
the batch. The operators themselves run as ever, on another kind of array.
"""

from __future__ import annotations

from tapegrad.arrays.batched.array import Level
from tapegrad.arrays.batched.refusal import OPERATORS, inplace_error
from tapegrad.autograd.forward.tangent import only_maps
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE, TRANSFORMS, Mode
from tapegrad.autograd.plan import Plan
from tapegrad.core.annotations import Any, Array, Callable, ModeLike, NodeLike, Sequence, Tensor
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.op import Op
from tapegrad.func.level import is_inside, is_mapped, leave, lift, same_for_all


class Mapping(Layered):
    """A level of `vmap` on top of the mode `under`."""

    __slots__ = ("level",)
    nests = maps = True

    def __init__(self, under: ModeLike, level: Level):
        self.grad = under if type(under) is bool else under.grad
        self.under, self.level = under, level

    def over(self, under: ModeLike) -> Mapping:
        return Mapping(under, self.level)

    # --- operators -------------------------------------------------------------------------------

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        if not inputs and type(op) is not Op:  # a tensor is made: it is one of this level
            made = self.below(name, function, args, kwargs)
            if not is_inside(made._array, self.level):
                made._array, made._signature = same_for_all(made._array, self.level), None
            return made
        if self._is_inside(inputs):
            if type(op) is not Op and not is_mapped(inputs[0]._array, self.level):
                lifted = self._written(name, inputs)
            else:
                lifted = tuple([self._lifted(x) for x in inputs])
            OPERATORS.append(name)  # a warning names it
            try:
                return self.below(name, function, (op, lifted, params), kwargs)
            finally:
                OPERATORS.pop()
        return self.below(name, function, args, kwargs)

    def maps_over(self, x: Tensor) -> bool:
        """Whether a tensor has values of its own for each sample."""
        return is_mapped(x._array, self.level)

    def _written(self, name: str, inputs: tuple) -> tuple:
        """The inputs of a write into what is the same for each sample: so must be the others."""
        target, *others = inputs
        if not is_inside(target._array, self.level):
            return (target, *[self.lowered(x, name, target) for x in others])
        for x in others:
            self._refuse_mapped(x, name, target)
        return (target, *[self._lifted(x) for x in others])

    def _refuse_mapped(self, x: Tensor, name: str, target: Tensor) -> None:
        """Raise if `x` has values of its own for each member, and `target` is to take them."""
        if is_mapped(getattr(x, "_array", None), self.level):
            raise inplace_error(name, self.level, target._array, x._array)

    def _is_inside(self, inputs: Sequence) -> bool:
        """Whether one of them is a tensor of this level."""
        level = self.level
        for x in inputs:
            if is_inside(getattr(x, "_array", None), level):
                return True
        return False

    def _lifted(self, x: Tensor) -> Any:
        """A tensor from outside that something may come back to, in this level."""
        array = getattr(x, "_array", None)
        if array is None or is_inside(array, self.level):
            return x
        if type(self.under) is bool and not x.requires_grad:
            return x
        token = MODE.set(self.under)
        try:
            return lift(x, level=self.level)
        finally:
            MODE.reset(token)

    # --- writes ----------------------------------------------------------------------------------

    def in_place(self, name: str, compute: Callable, x: Tensor) -> Any:
        under = self.under
        result = compute(x) if type(under) is bool else under.in_place(name, compute, x)
        if not is_inside(x._array, self.level):
            return self.lowered(result, name, x)
        if not is_mapped(x._array, self.level):
            self._refuse_mapped(result, name, x)
        return result

    def lowered(self, x: Tensor, name: str, target: Tensor) -> Any:
        """What the function `name` is to write into `target`, from outside: the same for each."""
        array = getattr(x, "_array", None)
        if array is None or not is_inside(array, self.level):
            return x
        self._refuse_mapped(x, name, target)
        token = MODE.set(self.under)
        try:
            return leave(x, axis=0, level=self.level)[0]
        finally:
            MODE.reset(token)

    # --- .data -----------------------------------------------------------------------------------

    def cut(self, x: Tensor, result: Tensor, how: str) -> None:
        if how == ".data" and self._is_seen(x._array):
            raise runtime_error(
                "accessing `data` under vmap transform is not allowed",
                "detach() gives the same values without history.",
            )
        super().cut(x, result, how)

    def _is_seen(self, array: Any) -> bool:
        """Whether an array is a batch of this level, and no transform has begun since."""
        return is_mapped(array, self.level) and self.level.transforms is TRANSFORMS.get()

    # --- the backward pass -----------------------------------------------------------------------

    def runner(self) -> Callable | None:
        return _run_fitting if only_maps(self) else None

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        """On arrays a node recorded outside runs its rules on batched ones, too."""
        plan: Any = getattr(node, "plan", None)
        if type(plan) is Plan and not isinstance(args[-1], (bool, TensorBase)):
            own = plan.fitting(args[-1])
            if own is not plan:
                return super().backward_node(node, own.gradients, args)
        return super().backward_node(node, function, args)


def _run_fitting(node: NodeLike, g: Array, retain: bool) -> Any:
    """Run a node by the rules for what reached it: batched arrays are of another namespace."""
    plan = node.plan
    if type(plan) is Plan:
        plan = plan.fitting(g)
    return plan.run(node, g, retain)


def lifted_everywhere(x: Any, mode: Any) -> Any:
    """A tensor as one of all levels of a mode: what comes back to it is of each sample."""
    if isinstance(mode, Mode):
        x = lifted_everywhere(x, mode.under)
        if type(mode) is Mapping and not is_inside(x._array, mode.level):
            x = lift(x, level=mode.level)
    return x
