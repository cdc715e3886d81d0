"""The step of an optimizer while it is recorded: each parameter for itself, with shared counts.

A batch gathers small parameters to save calls; a program saves them in its own way, and takes each
parameter where it lies. The arithmetic is the same, element by element. Options that are floats are
inputs of the program, so that a schedule may change them.
"""

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.traced.number import plain
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.core.annotations import Any, OptimizerLike
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.optim.batch import NO_SPARE, count_writes, step_dtype, vector


def step_group_recorded(optimizer: OptimizerLike, group: dict[str, Any], ready: list) -> None:
    """Update the parameters `ready` of a group, whose arrays are being recorded."""
    recording = RECORDING.get().owner
    options = {k: _option(recording, group, k, x) for k, x in group.items() if k != "params"}
    for params in _alike(optimizer, ready):
        _update(optimizer, params, options)
        if optimizer.counts_steps and len(params) > 1:
            recording.equal_steps.append([optimizer.state[p]["step"] for p in params])
    count_writes(ready, f"{type(optimizer).__name__}.step")


def _option(recording: Any, group: dict[str, Any], key: str, x: Any) -> Any:
    if type(x) is float:
        return recording.number(group, key, None, x)
    if type(x) is tuple and all(type(y) is float for y in x):
        return tuple([recording.number(group, key, i, y) for i, y in enumerate(x)])
    if isinstance(x, TensorBase):
        return x.item()
    return x


def _alike(optimizer: OptimizerLike, ready: list) -> list[list]:
    """The parameters, those together whose counts and other numbers are equal."""
    together: dict[tuple, list] = {}
    for param in ready:
        entry = optimizer.state.get(param)
        names = [n for n in optimizer.scalars if entry and n in entry]
        numbers = [entry[n]._array.array.item() for n in names]
        flat = optimizer.elementwise and not param.is_complex()
        key = (param._array.dtype, *numbers) if flat else (id(param),)
        together.setdefault(key, []).append(param)
    return list(together.values())


def _update(optimizer: OptimizerLike, params: list, options: dict[str, Any]) -> None:
    xp = namespace_of((params[0]._array,))
    first = not optimizer.state.get(params[0])
    entries = []
    for param in params:
        _complete(optimizer, param, options)
        kept = optimizer.state.get(param) or {}
        state = {name: x._array for name, x in kept.items() if isinstance(x, TensorBase)}
        if optimizer.counts_steps:
            state["step"] += 1
        entries.append(state)
    scalars = [n for n in ("step", *optimizer.scalars) if n in entries[0]]
    shared = {n: entries[0][n] for n in scalars}
    for param, state in zip(params, entries, strict=True):
        x, g = param._array, param._grad._array
        if param.is_complex():
            x, g = vector(x), vector(g)
            state = {n: vector(v) if v.dtype.kind == "c" else v for n, v in state.items()}
        optimizer.update(xp, x, g, {**state, **shared}, **options, first=first, spare=NO_SPARE)
    optimizer.conclude(xp, {**entries[0], **shared}, **options)
    for state in entries[1:]:
        for name in scalars:
            if name != "step":
                state[name][...] = shared[name]


def _complete(optimizer: OptimizerLike, param: Any, options: dict[str, Any]) -> None:
    """Make the state that a parameter has not got yet; a later call has it, and can be recorded."""
    kept = optimizer.state.get(param) or {}
    model = param._array.array
    numbers = {k: plain(x) for k, x in options.items()}
    initial = optimizer.init(namespace_of((model,)), model, **numbers)
    if optimizer.counts_steps:
        initial = {"step": np.zeros((), step_dtype()), **initial}
    for name, value in initial.items():
        if kept.get(name) is None:
            RECORDING.get().owner.refuse("an optimizer has no state yet", again=True)
            optimizer.state[param][name] = wrap(value)
