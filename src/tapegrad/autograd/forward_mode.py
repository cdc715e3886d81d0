"""Forward mode: the mode of a context in which tangents go along with what is computed.

A level knows the tangent of a tensor by the array that holds its values, so whoever has that array
(the tensor, what a node kept of it, the stand-in of a tensor that is written in place) finds the
tangent too, and tensors outside a level pay nothing. Tangents are tensors: they may take part in a
graph, or have tangents of a level further out.

    y = f(x)          the operator runs under the mode below, then its forward rules run on what
                      went in and came out, and the tangent of y is noted
    v = x[1:]         the tangent of a view is the view of the tangent
    v.mul_(2)         writes into the tangent as it writes into the tensor
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad.arrays import numpy as numpy_namespace
from tapegrad.arrays.find import namespace_of
from tapegrad.autograd.graph import Version
from tapegrad.autograd.mode import MODE, Mode, is_inference
from tapegrad.autograd.plan import Like
from tapegrad.autograd.push import along, no_rule, pushed
from tapegrad.autograd.view import check_base, shares_memory
from tapegrad.autograd.writable import check_writable
from tapegrad.op import Op
from tapegrad.ops.dual import primal_view
from tapegrad.promotion import promote
from tapegrad.tensor import wrap

ndarray = np.ndarray
APART = ("dual_view", "primal_view")  # operators whose view has another tangent, or none


class _Dual(weakref.ref):
    """The array of a primal, held weakly, and its tangent."""

    __slots__ = ("key", "tangent")
    key: int
    tangent: Any


class Level:
    """The tangents of one level, each found by the array of its primal."""

    __slots__ = ("duals", "forget")

    def __init__(self) -> None:
        duals: dict[int, _Dual] = {}

        def forget(dual: Any) -> None:
            duals.pop(dual.key, None)

        self.duals = duals
        self.forget = forget

    def set(self, array: Any, tangent: Any) -> None:
        """Note the tangent of what `array` holds."""
        dual = _Dual(array, self.forget)
        dual.key = id(array)
        dual.tangent = tangent
        self.duals[dual.key] = dual


class Forward(Mode):
    """Pushes tangents through operators, on top of the mode `under`."""

    __slots__ = ("enabled", "is_on", "level", "under")
    on_tensors = True  # a backward pass runs on tensors, which tangents go along with

    def __init__(self, under: Any, level: Level, enabled: bool = True):
        super().__init__(under if type(under) is bool else under.grad)
        self.under = under
        self.level = level
        self.enabled = enabled
        self.is_on = enabled and not is_inference(under)

    def over(self, under: Any) -> Forward:
        return Forward(under, self.level, self.enabled)

    def with_grad(self, grad: bool) -> Forward:
        under = self.under
        return self.over(grad if type(under) is bool else under.with_grad(grad))

    # --- tangents of tensors ---------------------------------------------------------------------

    def tangent(self, x: Any) -> Any:
        """The tangent of a tensor, None where it has none."""
        duals = self.level.duals
        dual = duals.get(id(x._array))
        if dual is not None:
            return dual.tangent
        if not duals or _base_of(x) is x:
            return None
        view = x._view
        dual = duals.get(id(view.array))
        if dual is None:
            return None
        part = dual.tangent  # the tensor became dual after the view of it was made
        with Under(self.under):
            for step in view.steps:
                out = step.op.call(part, **step.params)
                part = out if step.index is None else out[step.index]
        self.level.set(x._array, part)
        return part

    def _tangents(self, inputs: Sequence) -> list | None:
        """The tangent of each input of an operator; None if none of them has one."""
        if not self.is_on or not self.level.duals:
            return None
        tangents = [self.tangent(x) if hasattr(x, "_counter") else None for x in inputs]
        return None if all(t is None for t in tangents) else tangents

    # --- operators -------------------------------------------------------------------------------

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        tangents = self._tangents(inputs)
        if tangents is None:
            return self._below(name, function, args, kwargs)
        if type(op) is not Op:  # the function of an operator: a write
            x = inputs[0]
            self._check_writable(x)
            (new,) = self._push(op.op, inputs, tangents, params, [x])
            result = self._below(name, function, args, kwargs)
            self._assign(x, new, True)
            return result
        result = self._below(name, function, args, kwargs)
        outs = result if type(result) is tuple else (result,)
        for y, t in zip(outs, self._push(op, inputs, tangents, params, outs), strict=True):
            if t is not None:
                self.level.set(y._array, t)
        return result

    def _below(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Run an operator under the mode below this one."""
        under = self.under
        if type(under) is not bool:
            return under.call(name, function, args, kwargs)
        return super().call(name, function, args, kwargs)

    def _push(self, op: Op, inputs: Sequence, tangents: list, params: dict, outs: Sequence) -> list:
        """The tangent of each output: memory of its own, or a view where the output is one."""
        if op.kind == "constant" or not outs:
            return [None] * len(outs)
        if not op.vjps and not op.jvps:
            raise no_rule(op)
        moving = [y._array.dtype.kind not in "biu" for y in outs]
        if not any(moving):
            return [None] * len(outs)
        if _on_arrays(op, self.under, inputs, tangents, outs):
            arrays = [getattr(x, "_array", x) for x in inputs]
            ts = [None if t is None else t._array for t in tangents]
            ys = [y._array for y in outs]
            found = pushed(op, numpy_namespace, arrays, ts, params, ys, arrays)
            used = [id(x) for x in (*arrays, *ts, *ys)]
            return [
                None if t is None or not moves else wrap(_own(t, y, used))
                for t, y, moves in zip(found, ys, moving, strict=True)
            ]
        with Under(self.under):
            if op.view and shares_memory(outs[0]._array, inputs[0]._array):
                found = op.call(*tangents, **params)
                return list(found) if op.multi else [found]
            plain = _without_tangents(op, inputs, tangents, outs)
            found = _pushed_on_tensors(op, *plain, params)
            used = [id(x._array) for x in (*inputs, *tangents, *outs) if hasattr(x, "_counter")]
            return [
                None if t is None or not moves else own_tensor(t, y, used)
                for t, y, moves in zip(found, outs, moving, strict=True)
            ]

    # --- writes ----------------------------------------------------------------------------------

    def stands_in(self, x: Any, before: Any) -> None:
        self._check_writable(x)  # finds the tangent of a view, so that `before` has it too
        super().stands_in(x, before)

    def in_place(self, name: str, compute: Callable, x: Any) -> Any:
        if not self.grad:
            return compute(x)
        # rules of tangents may keep what was there before: give them a copy of it
        duals = [(mode, mode.tangent(x)) for mode in _forwards(self)]
        array, counter = x._array, x._counter
        x._array = namespace_of((array,)).asarray(array, copy=True)
        x._counter = Version()
        x._counter.value = counter.value
        for mode, t in duals:
            if t is not None:
                with Under(mode.under):
                    mode.level.set(x._array, t.clone())
        try:
            return compute(x)
        finally:
            x._array, x._counter = array, counter

    def wrote(self, x: Any, result: Any) -> None:
        if self.is_on:
            self._assign(x, self.tangent(result), False)
        super().wrote(x, result)

    def _check_writable(self, x: Any) -> None:
        """Raise where the tangent of a tensor that is written may not be written."""
        t = self.tangent(x)
        if t is not None and self.is_on:
            with Under(self.under):
                check_writable(t)

    def _assign(self, x: Any, new: Any, fresh: bool) -> None:
        """Let `new` be the tangent of `x`, which was written; None stands for zeros.

        `fresh`: no other tensor has `new` for its tangent.
        """
        old = self.tangent(x)
        if old is None and new is None:
            return
        with Under(self.under):
            if old is None:
                base = _base_of(x)
                if base is x:
                    used = () if fresh else (id(new._array),)
                    self.level.set(x._array, own_tensor(new, x, used))
                    return
                check_base(x._view)
                self.level.set(base._array, _zeros(base))
                old = self.tangent(x)
            if new is None:
                old.zero_()
            else:
                old.copy_(new)

    def check_out(self, name: str, result: Any, out: Any) -> None:
        if self.is_on and (self.tangent(result) is not None or self.tangent(out) is not None):
            raise errors.advised(
                NotImplementedError(
                    f"Trying to use forward AD with {name}_out that does not support it because "
                    "it is an out= function"
                ),
                "Leave out= away, or detach() what goes in.",
            )
        super().check_out(name, result, out)

    def alone(self, array: Any) -> Any:
        return array[...]  # the same memory, but an array of its own, which no level knows

    def forget(self, x: Any) -> None:
        self.level.duals.pop(id(x._array), None)
        super().forget(x)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        under = self.under
        if isinstance(under, Mode):
            return under.backward_node(node, function, args)
        return super().backward_node(node, function, args)


class Under:
    """A block in which the mode below a forward mode is on."""

    __slots__ = ("mode", "token")

    def __init__(self, mode: Any):
        self.mode = mode

    def __enter__(self) -> None:
        self.token = MODE.set(self.mode)

    def __exit__(self, *error: object) -> None:
        MODE.reset(self.token)


# --- how the rules run ---------------------------------------------------------------------------


def _on_arrays(op: Op, under: Any, inputs: Sequence, tangents: list, outs: Sequence) -> bool:
    """Whether the rules may run on NumPy arrays: one dtype, and nothing to be recorded."""
    if type(under) is not bool or op.view:
        return False
    dtype = outs[op.differentiable_output]._array.dtype
    if dtype.itemsize == 2:
        return False
    for x in (*inputs, *tangents):
        array = getattr(x, "_array", None)
        if array is None:
            continue
        if type(array) is not ndarray:
            return False
        if array.dtype is not dtype and (array.dtype.kind in "fcV" or op.promote is not None):
            return False
        if under and (x._node is not None or (x._view is not None and x.requires_grad)):
            return False
    return True


def _without_tangents(op: Op, inputs: Sequence, tangents: list, outs: Sequence) -> tuple:
    """What goes in and what came out, without tangents: those of tangents are of other levels."""
    plain = [x if t is None else primal_view(x) for x, t in zip(inputs, tangents, strict=True)]
    asked = {name for rule in op.jvps.values() for name in rule.names}
    if not asked.isdisjoint(("y", *(op.output_names or ()))):
        outs = [primal_view(y) for y in outs]
    return plain, tangents, outs


def _pushed_on_tensors(
    op: Op, inputs: Sequence, tangents: list, outs: Sequence, params: dict
) -> list:
    from tapegrad import namespace

    if op.kind == "linear":
        found = along(op, namespace, inputs, tangents, lambda *x: op.call(*x, **params))
        return list(found) if type(found) is tuple else [found]
    likes = [Like(x._array) if hasattr(x, "_counter") else x for x in inputs]
    if op.promote is not None:
        inputs = _promoted(op, namespace, inputs)
    return pushed(op, namespace, inputs, tangents, params, outs, likes)


def _promoted(op: Op, xp: Any, inputs: Sequence) -> list:
    """The tensors among the operands in the dtype they were computed in."""
    names = [None if name in op.exempt else name for name in op.inputs]
    operands = [getattr(x, "_array", x) for x, n in zip(inputs, names, strict=True) if n]
    dtype = promote([x for x in operands if x is not None])
    if not (dtype.is_floating_point or dtype.is_complex):
        return list(inputs)
    return [
        xp.astype(x, dtype.numpy) if n and hasattr(x, "_counter") and x.dtype is not dtype else x
        for x, n in zip(inputs, names, strict=True)
    ]


def _own(t: Any, y: ndarray, used: Sequence[int]) -> ndarray:
    """The tangent `t` in the shape, the dtype and the layout of `y`, in memory of its own."""
    if (
        type(t) is ndarray
        and t.base is None
        and t.shape == y.shape
        and t.dtype is y.dtype
        and (t.ndim < 2 or t.strides == y.strides)
        and id(t) not in used
    ):
        return t
    made = np.empty_like(y)
    if made.dtype.kind != "c" and np.iscomplexobj(t):
        t = t.real
    np.copyto(made, t, casting="unsafe")
    return made


def own_tensor(t: Any, y: Any, used: Sequence[int] = ()) -> Any:
    """The same for tensors: a copy is recorded."""
    a, b = t._array, y._array
    if (
        t._view is None
        and getattr(a, "base", None) is None
        and a.shape == b.shape
        and a.dtype == b.dtype
        and (a.ndim < 2 or getattr(a, "strides", None) == getattr(b, "strides", None))
        and id(a) not in used
    ):
        return t
    if y.dtype.is_complex or not t.dtype.is_complex:
        return _zeros(y).copy_(t)
    return _zeros(y).copy_(t.real)


def _zeros(x: Any) -> Any:
    """Zeros in the layout of `x`."""
    return wrap(namespace_of((x._array,)).zeros_like(x._array))


def _base_of(x: Any) -> Any:
    """The tensor with which `x` shares its tangent: the base of a view, or the tensor itself."""
    view = x._view
    if view is None or any(step.op.name in APART for step in view.steps):
        return x
    return view.base


def _forwards(mode: Any) -> Iterator[Forward]:
    """The forward modes within a mode, the innermost level first."""
    while isinstance(mode, Mode):
        if isinstance(mode, Forward):
            yield mode
        mode = mode.under


def forward_mode() -> Forward | None:
    """The forward mode of the innermost level of the current context."""
    return next(_forwards(MODE.get()), None)


def without(mode: Any, level: Level) -> Any:
    """`mode` less the forward mode of `level`."""
    if isinstance(mode, Forward) and mode.level is level:
        return mode.under
    return mode.over(without(mode.under, level)) if isinstance(mode, Mode) else mode


def enabled(mode: Any, on: bool) -> Any:
    """`mode` with its forward modes switched on or off."""
    if not isinstance(mode, Mode) or mode.under is None:
        return mode
    under = enabled(mode.under, on)
    return Forward(under, mode.level, on) if isinstance(mode, Forward) else mode.over(under)
