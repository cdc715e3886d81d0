"""CUDA, NVIDIA's GPUs: without code for them."""

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
