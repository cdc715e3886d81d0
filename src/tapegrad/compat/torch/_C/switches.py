"""Switches of `torch._C`, each that of a public function or attribute."""

from collections.abc import Callable
from operator import attrgetter

import tapegrad
from tapegrad import backends
from tapegrad.compat.torch import __config__
from tapegrad.settings import are_deterministic_algorithms_enabled as _get_deterministic_algorithms
from tapegrad.settings import (
    is_deterministic_algorithms_warn_only_enabled as _get_deterministic_algorithms_warn_only,
)

__all__ = ["_get_deterministic_algorithms", "_get_deterministic_algorithms_warn_only"]


def _set_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """`torch.use_deterministic_algorithms`."""
    tapegrad.use_deterministic_algorithms(mode, warn_only=warn_only)


_set_default_dtype = tapegrad.set_default_dtype
_set_default_tensor_type = tapegrad.set_default_tensor_type


# --- attributes of torch.backends -----------------------------------------------------------------


def _attribute(owner: str, name: str) -> tuple[Callable, Callable]:
    """Two functions that give and set an attribute of `torch.backends`."""
    where = attrgetter(owner)
    return lambda: getattr(where(backends), name), lambda on, /: setattr(where(backends), name, on)


def _of_attention(kind: str) -> tuple[Callable, Callable]:
    """The same of a kernel of attention, which has two functions in `torch.backends.cuda`."""
    cuda = backends.cuda
    return getattr(cuda, f"{kind}_sdp_enabled"), getattr(cuda, f"enable_{kind}_sdp")


_get_cudnn_enabled, _set_cudnn_enabled = _attribute("cudnn", "enabled")
_get_cudnn_benchmark, _set_cudnn_benchmark = _attribute("cudnn", "benchmark")
_get_cudnn_deterministic, _set_cudnn_deterministic = _attribute("cudnn", "deterministic")
_get_cudnn_allow_tf32, _set_cudnn_allow_tf32 = _attribute("cudnn", "allow_tf32")
_get_cublas_allow_tf32, _set_cublas_allow_tf32 = _attribute("cuda.matmul", "allow_tf32")
_get_flash_sdp_enabled, _set_sdp_use_flash = _of_attention("flash")
_get_mem_efficient_sdp_enabled, _set_sdp_use_mem_efficient = _of_attention("mem_efficient")
_get_math_sdp_enabled, _set_sdp_use_math = _of_attention("math")


# --- what this was built with ---------------------------------------------------------------------

_GLIBCXX_USE_CXX11_ABI = True


_show_config, _parallel_info = __config__.show, __config__.parallel_info
_cxx_flags = __config__._cxx_flags
_get_cpu_capability = backends.cpu.get_cpu_capability
