"""Packed tensors: what nodes save while saved-tensor hooks are on.

The node of a call is made as always; then each tensor it saved is given to the pack hook and what
that returns takes its place, under a plan that unpacks before the rules run. So nothing is paid
where no hook is set, and what is packed is the only thing that is saved.
"""

from __future__ import annotations

from tapegrad.arrays.batched.array import Batched
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.errors import freed
from tapegrad.autograd.mode import MODE, switched
from tapegrad.autograd.node import EVERY, INFERENCE, Version, version_of
from tapegrad.autograd.operator_base import shape_error
from tapegrad.autograd.plan import Plan, node_class
from tapegrad.autograd.saved import GRAD, RAW, check
from tapegrad.autograd.view import edge_of, shares_memory
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, NodeLike
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.tensor_base import TensorBase, wrap


class Packed:
    """What a pack hook gave for one tensor: of one inside `vmap`, for the whole batch."""

    __slots__ = ("batches", "dtype", "unpack_hook", "value")

    def __init__(self, x: Any, pack_hook: Callable, unpack_hook: Callable):
        self.batches = []
        array = x._array
        while type(array) is Batched:
            self.batches.append((array.level, array.mapped))
            array = array.value
        if self.batches:
            counter = version_of(x)
            x = wrap(array)
            x._counter = counter
        self.value = _packed(x, pack_hook)
        self.unpack_hook = unpack_hook
        self.dtype = x._array.dtype

    def tensor(self) -> Any:
        """The tensor that the unpack hook gives now, without history."""
        x = self.given()
        array = resolved(x._array)
        if array.dtype != self.dtype:
            array = namespace_of((array,)).astype(array, self.dtype)
        for level, mapped in reversed(self.batches):
            array = Batched(level, array, mapped)
        return wrap(array)

    def given(self) -> Any:
        """The tensor that the unpack hook gives now, itself."""
        x = self.unpack_hook(self.value)
        if not isinstance(x, TensorBase):
            raise errors.type_error(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(x).__name__}",
                "The unpack hook gets what the pack hook returned, and returns the tensor.",
            )
        return x


def _packed(x: Any, pack_hook: Callable) -> Any:
    """What the hook makes of a tensor. Nothing is recorded, and `x` may not be written."""
    version = x._counter
    if version is INFERENCE:
        raise errors.inference_saved()
    before = 0 if version is None else version.value
    token = MODE.set(switched(False))
    try:
        value = pack_hook(x)
    finally:
        MODE.reset(token)
    version = x._counter
    if version is not None and version.value != before:
        raise errors.runtime_error(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as "
            "input to pack hook cannot be modified by in-place operations as this can lead to "
            "unexpected side-effects. Please open an issue if you need to perform in-place "
            "operations on the input to a pack hook.",
            "Pack a clone() of it.",
        )
    return value


def not_callable(function: str, own: str, *given: object) -> TypeError:
    """Hooks that are no functions; `own` is what stands before their types."""
    numbers = ", ".join(f"arg{i}: collections.abc.Callable" for i in range(2))
    return errors.type_error(
        f"{function}(): incompatible function arguments. The following argument types are "
        f"supported:\n    1. ({own}{numbers}) -> None\n\nInvoked with: "
        + ", ".join(map(repr, given)),
        "Pass two functions: one packs a tensor, one gives it back.",
    )


# --- packing what a node saved --------------------------------------------------------------------


def pack_node(
    node: NodeLike, inputs: tuple, outs: tuple, hooks: tuple, guarded: Any = None
) -> None:
    """Let the hooks, a pair, have all tensors that the fresh node of a call saved.

    `guarded` is an array that is about to be written: of what lies in its memory, a copy is packed.
    """
    plan = node.plan
    if type(plan) is not Plan or not plan.saves_tensors:
        return

    def packed(x: object) -> Any:
        if not isinstance(x, TensorBase):
            return x
        if guarded is not None and shares_memory(x._array, guarded):
            x = _copy(x)
        return Packed(x, *hooks)

    values = list(node.saved)
    for i, (where, key, _) in enumerate(plan.saves):
        if where == "input" and plan.kinds[key] != RAW:
            values[i] = packed(inputs[key])
        elif "output" in where:
            values[i] = packed(outs[key])
        elif where == "inputs":
            values[i] = tuple(map(packed, inputs))
    hold(node, values)
    node.versions = None


def _copy(x: Any) -> Any:
    """A tensor with the history of `x` on a copy of its memory."""
    copy = wrap(namespace_of((x._array,)).asarray(x._array, copy=True))
    copy._node, copy._counter = edge_of(x), Version()
    return copy


def hold(node: NodeLike, values: list) -> None:
    """Let a node keep `values`, of which some are packed."""
    if type(node.plan) is Plan:
        found = _plans.get(node.plan)
        if found is None:
            found = _plans[node.plan] = PackedPlan(node.plan)
        node.plan = found
    node.saved = tuple(values)


_plans: dict[Plan, PackedPlan] = {}
_TENSORS = ("input", "inputs", "output", "constant output")


class PackedPlan(Plan):
    """The plan of nodes of which some of what they keep is packed: it unpacks, then runs."""

    __slots__ = ("original",)

    def __init__(self, original: Plan):
        self.original = original
        self.op = original.op
        self.kinds = original.kinds
        self.conjugate = original.conjugate
        self.node_type = node_class(original.op)
        self.rules = original.rules
        self.places = original.places
        # of other names: nobody else finds a tensor there
        self.saves = tuple(
            (f"packed {where}" if where in _TENSORS else where, key, name)
            for where, key, name in original.saves
        )
        self.saves_tensors = True

    def run(self, node: NodeLike, g: Array, retain: bool) -> Any:
        """Each edge and its gradient in turn; frees what the node saved, unless `retain`."""
        plain = self._unpacked(node)
        try:
            flow = self.original.run(plain, g, True)
        except ValueError as error:  # what was unpacked has another shape
            raise shape_error(self.op, [g, *plain.saved], error) from None
        if not retain:
            node.saved = None
        return flow

    def run_on_tensors(
        self, node: NodeLike, g: Array, leads: Any = None, saved: Any = None
    ) -> list:
        """The rules on tensors: the result is part of a graph of its own."""
        plain = self._unpacked(node)
        check(plain)
        return self.original.run_on_tensors(node, g, leads, plain.saved)

    def _unpacked(self, node: NodeLike, only: int | None = None) -> Any:
        """A node as it would be without hooks; `only` the given one of what it keeps unpacked."""
        if node.saved is None:
            raise freed(node)
        plain = self.node_type()
        plain.plan = self.original
        plain.edges = node.edges
        plain.restore = node.restore
        plain.hooks = None
        plain.output_version = node.output_version
        expected: Any = node.versions or (0,) * len(self.saves)
        values, versions = [], []
        for i, ((where, key, _), value) in enumerate(
            zip(self.original.saves, node.saved, strict=True)
        ):
            seen = expected[i]
            if only is None or only == i:
                if where == "inputs":
                    seen = tuple(
                        EVERY if type(x) is Packed else version
                        for x, version in zip(value, seen or (0,) * len(value), strict=True)
                    )
                    value = tuple(x.tensor() if type(x) is Packed else x for x in value)
                elif type(value) is Packed:
                    value, seen = value.tensor(), EVERY
                    if where == "output" or (where == "input" and self.kinds[key] == GRAD):
                        value = value._array
            values.append(value)
            versions.append(seen)
        plain.saved, plain.versions = tuple(values), tuple(versions)
        return plain

    def tensor_at(self, node: NodeLike, i: int) -> Any:
        """The `i`-th of what the node saved, with its place in the graph where it is a tensor."""
        plain = self._unpacked(node, i)
        where, key, _ = self.original.saves[i]
        return self.original._tensor(node, where, key, plain.saved[i])
