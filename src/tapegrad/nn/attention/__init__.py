"""Backends of attention: PyTorch chooses among several on GPUs; here there is one."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from tapegrad.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
from tapegrad.core.errors import assertion_error
from tapegrad.nn.attention._registry import (
    activate_flash_attention_impl,
    current_flash_attention_impl,
    list_flash_attention_impls,
    register_flash_attention_impl,
    restore_flash_attention_impl,
)
from tapegrad.operators.nn.attention import ALLOWED

__all__ = [
    "SDPBackend", "activate_flash_attention_impl", "current_flash_attention_impl",
    "list_flash_attention_impls", "register_flash_attention_impl", "restore_flash_attention_impl",
    "sdpa_kernel",
]  # fmt: skip

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """PyTorch's implementations of `scaled_dot_product_attention`, which compute the same.

    >>> torch.nn.attention.SDPBackend.MATH
    <SDPBackend.MATH: 0>
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_NAMES = {
    SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "efficient",
    SDPBackend.MATH: "math",
    SDPBackend.CUDNN_ATTENTION: "cudnn",
    SDPBackend.OVERRIDEABLE: "overrideable",
}


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[None]:
    """While it lasts, attention may be computed by these implementations.

    On the CPU there are two: MATH, a product, softmax and a product, each recorded; and
    FLASH_ATTENTION, one operator, which is taken where it is allowed.

    Raises: AssertionError for what is neither an implementation nor a list.

    >>> q = torch.ones(1, 2, 3)
    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(q, q, q).shape
    torch.Size([1, 2, 3])
    """
    given: Any = backends
    if not isinstance(given, (list, SDPBackend)):
        raise assertion_error(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(given).__name__}",
            "Pass SDPBackend.MATH, for example.",
        )
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    before = dict(ALLOWED)
    ALLOWED.update({name: backend in chosen for backend, name in _NAMES.items()})
    try:
        yield
    finally:
        ALLOWED.update(before)


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The implementations that are allowed."""
    return [backend for backend, name in _NAMES.items() if ALLOWED[name]]
