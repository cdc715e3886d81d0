"""Reverse-mode differentiation: `backward`, `grad`, the modes, and what is built on them."""

import sys as _sys
from typing import Any

from tapegrad.autograd.mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from tapegrad.core.missing import missing as _missing

from tapegrad.autograd.backward_grad import backward, grad  # isort: skip  (needs the modes)

if _sys.platform == "emscripten":
    from tapegrad.autograd.release import install as _install

    _install()

_ON_DEMAND = frozenset(
    "anomaly_mode forward_ad function functional grad_mode graph profiler profiler_util "
    "variable".split()
)
_SWITCHES = (
    "enforce_grad_layout_policy",
    "is_multithreading_enabled",
    "set_multithreading_enabled",
)

__all__ = [
    "Function", "NestedIOFunction", "Variable", "backward", "detect_anomaly", "enable_grad",
    "enforce_grad_layout_policy", "grad", "grad_mode", "gradcheck", "gradgradcheck",
    "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled", "variable",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A file on its first use."""
    if name in _ON_DEMAND:
        from importlib import import_module

        return import_module(f"tapegrad.autograd.{name}")
    if name == "_is_checkpoint_valid":
        from tapegrad.autograd.execution_engine import ENGINE

        return ENGINE.is_checkpoint_valid
    if name in ("detect_anomaly", "set_detect_anomaly"):
        from tapegrad.autograd import anomaly_mode

        return getattr(anomaly_mode, name)
    if name in ("Function", "NestedIOFunction"):
        from tapegrad.autograd import function

        return getattr(function, name)
    if name in ("gradcheck", "gradgradcheck"):
        from tapegrad.autograd.gradcheck import gradcheck, gradgradcheck

        # the function takes the place of the file that has its name
        globals().update(gradcheck=gradcheck, gradgradcheck=gradgradcheck)
        return globals()[name]
    if name in _SWITCHES:
        from tapegrad.autograd import grad_mode

        return getattr(grad_mode, name)
    if name in ("_disable_profiler", "_profiler_enabled"):
        from tapegrad.profiler import block

        return getattr(block, name)
    if name == "SavedTensor":
        from tapegrad.autograd.raw_saved import SavedTensor

        return SavedTensor
    if name in ("DeviceType", "ProfilerActivity", "ProfilerState", "kineto_available"):
        from importlib import import_module

        return getattr(import_module("tapegrad.compat.torch._C._autograd"), name)
    if name == "Variable":
        from tapegrad.autograd.variable import Variable

        return Variable
    raise _missing(__name__, name)
