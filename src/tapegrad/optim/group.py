"""Stepping a group: its parameters sorted into batches, or recorded one by one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.numpy.blocks import BLOCK
from tapegrad.autograd.mode import enable_grad
from tapegrad.autograd.node import INFERENCE, version_of
from tapegrad.core.errors import assertion_error
from tapegrad.core.tensor_base import wrap
from tapegrad.optim.batch import NO_SPARE, Batch, step_dtype
from tapegrad.tensors.tensor import Tensor


def step_group(optimizer: Any, group: dict[str, Any]) -> None:
    """Update the parameters of a group that have a gradient."""
    if group.get("capturable"):
        raise _not_capturable(optimizer)
    ready = [p for p in group["params"] if p._grad is not None]
    options = _options(group)
    key = (*map(id, ready), *[bool(group[name]) for name in optimizer.structural])
    plan = optimizer._plans.get(id(group))
    if plan is None or plan[0] != key or not all(b.is_valid(optimizer) for b in plan[1]):
        *earlier, last = _rounds(ready)
        for params in earlier:
            for batch in _batches(optimizer, params, options):
                batch.step(optimizer, options)
        plan = key, _batches(optimizer, last, options)
        if not earlier:
            optimizer._plans[id(group)] = plan
    for batch in plan[1]:
        batch.step(optimizer, options)
    count_writes(ready, f"{type(optimizer).__name__}.step")


def step_group_on_tensors(optimizer: Any, group: dict[str, Any]) -> None:
    """The same on tensors, recorded: the step itself is part of the graph."""
    from tapegrad.operators.shape.as_strided import view_as_complex
    from tapegrad.tensors.arrays import namespace as xp

    if group.get("capturable"):
        raise _not_capturable(optimizer)
    if group.get("foreach"):
        raise assertion_error("_foreach ops don't support autograd", "Leave foreach away.")
    options = _options(group, keep_tensors=True)
    with enable_grad():
        for param in group["params"]:
            grad = param._grad
            if grad is None:
                continue
            fresh = not optimizer.state.get(param)
            initial = optimizer.init(xp, _pairs(param.detach()), **options)
            if optimizer.counts_steps:
                initial = {"step": wrap(np.zeros((), step_dtype())), **initial}
            state: dict[str, Any] = {}
            if initial:
                kept = optimizer.state[param]
                for name, value in initial.items():
                    if kept.get(name) is None:
                        is_pairs = param.is_complex() and value.shape == (*param.shape, 2)
                        kept[name] = view_as_complex(value) if is_pairs else value
                state = {name: _pairs(value) for name, value in kept.items()}
            if optimizer.counts_steps:
                state["step"] += 1
            x, g = _pairs(param), _pairs(grad)
            optimizer.update(xp, x, g, state, **options, first=fresh, spare=NO_SPARE)
            optimizer.conclude(xp, state, **options)


def _pairs(x: Any) -> Any:
    """A complex tensor seen as pairs of real numbers; others as they are."""
    from tapegrad.operators.shape.as_strided import view_as_real

    return view_as_real(x) if isinstance(x, Tensor) and x.is_complex() else x


def _rounds(ready: list[Any]) -> list[list[Any]]:
    """The parameters in rounds: one that a group has twice, and those that share memory, in turn.

    A batch gathers its parameters before it updates them, and would lose all but one update.
    """
    key = {id(p): id(p) for p in ready}  # the same for those that share memory
    end = first = 0
    for low, high, each in sorted((*byte_bounds(p._array), id(p)) for p in ready if _is_some(p)):
        if low >= end:
            end, first = high, each
        key[each] = first
        end = max(end, high)
    rounds: list[list[Any]] = [[]]
    n_seen: dict[int, int] = {}
    for param in ready:
        i = n_seen[key[id(param)]] = n_seen.get(key[id(param)], -1) + 1
        if i == len(rounds):
            rounds.append([])
        rounds[i].append(param)
    return rounds


def _is_some(param: Any) -> bool:
    return type(param._array) is np.ndarray and param._array.size > 0


def _batches(optimizer: Any, ready: list[Any], options: dict[str, Any]) -> list[Batch]:
    """The parameters sorted into batches: small ones of a kind together, others alone."""
    if optimizer.counts_steps or optimizer.init(numpy_namespace, np.empty(0), **options):
        for param in ready:
            optimizer.state[param]  # makes the entries, in the order of the parameters
    together: dict[tuple, list[Any]] = {}
    alone: list[Batch] = []
    for param in ready:
        array, entry = param._array, optimizer.state.get(param)
        flat = optimizer.elementwise and type(array) is np.ndarray
        if flat and array.size <= BLOCK:
            numbers = [float(entry[n]) for n in optimizer.scalars if n in entry] if entry else None
            kind = (array.dtype, bool(entry), None if numbers is None else tuple(numbers))
            together.setdefault(kind, []).append(param)
        else:
            alone.append(Batch(optimizer, [param], options, flat))
    return [Batch(optimizer, params, options, True) for params in together.values()] + alone


def _options(group: dict[str, Any], keep_tensors: bool = False) -> dict[str, Any]:
    """The options of a group as keywords of `update`; tensors among them become numbers."""
    options = group.copy()
    del options["params"]
    for name, value in options.items():
        kind = type(value)
        if kind not in _PLAIN and not keep_tensors:
            if kind is tuple:
                options[name] = tuple([v.item() if isinstance(v, Tensor) else v for v in value])
            elif isinstance(value, Tensor):
                options[name] = value.item()
    return options


_PLAIN = {float, int, bool, type(None)}


def _not_capturable(optimizer: Any) -> AssertionError:
    return assertion_error(
        f"If capturable=True, {optimizer.captured} must be on supported devices: "
        "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla'].",
        "Leave capturable away: it is for graphs of GPU kernels.",
    )


def count_writes(params: list[Any], name: str) -> None:
    """Tell the version counters, so that a graph that kept a parameter notices."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tapegrad."):
        frame = frame.f_back
    line = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    for param in params:
        version = version_of(param)
        if version is not INFERENCE:
            version.value += 1
            version.operator = name
            version.line = line
