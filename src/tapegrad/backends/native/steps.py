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


def _step(name: str, arrays: tuple, numbers: list[float]) -> bool:
    """Call a function of vectors; False where there is none for them, or not yet."""
    first = arrays[0]
    suffix = _SUFFIXES.get(first.dtype)
    if suffix is None:
        return False
    for x in arrays:
        if type(x) is not np.ndarray or x.dtype is not first.dtype or not x.flags.c_contiguous:
            return False
    size = first.size
    enter = library(f"{name}_shared_{suffix}")
    if enter is None:
        return False
    n = len(arrays)
    table = struct.pack(f"{n + 1}q{len(numbers)}d", *range(n), size, *numbers)
    return enter(table, handed(arrays), n_threads() if size >= _LONG else 1) == 0


def _signs(maximize: bool, weight_decay: float, **_: Any) -> list[float]:
    """The factors of gradient and parameter in what is descended."""
    return [-1.0 if maximize else 1.0, float(weight_decay)]


def _adam(param: Any, grad: Any, state: dict[str, Any], options: dict[str, Any]) -> bool:
    beta1, beta2 = map(float, options["betas"])
    lr, t = float(options["lr"]), float(state["step"])
    sign, penalty = _signs(**options)
    shrink = 1.0
    if options["decoupled_weight_decay"]:
        shrink, penalty = 1 - lr * penalty, 0.0
    root = math.sqrt(1 - beta2**t)
    arrays: tuple = param, state["exp_avg"], state["exp_avg_sq"]
    name = "tg_adam"
    if options["amsgrad"]:
        arrays, name = (*arrays, state["max_exp_avg_sq"]), "tg_amsgrad"
    numbers = [sign, penalty, shrink, 1 - beta1, beta2, 1 - beta2]
    numbers += [lr * root / (1 - beta1**t), float(options["eps"]) * root]
    return _step(name, (*arrays, grad), numbers)


def _sgd(param: Any, grad: Any, state: dict[str, Any], options: dict[str, Any]) -> bool:
    numbers, lr = _signs(**options), float(options["lr"])
    momentum = float(options["momentum"])
    if not momentum:
        return _step("tg_sgd", (param, grad), [*numbers, lr])
    part = 1.0 if options["first"] else 1 - float(options["dampening"])
    name = "tg_sgd_nesterov" if options["nesterov"] else "tg_sgd_momentum"
    arrays = param, state["momentum_buffer"], grad
    return _step(name, arrays, [*numbers, momentum, part, lr])


_STEPS: dict[Any, Callable] = {Adam.update: _adam, SGD.update: _sgd}
