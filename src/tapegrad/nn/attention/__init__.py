"""Backends of attention: PyTorch chooses among several on GPUs; here there is one."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from tapegrad.core.errors import assertion_error
from tapegrad.operators.nn.attention import BY_STEPS

__all__ = ["SDPBackend", "sdpa_kernel"]


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
    allowed = [backends] if isinstance(backends, SDPBackend) else backends
    token = BY_STEPS.set(SDPBackend.FLASH_ATTENTION not in allowed and SDPBackend.MATH in allowed)
    try:
        yield
    finally:
        BY_STEPS.reset(token)
