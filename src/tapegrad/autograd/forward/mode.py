"""Forward mode: the mode of a context in which tangents go along with what is computed.

A level knows the tangent of a tensor by the array that holds its values, so whoever has that array
(the tensor, what a node saved of it, the stand-in of a tensor that is written in place) finds the
tangent too, and tensors outside a level pay nothing. Tangents are tensors: they may take part in a
graph, or have tangents of a level further out.

    y = f(x)          the operator runs under the mode below, then its forward rules run on what
                      went in and came out, and the tangent of y is noted
    v = x[1:]         the tangent of a view is the view of the tangent
    v.mul_(2)         writes into the tangent as it writes into the tensor

A tangent lives as long as the array of its primal, the end of the level at most. Where a graph is
recorded it may be the end of the level: the graph of a tangent often keeps the primal.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from tapegrad.arrays.namespaces import mapped_beyond, namespace_of
from tapegrad.autograd.captured import Unchecked
from tapegrad.autograd.forward.jvp import no_rule
from tapegrad.autograd.forward.tangent import own_tensor, tangents_of_call, zeros_of
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE, Mode, Under, is_inference
from tapegrad.autograd.node import Version
from tapegrad.autograd.operator_base import OperatorBase
from tapegrad.autograd.view import as_read, check_base, memory_owner
from tapegrad.autograd.writable import check_writable
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, ModeLike, Out
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.tensor_base import wrap

ndarray = np.ndarray

# bytes of an array that a level may hold for a while: none where references are not counted
SMALL = 1 << 11 if hasattr(sys, "getrefcount") else 0
APART = ("dual_view", "primal_view")  # operators whose view has another tangent, or none


class _Dual(weakref.ref):
    """The array of a primal, held weakly, and its number."""

    __slots__ = ("key",)
    key: int


def _shared(arrays: list, sole: int) -> list:
    """Those of `arrays` to which there are more references than `sole`, as seen from here."""
    count = sys.getrefcount
    return [array for array in arrays if count(array) > sole]


def _references_to_none_but_ours() -> int:
    """The largest number that `_shared` may be told, so that it drops what nobody else holds."""
    return next(n for n in range(9) if not _shared([np.empty(1)], n))


_SOLE = _references_to_none_but_ours() if SMALL else 0
_FEWEST = 24  # small arrays that may be held until the next sweep; few: memory is used again


class Level:
    """The tangents of one level, each found by the array of its primal.

    A tangent goes when its primal does. Of a large one a weak reference tells; small ones are held
    and swept out now and then, which costs a third of that.
    """

    __slots__ = ("duals", "forget", "held", "most", "weak")

    def __init__(self) -> None:
        duals: dict[int, Any] = {}
        weak: dict[int, _Dual] = {}

        def forget(dual: Any) -> None:
            if weak.pop(dual.key, None) is not None:
                duals.pop(dual.key, None)

        self.duals = duals  # by the number of an array: its tangent, a tensor or an array
        self.weak = weak
        self.held: list[Any] = []
        self.most = _FEWEST  # how many may be held before the next sweep
        self.forget = forget

    def set(self, array: Any, tangent: Array) -> None:
        """Note the tangent of what `array` holds.

        It may be an array, too, of the shape and dtype of the other, that is nobody else's.
        """
        if getattr(array, "nbytes", SMALL) < SMALL:
            self.hold(array, tangent)
            return
        key = id(array)
        dual = self.weak[key] = _Dual(array, self.forget)
        dual.key = key
        self.duals[key] = tangent

    def hold(self, array: Any, tangent: Array) -> None:
        """The same for a small array."""
        duals = self.duals
        key = id(array)
        if key not in duals:
            self.held.append(array)
        duals[key] = tangent
        if len(duals) > self.most:
            self.sweep()

    def wrapped(self, array: Any) -> Any:
        """The tangent of an array, which was noted as an array, as the tensor it stays."""
        key = id(array)
        found = self.duals[key] = wrap(self.duals[key])
        return found

    def sweep(self) -> None:
        """Forget the tangents of small arrays that nobody else holds any more."""
        duals = self.duals
        saved = {key: duals[key] for key in self.weak}
        self.held[:] = _shared(self.held, _SOLE)
        for array in self.held:
            key = id(array)
            saved[key] = duals[key]
        duals.clear()
        duals.update(saved)
        self.most = 2 * len(duals) + _FEWEST

    def drop(self, keys: Collection[int]) -> None:
        """Forget the tangents of the arrays of these numbers."""
        for key in keys:
            self.duals.pop(key, None)
            self.weak.pop(key, None)
        self.held[:] = [array for array in self.held if id(array) not in keys]

    def clear(self) -> None:
        """Forget all tangents."""
        for each in (self.duals, self.held, self.weak):
            each.clear()


class Forward(Layered):
    """Pushes tangents through operators, on top of `under`: a grad mode, inference, a level."""

    __slots__ = ("duals", "enabled", "fast_jvp", "hold", "is_on", "level")
    on_tensors = True  # a backward pass runs on tensors, which tangents go along with
    nests = True

    def __init__(self, under: ModeLike, level: Level, enabled: bool = True):
        super().__init__(under)
        self.level = level
        self.duals = level.duals
        self.hold = level.held.append
        self.enabled = enabled
        self.is_on = enabled and not is_inference(under)
        self.fast_jvp = enabled and type(under) is bool

    def over(self, under: ModeLike) -> Forward:
        return Forward(under, self.level, self.enabled)

    # --- tangents of tensors ---------------------------------------------------------------------

    def tangent(self, x: Any) -> Any:
        """The tangent of a tensor, None where it has none."""
        duals = self.level.duals
        array = x._array
        t = duals.get(id(array))
        if t is not None:
            return t if type(t) is not ndarray else self.level.wrapped(array)
        if not duals or _base_of(x) is x:
            return None
        view = x._view
        part = duals.get(id(view.array))
        if part is None:
            return None
        if type(part) is ndarray:
            part = self.level.wrapped(view.array)
        # the tensor became dual after the view of it was made
        with Under(self.under):
            for step in view.steps:
                out = step.op.call(part, **step.params)
                part = out if step.index is None else out[step.index]
        self.level.set(x._array, part)
        return part

    def _tangents(self, inputs: Sequence) -> list | None:
        """The tangent of each input of an operator; None if none of them has one."""
        duals = self.level.duals
        if not self.is_on or not duals:
            return None
        tangents = []
        found = None
        for x in inputs:
            array = getattr(x, "_array", None)
            t = duals.get(id(array))
            if t is not None:
                found = t = t if type(t) is not ndarray else self.level.wrapped(array)
            elif array is None or x._view is None:
                t = None
            else:
                t = self.tangent(x)
                found = found if t is None else t
            tangents.append(t)
        return None if found is None else tangents

    # --- operators -------------------------------------------------------------------------------

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        tangents = self._tangents(inputs)
        if tangents is None:
            return self.below(name, function, args, kwargs)
        if not isinstance(op, OperatorBase):  # the function of an operator: a write
            x = inputs[0]
            self._check_writable(x)
            (new,) = tangents_of_call(op.op, self.under, inputs, tangents, params, [x])
            result = self.below(name, function, args, kwargs)
            self.assign(x, new, True)
            return result
        if not op.view and any([type(getattr(x, "_array", None)) is ConjNegView for x in inputs]):
            inputs = tuple(map(as_read, inputs))  # so that what is saved of them has tangents
        under = self.under
        if type(under) is bool:
            token = MODE.set(under)
            try:
                result = op.call(*inputs, **params)  # the fast path of small calls
            finally:
                MODE.reset(token)
        else:
            result = under.call(name, function, (op, inputs, params), kwargs)
        outs = result if type(result) is tuple else (result,)
        for i, t in enumerate(tangents_of_call(op, under, inputs, tangents, params, outs)):
            if t is not None:
                self.level.set(outs[i]._array, t)
        return result

    def read_as(self, x: Any, found: Any) -> None:
        t = self.tangent(x)
        if t is not None:
            self.level.set(found._array, t)
        super().read_as(x, found)

    # --- writes ----------------------------------------------------------------------------------

    def stands_in(self, x: Any, before: Any) -> None:
        self._check_writable(x)  # finds the tangent of a view, so that `before` has it too
        if before._array is not x._array:  # of a conjugate view: the same numbers
            t = self.tangent(x)
            if t is not None:
                self.level.set(before._array, t)
        super().stands_in(x, before)

    def in_place(self, name: str, compute: Callable, x: Any) -> Any:
        if not self.grad:
            return compute(x)
        # rules of tangents may keep what was there before: give them a copy of it
        duals = [(mode, mode.tangent(x)) for mode in forward_modes(self)]
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

    def wrote(self, x: object, result: object) -> None:
        if self.is_on:
            self.assign(x, self.tangent(result), False)
        super().wrote(x, result)

    def _check_writable(self, x: object) -> None:
        """Raise where the tangent of a tensor that is written may not be written."""
        t = self.tangent(x)
        if t is not None and self.is_on:
            with Under(self.under):
                check_writable(t)

    def assign(self, x: Any, new: Any, fresh: bool) -> None:
        """Let `new` be the tangent of `x`, which was written; None stands for zeros.

        `fresh`: no other tensor has `new` for its tangent.
        """
        old = self.tangent(x)
        if old is None and new is None:
            return
        with Under(self.under), Unchecked():
            if old is None:
                base = _base_of(x)
                if base is x:
                    used = () if fresh else (id(new._array),)
                    self.level.set(x._array, own_tensor(new, x, used))
                    return
                check_base(x._view)
                self.level.set(base._array, zeros_of(base))
                old = self.tangent(x)
            if new is not None and mapped_beyond(new._array, old._array):
                old = self._map_further(x, new)
            if new is None:
                old.zero_()
            else:
                old.copy_(new)

    def _map_further(self, x: object, new: Any) -> Any:
        """Give the base of `x` a tangent that what `new` has of each member fits into."""
        base = _base_of(x)
        old = self.tangent(base)
        own = memory_owner(old._array)
        self.level.drop(  # views of the old tangent are made again
            [
                key
                for key, t in self.level.duals.items()
                if memory_owner(getattr(t, "_array", t)) is own
            ]
        )
        self.level.set(base._array, old + zeros_of(new).sum())
        return self.tangent(x)

    def check_out(self, name: str, result: object, out: Out) -> None:
        if self.is_on and (self.tangent(result) is not None or self.tangent(out) is not None):
            raise errors.not_implemented(
                f"Trying to use forward AD with {name}_out that does not support it because "
                "it is an out= function",
                "Leave out= away, or detach() what goes in.",
            )
        super().check_out(name, result, out)

    def alone(self, array: Any) -> Any:
        return array[...]  # the same memory, but an array of its own, which no level knows

    def check_memory(self, name: str, x: object) -> None:
        if self.is_on and self.tangent(x) is not None:
            if name == "set_":
                raise no_rule(name, derivative=False)
            raise errors.runtime_error(
                "cannot resize variables that has a forward grad",
                "detach() it first, or write with copy_().",
            )
        super().check_memory(name, x)

    def move(self, x: object, array: Any) -> None:
        t = self.tangent(x)
        if t is not None:
            self.level.set(array, t)
        super().move(x, array)

    def forget(self, x: Any) -> None:
        self.level.drop((id(x._array),))
        super().forget(x)


def _base_of(x: Any) -> Any:
    """The tensor with which `x` shares its tangent: the base of a view, or the tensor itself."""
    view = x._view
    if view is None or any(step.op.name in APART for step in view.steps):
        return x
    return view.base


def forward_modes(mode: ModeLike) -> Iterator[Forward]:
    """The forward modes within a mode, the innermost level first."""
    while isinstance(mode, Mode):
        if isinstance(mode, Forward):
            yield mode
        mode = mode.under


def entered(mode: ModeLike, level: Level) -> Any:
    """`mode` with a forward mode in it: below a profiler, which sees operators and not rules."""
    if isinstance(mode, Mode) and mode.under is not None and not mode.nests:
        return Forward(mode, level) if mode.at_bottom else mode.over(entered(mode.under, level))
    return Forward(mode, level)


def forward_mode() -> Forward | None:
    """The forward mode of the innermost level of the current context, if there is one."""
    return next(forward_modes(MODE.get()), None)


def innermost() -> Forward:
    """The same inside a level."""
    return next(forward_modes(MODE.get()))


def without(mode: ModeLike, level: Level) -> Any:
    """`mode` less the forward mode of `level`."""
    if isinstance(mode, Forward) and mode.level is level:
        return mode.under
    return mode.over(without(mode.under, level)) if isinstance(mode, Mode) else mode


def enabled(mode: ModeLike, on: bool) -> Any:
    """`mode` with its forward modes switched on or off."""
    if not isinstance(mode, Mode) or mode.under is None:
        return mode
    under = enabled(mode.under, on)
    return Forward(under, mode.level, on) if isinstance(mode, Forward) else mode.over(under)
