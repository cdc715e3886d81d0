"""Switches of `torch._C`, each that of a public function or attribute."""

from typing import Any

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


def _set_default_dtype(d: Any) -> None:
    """`torch.set_default_dtype`."""
    tapegrad.set_default_dtype(d)


def _set_default_tensor_type(type: Any) -> None:
    """`torch.set_default_tensor_type`."""
    tapegrad.set_default_tensor_type(type)


# --- attributes of torch.backends -----------------------------------------------------------------


def _get_cudnn_enabled() -> bool:
    """`torch.backends.cudnn.enabled`."""
    return backends.cudnn.enabled


def _set_cudnn_enabled(on: bool, /) -> None:
    """The same, set."""
    backends.cudnn.enabled = on


def _get_cudnn_benchmark() -> bool:
    """`torch.backends.cudnn.benchmark`."""
    return backends.cudnn.benchmark


def _set_cudnn_benchmark(on: bool, /) -> None:
    """The same, set."""
    backends.cudnn.benchmark = on


def _get_cudnn_deterministic() -> bool:
    """`torch.backends.cudnn.deterministic`."""
    return backends.cudnn.deterministic


def _set_cudnn_deterministic(on: bool, /) -> None:
    """The same, set."""
    backends.cudnn.deterministic = on


def _get_cudnn_allow_tf32() -> bool:
    """`torch.backends.cudnn.allow_tf32`."""
    return backends.cudnn.allow_tf32


def _set_cudnn_allow_tf32(on: bool, /) -> None:
    """The same, set."""
    backends.cudnn.allow_tf32 = on


def _get_cublas_allow_tf32() -> bool:
    """`torch.backends.cuda.matmul.allow_tf32`."""
    return backends.cuda.matmul.allow_tf32


def _set_cublas_allow_tf32(on: bool, /) -> None:
    """The same, set."""
    backends.cuda.matmul.allow_tf32 = on


def _get_flash_sdp_enabled() -> bool:
    """`torch.backends.cuda.flash_sdp_enabled()`."""
    return backends.cuda.flash_sdp_enabled()


def _set_sdp_use_flash(on: bool, /) -> None:
    """The same, set."""
    backends.cuda.enable_flash_sdp(on)


def _get_mem_efficient_sdp_enabled() -> bool:
    """`torch.backends.cuda.mem_efficient_sdp_enabled()`."""
    return backends.cuda.mem_efficient_sdp_enabled()


def _set_sdp_use_mem_efficient(on: bool, /) -> None:
    """The same, set."""
    backends.cuda.enable_mem_efficient_sdp(on)


def _get_math_sdp_enabled() -> bool:
    """`torch.backends.cuda.math_sdp_enabled()`."""
    return backends.cuda.math_sdp_enabled()


def _set_sdp_use_math(on: bool, /) -> None:
    """The same, set."""
    backends.cuda.enable_math_sdp(on)


# --- what this was built with ---------------------------------------------------------------------

_GLIBCXX_USE_CXX11_ABI = True


def _show_config() -> str:
    """`torch.__config__.show()`."""
    return __config__.show()


def _parallel_info() -> str:
    """`torch.__config__.parallel_info()`."""
    return __config__.parallel_info()


def _cxx_flags() -> str:
    """The flags of a compiler of C++: there is none."""
    return __config__._cxx_flags()


def _get_cpu_capability() -> str:
    """`torch.backends.cpu.get_cpu_capability()`.

    >>> torch._C._get_cpu_capability() == torch.backends.cpu.get_cpu_capability()
    True
    """
    return backends.cpu.get_cpu_capability()
