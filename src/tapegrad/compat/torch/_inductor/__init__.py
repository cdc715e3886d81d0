"""PyTorch's generator of kernels, by the names that programs ask for: nothing is generated."""

from tapegrad.compat.torch._inductor import config, exc
from tapegrad.compiler.compile import MODES
from tapegrad.compiler.decorators import cudagraph_mark_step_begin
from tapegrad.core.missing import refuses as _refuses

__all__ = ["config", "cudagraph_mark_step_begin", "exc", "list_mode_options", "list_options"]

_AUTOTUNED = {"max_autotune": True, "coordinate_descent_tuning": True}
_GRAPHS = {"triton.cudagraphs": True}
_OPTIONS: dict[str, dict[str, bool]] = {
    "default": {},
    "lite": {},
    "reduce-overhead": _GRAPHS,
    "max-autotune-no-cudagraphs": _AUTOTUNED,
    "max-autotune": _AUTOTUNED | _GRAPHS,
}


def list_mode_options(mode=None, dynamic=None):
    """The settings that a mode of `torch.compile` stands for, or those of all modes."""
    if mode is not None:
        return dict(_OPTIONS[mode])
    return {name: dict(_OPTIONS[name]) for name in MODES}


def list_options():
    """The names of all settings."""
    return list(config.get_config_copy())


__getattr__ = _refuses(__name__)
