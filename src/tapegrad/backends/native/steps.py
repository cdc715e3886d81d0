"""Steps of optimizers in C: Adam, AdamW and SGD, each in one pass over parameters and state."""

import math
import struct

import numpy as np

from tapegrad.backends.native.entry import handed
from tapegrad.backends.native.libraries import library
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.threads import n_threads
from tapegrad.optim import batch
from tapegrad.optim.adam import Adam
from tapegrad.optim.sgd import SGD

_SUFFIXES = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
_LONG = 2**15  # elements that threads share


def serve(on: bool) -> None:
    """Let optimizers step in C, or by NumPy again."""
    if on:
        batch.IN_C.update(_STEPS)
    else:
        batch.IN_C.clear()


def _step(name: str, vectors: list[tuple], numbers: list[float]) -> bool:
    """Call a function of the arrays of each parameter; False where there is none, or not yet."""
    dtype = vectors[0][0].dtype
    suffix = _SUFFIXES.get(dtype)
    if suffix is None:
        return False
    for arrays in vectors:
        for x in arrays:
            if type(x) is not np.ndarray or x.dtype is not dtype or x.size != arrays[0].size:
                return False
            if not (x.flags.c_contiguous and x.flags.aligned):
                return False
    enter = library(f"{name}_shared_{suffix}")
    if enter is None:
        return False
    pack = struct.Struct(f"{len(vectors[0]) + 1}q{len(numbers)}d").pack
    places, threads = range(len(vectors[0])), n_threads()
    for arrays in vectors:
        size = arrays[0].size
        table = pack(*places, size, *numbers)
        failed = enter(table, handed(arrays), threads if size >= _LONG else 1)
        assert not failed
    return True


def _signs(maximize: bool, weight_decay: float, **_: Any) -> list[float]:
    """The factors of gradient and parameter in what is descended."""
    return [-1.0 if maximize else 1.0, float(weight_decay)]


def _with(params: list, states: list[dict[str, Any]], names: str, grads: list) -> list[tuple]:
    """The arrays of each parameter: its own, those of its state, its gradient."""
    kept = names.split()
    return [
        (x, *[state[name] for name in kept], g)
        for x, state, g in zip(params, states, grads, strict=True)
    ]


def _adam(params: list, grads: list, states: list[dict[str, Any]], options: dict[str, Any]) -> bool:
    beta1, beta2 = map(float, options["betas"])
    lr, t = float(options["lr"]), float(states[0]["step"])
    sign, penalty = _signs(**options)
    shrink = 1.0
    if options["decoupled_weight_decay"]:
        shrink, penalty = 1 - lr * penalty, 0.0
    root = math.sqrt(1 - beta2**t)
    numbers = [sign, penalty, shrink, 1 - beta1, beta2, 1 - beta2]
    numbers += [lr * root / (1 - beta1**t), float(options["eps"]) * root]
    if options["amsgrad"]:
        names = "exp_avg exp_avg_sq max_exp_avg_sq"
        return _step("tg_amsgrad", _with(params, states, names, grads), numbers)
    return _step("tg_adam", _with(params, states, "exp_avg exp_avg_sq", grads), numbers)


def _sgd(params: list, grads: list, states: list[dict[str, Any]], options: dict[str, Any]) -> bool:
    numbers, lr = _signs(**options), float(options["lr"])
    momentum = float(options["momentum"])
    if not momentum:
        return _step("tg_sgd", _with(params, states, "", grads), [*numbers, lr])
    part = 1.0 if options["first"] else 1 - float(options["dampening"])
    name = "tg_sgd_nesterov" if options["nesterov"] else "tg_sgd_momentum"
    vectors = _with(params, states, "momentum_buffer", grads)
    return _step(name, vectors, [*numbers, momentum, part, lr])


_STEPS: dict[Any, Callable] = {Adam.update: _adam, SGD.update: _sgd}
