"""CUDA, NVIDIA's GPUs: without code for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapegrad import settings


def is_built() -> bool:
    """Whether there is code for such a GPU.

    >>> torch.backends.cuda.is_built()
    False
    """
    return False


class _Products:
    """What a GPU may round in matrix products: switches that change nothing here."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "allow_fp16_reduced_precision_reduction",
    )

    def __init__(self) -> None:
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction = True

    @property
    def allow_tf32(self) -> bool:
        """The same switch as `torch.set_float32_matmul_precision`, which has more positions."""
        return settings.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        settings.set_float32_matmul_precision("high" if allowed else "highest")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"Unknown attribute {name}")


matmul = _Products()


# --- which implementations of attention are allowed -----------------------------------------------


def _allowed() -> dict[str, bool]:
    from tapegrad.operators.nn.attention import ALLOWED

    return ALLOWED


def flash_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may be one operator."""
    return _allowed()["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allow `scaled_dot_product_attention` to be one operator, on the CPU, too.

    >>> torch.backends.cuda.enable_flash_sdp(False)
    >>> torch.backends.cuda.flash_sdp_enabled()
    False
    >>> torch.backends.cuda.enable_flash_sdp(True)
    """
    _allowed()["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """A switch for GPUs alone."""
    return _allowed()["efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """A switch for GPUs alone."""
    _allowed()["efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may be a product, softmax and a product."""
    return _allowed()["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow `scaled_dot_product_attention` to be a product, softmax and a product."""
    _allowed()["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """A switch for GPUs alone."""
    return _allowed()["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """A switch for GPUs alone."""
    _allowed()["cudnn"] = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """The old `torch.nn.attention.sdpa_kernel`."""
    from warnings import warn

    warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
        stacklevel=3,
    )
    before = dict(_allowed())
    chosen = (enable_flash, enable_math, enable_mem_efficient, enable_cudnn)
    _allowed().update(zip(("flash", "math", "efficient", "cudnn"), chosen, strict=True))
    try:
        yield
    finally:
        _allowed().update(before)


class SDPAParams:
    """What `can_use_flash_attention` and its kin are asked of: the arguments of an attention."""

    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any,
        dropout: float,
        is_causal: bool,
        enable_gqa: bool,
    ) -> None:
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def is_flash_attention_available() -> bool:
    """Whether there are kernels for GPUs: False."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether there are kernels for AMD's GPUs: False."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU would compute an attention so: False."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU would compute an attention so: False."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU would compute an attention so: False."""
    return False
