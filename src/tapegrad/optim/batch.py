"""Parameters as long vectors, updated in blocks that fit the cache.

The update of a method is a dozen passes over its arrays. On a small model what costs is the number
of calls, so all small parameters of a group are gathered into one vector and their state lives in
one; on a large parameter what costs is memory, so it is updated block by block.
"""

import sys
from threading import local

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tapegrad.arrays.namespaces import is_recorded, namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.numpy.blocks import BLOCK, LARGE, run_blocks
from tapegrad.autograd.mode import enable_grad, no_grad
from tapegrad.autograd.node import INFERENCE, version_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Namespace, OptimizerLike
from tapegrad.core.dtype import default, float64
from tapegrad.core.tensor_base import SHARDED, SPARSE, wrap
from tapegrad.core.torch_dispatch import StandIn
from tapegrad.operators.shape.as_strided import view_as_complex, view_as_real
from tapegrad.tensors.tensor import Tensor

IN_C: dict[Any, Callable] = {}
"""What steps in C for the `update` of a method, while that is switched on: it is given parameters,
gradients, the state of each and the options, and says whether it did."""


class Batch:
    """Parameters of one dtype and step count, updated together as one vector.

    Complex numbers are pairs of real ones. Arrays that are not NumPy's, and methods that are not
    elementwise, keep their shape and come alone.
    """

    __slots__ = (
        "arrays",  # (param, its array)
        "checks",  # (param, its state, (name, tensor, array) of each entry)
        "first",  # whether the state is fresh
        "flat",  # whether everything is vectors
        "grad",  # gathered gradients; None for a single parameter
        "pairs",  # each parameter's part of `param` and `grad`
        "param",  # gathered parameters; None for a single one
        "params",
        "parts",  # the state of each parameter by name, while the batch is of vectors
        "scalars",  # arrays with a number for each parameter, by name; "step" is apart
        "state",  # arrays by name
        "steps",  # None, or the count of each parameter
    )

    def __init__(
        self, optimizer: OptimizerLike, params: list[Any], options: dict[str, Any], flat: bool
    ):
        self.params = params
        self.arrays = [(p, p._array) for p in params]
        self.flat = flat
        self.first = not optimizer.state.get(params[0])
        self.param = self.grad = self.steps = None
        self.pairs: list[tuple[Any, Any]] = []
        self.checks: list[tuple] = []
        model = params[0]._array
        if type(model) is StandIn:
            raise errors.not_implemented(
                f"{type(optimizer).__name__}: its steps do not reach the __torch_dispatch__ of "
                f"{type(params[0]).__name__} in tapegrad",
                "Let it update what the tensor wraps.",
            )
        sizes = [vector(p._array).size for p in params] if flat else [0]
        if flat:
            model = np.empty(sum(sizes), vector(model).dtype)
        if len(params) > 1:
            self.param, self.grad = model, np.empty_like(model)
            parts = _pieces(self.param, params, sizes), _pieces(self.grad, params, sizes)
            self.pairs = list(zip(*parts, strict=True))
        self.state = optimizer.init(namespace_of((model,)), model, **options)
        arrays: dict[str, list] = {}
        if optimizer.counts_steps:
            self.steps = np.zeros(len(params), step_dtype())
            arrays["step"] = [self.steps[i : i + 1].reshape(()) for i in range(len(params))]
        self.scalars: dict[str, Any] = {}
        for name, value in self.state.items():
            if flat and not value.ndim:
                saved = optimizer.state.get(params[0], {}).get(name)  # loading may change its dtype
                kind = value.dtype if saved is None else saved._array.dtype
                numbers = self.scalars[name] = np.full(len(params), value, kind)
                arrays[name] = [numbers[i : i + 1].reshape(()) for i in range(len(params))]
                self.state[name] = arrays[name][0]
            else:
                arrays[name] = _pieces(value, params, sizes) if flat else [value]
        if self.steps is not None:
            self.state = {"step": arrays["step"][0], **self.state}
        self.parts = [{k: v[i] for k, v in arrays.items()} for i in range(len(params))]
        if arrays:
            self._take_over(optimizer.state, arrays)

    def _take_over(self, state: dict[Any, dict], arrays: dict[str, list]) -> None:
        """Let the optimizer's state be tensors on our arrays, with the elements it had."""
        for i, param in enumerate(self.params):
            entry = state[param]
            kept = []
            for name, pieces in arrays.items():
                tensor = _adopt(entry, name, pieces[i], param)
                kept.append((name, tensor, tensor._array))
            self.checks.append((param, entry, kept))

    def is_valid(self, optimizer: OptimizerLike) -> bool:
        """Whether parameters and state are still those this batch was made for."""
        for param, array in self.arrays:  # another one may be shared with a third parameter
            if param._array is not array:
                return False
        state = optimizer.state
        for param, entry, kept in self.checks:
            if state.get(param) is not entry:
                return False
            for name, tensor, array in kept:
                if entry.get(name) is not tensor or tensor._array is not array:
                    return False
        if self.steps is not None and len(self.params) > 1:
            for numbers in (self.steps, *self.scalars.values()):
                counts = numbers.tolist()
                if counts.count(counts[0]) != len(counts):
                    return False
        return True

    def step(self, optimizer: OptimizerLike, options: dict[str, Any]) -> None:
        """Update the parameters and their state."""
        params = self.params
        state = self.state
        if self.steps is not None:
            self.steps += 1
        if not self.flat:
            array, grad = params[0]._array, params[0]._grad._array
            xp = namespace_of((array,))
            optimizer.update(xp, array, grad, state, **options, first=self.first, spare=NO_SPARE)
        elif self._steps_in_c(optimizer, options):
            pass
        elif self.param is None:
            array = params[0]._array
            flat = vector(array)
            self._update(optimizer, flat, vector(params[0]._grad._array), state, options)
            if not array.flags.c_contiguous:
                array[...] = flat.view(array.dtype).reshape(array.shape)
        else:
            for param, (value, grad) in zip(params, self.pairs, strict=True):
                value[...] = param._array
                grad[...] = param._grad._array
            self._update(optimizer, self.param, self.grad, state, options)
            for param, (value, _) in zip(params, self.pairs, strict=True):
                param._array[...] = value
        optimizer.conclude(numpy_namespace, state, **options)
        for numbers in self.scalars.values():
            numbers[1:] = numbers[0]
        self.first = False

    def _steps_in_c(self, optimizer: OptimizerLike, options: dict[str, Any]) -> bool:
        """Update the parameters in C, where that is asked for and can be done."""
        step = IN_C.get(type(optimizer).update)
        if step is None:
            return False
        arrays = [p._array for p in self.params], [p._grad._array for p in self.params]
        return step(*arrays, self.parts, {**options, "first": self.first})

    def _update(
        self, optimizer: Any, param: Any, grad: Any, state: dict[str, Any], options: dict[str, Any]
    ) -> None:
        options = {**options, "first": self.first}
        update, size = optimizer.update, param.size
        if size <= (LARGE if optimizer.uses_spare else BLOCK):
            update(numpy_namespace, param, grad, state, **options, spare=_spare(size, param.dtype))
            return

        def work(start: int, stop: int) -> None:
            part = {k: v[start:stop] if v.ndim else v for k, v in state.items()}
            spare = _spare(stop - start, param.dtype)
            x, g = param[start:stop], grad[start:stop]
            update(numpy_namespace, x, g, part, **options, spare=spare)

        run_blocks(param.size, work)


class _Spares(local):
    """For each thread and dtype two vectors that intermediate results may overwrite.

    Fresh ones of this size would cost more in page faults than in arithmetic.
    """

    def __init__(self) -> None:
        self.by_dtype: dict[Any, tuple[Any, Any]] = {}


_spares = _Spares()
NO_SPARE = (None, None)


def _spare(size: int, dtype: Any) -> tuple[Any, Any]:
    """Memory for two intermediate results, for the argument `out` of a ufunc."""
    pair = _spares.by_dtype.get(dtype)
    if pair is None or pair[0].size < size:
        pair = _spares.by_dtype[dtype] = (np.empty(size, dtype), np.empty(size, dtype))
    return pair[0][:size], pair[1][:size]


def _adopt(entry: dict[str, Any], name: str, array: Any, param: Any) -> Tensor:
    """The state tensor `name`, now with its elements in `array`; made if there is none yet."""
    tensor = entry.get(name)
    if tensor is None:
        tensor = wrap(array)
        if SHARDED and type(param) is SHARDED[0] and array.shape == param._array.shape != ():
            tensor = param._alike(tensor)
        entry[name] = tensor
    else:
        array[...] = tensor._array
        tensor._array = array
        tensor._signature = None
    return tensor


def vector(array: Any) -> Any:
    """The elements in one row, complex ones as pairs of real ones; without a copy if possible."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _pieces(flat: Any, params: list[Any], sizes: list[int]) -> list[Any]:
    """The part of `flat` that belongs to each parameter, in the parameter's shape and dtype."""
    pieces, start = [], 0
    for param, size in zip(params, sizes, strict=True):
        array = param._array
        pieces.append(flat[start : start + size].view(array.dtype).reshape(array.shape))
        start += size
    return pieces


def step_dtype(xp: Namespace = np) -> Any:
    """The dtype in which steps are counted: the default one, as in PyTorch."""
    return xp.float64 if default() is float64 else xp.float32


def step_group(optimizer: OptimizerLike, group: dict[str, Any]) -> None:
    """Update the parameters of a group that have a gradient."""
    if group.get("capturable"):
        raise _not_capturable(optimizer)
    ready = [p for p in group["params"] if p._grad is not None]
    if ready and not ready[0].is_sparse and is_recorded(ready[0]._array):
        from tapegrad.optim.recorded_step import step_group_recorded

        return step_group_recorded(optimizer, group, ready)
    options = _options(group)
    if SPARSE:
        given, ready = ready, _without_sparse(optimizer, ready, options)
        if given and not ready:
            return
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


def _without_sparse(optimizer: OptimizerLike, ready: list[Any], options: dict[str, Any]) -> list:
    """Those of the parameters that have a dense gradient; the others are updated."""
    sparse = [p for p in ready if p._grad.is_sparse]
    if sparse:
        with no_grad():
            for param in sparse:
                optimizer.update_sparse(param, param._grad, **options)
    return [p for p in ready if not p._grad.is_sparse]


def step_group_on_tensors(optimizer: OptimizerLike, group: dict[str, Any]) -> None:
    """The same on tensors, recorded: the step itself is part of the graph."""
    from tapegrad.tensors.arrays import namespace as xp

    if group.get("capturable"):
        raise _not_capturable(optimizer)
    if group.get("foreach"):
        raise errors.assertion_error("_foreach ops don't support autograd", "Leave foreach away.")
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


def _pairs(x: Tensor) -> Any:
    """A complex tensor seen as pairs of real numbers; others as they are."""
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


def _is_some(param: Tensor) -> bool:
    return type(param._array) is np.ndarray and param._array.size > 0


def _batches(optimizer: OptimizerLike, ready: list[Any], options: dict[str, Any]) -> list[Batch]:
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


def _not_capturable(optimizer: OptimizerLike) -> AssertionError:
    return errors.assertion_error(
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
