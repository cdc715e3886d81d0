"""Checkpoints that keep the results of some operators: a policy says of which.

Forward, what an operator computes is kept if the policy says so. Backward, when the function runs
again, such an operator gives what was kept, behind a new node, and computes nothing.
"""

from __future__ import annotations

from enum import Enum

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.layered_mode import Block, Layered, stripped
from tapegrad.autograd.mode import MODE, Under
from tapegrad.autograd.node import version_of
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, ModeLike, OperatorLike
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.apply import record
from tapegrad.dispatch.op import Op
from tapegrad.ops import OpOverload, OpOverloadPacket, overload_of


class CheckpointPolicy(Enum):
    """What is done with the result of an operator in a selective checkpoint.

    It is kept (`SAVE`) or computed again (`RECOMPUTE`). `MUST` and `PREFER` mean the same here, and
    so do `CPU_OFFLOAD` and `SAVE`: all memory is the CPU's.

    >>> torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVING = tuple(each for each in CheckpointPolicy if "RECOMPUTE" not in each.name)


class SelectiveCheckpointContext:
    """What a policy is told besides the call: `op_output`, what the operator returned.

    `is_recompute` is False: policies are asked forward, and never again.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


CheckpointPolicy.__module__ = SelectiveCheckpointContext.__module__ = "torch.utils.checkpoint"


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Two contexts, one for each run of a checkpoint, in which some results are kept.

    For `checkpoint(..., use_reentrant=False, context_fn=...)`. Operators are named as PyTorch's
    dispatcher does: `torch.ops.aten.mm.default`. A policy is not asked about writes in place, about
    the making of tensors, and about operators that PyTorch has not: they always run again; so do
    views, which cost nothing, whatever it says of them.

    Args:
        policy_fn_or_list: operators whose results are kept; or a function of a
            `SelectiveCheckpointContext`, the operator, and what it was called with (its tensors,
            and its options by keyword, as tapegrad's operator has them), which gives a
            `CheckpointPolicy`
        allow_cache_entry_mutation: whether results that are kept may be written in place later, as
            which the second run then gets them

    Raises:
        TypeError, ValueError: it is neither, or names no operator.
        RuntimeError: from the backward pass, if what was kept was written, or it runs twice.

    >>> import functools
    >>> from tapegrad.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep = functools.partial(
    ...     create_selective_checkpoint_contexts, [torch.ops.aten.mm.default]
    ... )
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda x: (x @ x).sin() @ x, x, use_reentrant=False, context_fn=keep)
    >>> y.sum().backward()
    >>> x.grad.shape
    torch.Size([2, 2])
    """
    policy = _policy(policy_fn_or_list)
    kept = _Results(allow_cache_entry_mutation)
    return Block(_Keeping, kept, policy), Block(_Giving, kept)


def _policy(given: object) -> Callable:
    """The policy, where a list was given one that keeps the results of its operators."""
    if callable(given):
        return given
    if not isinstance(given, list):
        raise errors.type_error(
            "policy_fn_or_list must be either a function or a list of ops.",
            "[torch.ops.aten.mm.default], for example.",
        )
    for op in given:
        if isinstance(op, OpOverload):
            continue
        more = ""
        if isinstance(op, OpOverloadPacket):
            more = (
                "Please update the OpOverloadPacket to a specific OpOverload.For example, if you "
                f"have `torch.ops.{op}`, change it to `torch.ops.{op}.default`."
            )
        raise errors.value_error(
            f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. "
            + more,
            "Operators have names such as torch.ops.aten.mm.default.",
        )

    def policy(ctx: object, op: OperatorLike, *args: object, **kwargs: object) -> CheckpointPolicy:
        listed = any(op is each for each in given)
        return CheckpointPolicy.MUST_SAVE if listed else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


class _Results:
    """What is kept: for each operator its results, by the number of the call."""

    def __init__(self, may_be_written: bool):
        self.may_be_written = may_be_written
        self.calls: dict[Any, list] = {}
        self.given = False

    def keep(self, op: Any, result: Any) -> None:
        """Keep the result of one more call of an operator; None: it is computed again."""
        found = None
        if result is not None:
            several = type(result) if isinstance(result, (tuple, list)) else None
            found = several, [_kept(x) for x in (result if several else (result,))]
        self.calls.setdefault(op, []).append(found)

    def take(self, op: Any, number: int) -> tuple[type | None, list] | None:
        """The result of a call of an operator, and the kind of sequence where they are several."""
        calls = self.calls.get(op, [])
        found = calls[number] if number < len(calls) else None
        if found is None:
            return None
        several, kept = found
        if not self.may_be_written and any(now and now.value != then for _, now, then in kept):
            raise errors.runtime_error(
                "Tensor cached during selective activation checkpoint has been mutated",
                "Write out of place, or pass allow_cache_entry_mutation=True.",
            )
        calls[number] = None
        self.given = True
        return several, [x if now is None else wrap(x) for x, now, _ in kept]


def _kept(x: Any) -> tuple[Any, Any, int]:
    """An array, its version counter, and the version; what is no tensor without a counter."""
    if not isinstance(x, TensorBase):
        return x, None, 0
    return x._array, version_of(x), version_of(x).value


def _may_be_kept(op: OperatorLike) -> bool:
    return type(op) is Op and not op.view


class _Selecting(Layered):
    """One of both runs."""

    __slots__ = ()
    kept: _Results

    def in_place(self, name: str, compute: Callable, x: object) -> Any:
        """Compute what is written in place under the mode below: it is not kept."""
        with Under(self.under):
            return super().in_place(name, compute, x)


class _Keeping(_Selecting):
    """The first run: asks the policy, keeps results."""

    __slots__ = given = ("kept", "policy")
    policy: Callable

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = self.below(name, function, args, kwargs)
        op, inputs, params = args
        overload = overload_of(op, inputs) if type(op) is Op else None
        wanted = overload is not None and self._asked(overload, inputs, params, result) in _SAVING
        if _may_be_kept(op):
            self.kept.keep(op, result if wanted else None)
        return result

    def _asked(self, overload: OpOverload, inputs: tuple, params: dict, result: object) -> Any:
        """What the policy says of a call; its own operators are not asked about."""
        ctx = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        with Under(self.under):
            return self.policy(ctx, overload, *inputs, **params)

    def custom(self, overload: Any, bound: Any, compute: Callable) -> Any:
        with Under(stripped(MODE.get(), _Selecting)):
            result = compute(bound)
        wanted = self._asked(overload, bound.args, bound.kwargs, result) in _SAVING
        self.kept.keep(overload, result if wanted else None)
        return result


class _Giving(_Selecting):
    """The second run: gives what is kept."""

    __slots__ = given = ("kept", "calls")
    calls: dict[Any, int]  # of each operator, so far

    def __init__(self, under: ModeLike, kept: _Results, calls: dict | None = None):
        super().__init__(under, kept, {} if calls is None else calls)
        if calls is None and kept.given:
            raise errors.runtime_error(
                "Trying to backward an extra time. You are only allowed to backward once on "
                "any region computed under selective activation checkpoint.",
                "Run the forward pass again, or keep nothing.",
            )

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op = args[0]
        if not _may_be_kept(op):
            return self.below(name, function, args, kwargs)
        found = self._take(op)
        if found is None:
            return self.below(name, function, args, kwargs)

        def give(op: Op, inputs: tuple, params: dict) -> Any:
            return _recorded(op, inputs, params, *found)

        return self.below(name, give, args, kwargs)

    def custom(self, overload: Any, bound: Any, compute: Callable) -> Any:
        found = self._take(overload)
        if found is None:
            with Under(stripped(MODE.get(), _Selecting)):
                return compute(bound)
        several, values = found
        return several(values) if several else values[0]

    def _take(self, op: Any) -> tuple[type | None, list] | None:
        """What is kept of this call of an operator."""
        number = self.calls.get(op, 0)
        self.calls[op] = number + 1
        return self.kept.take(op, number)


def _recorded(op: Op, inputs: tuple, params: dict, several: type | None, results: list) -> Any:
    """A call of an operator whose result is known: what is left is to record it."""
    outs = tuple(results)
    tensors = [isinstance(x, TensorBase) for x in inputs]
    edges = [edge_of(x) if t else None for x, t in zip(inputs, tensors, strict=True)]
    kinds = "".join(
        RAW if not t else CONSTANT if edge is None else GRAD
        for edge, t in zip(edges, tensors, strict=True)
    )
    if MODE.get() and GRAD in kinds and op.vjps:
        given = [x._array if t else x for x, t in zip(inputs, tensors, strict=True)]
        record(op, namespace_of(given), inputs, given, edges, kinds, params, outs, True)
    return outs if several else outs[0]
