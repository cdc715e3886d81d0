"""How `linear_cross_entropy` cuts its batch into pieces."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import value_error


class LinearCrossEntropyOptions:
    """How many rows of the batch `linear_cross_entropy` takes at a time.

    Args:
        allow_retain_graph: accepted; a graph can always be walked again here.
        batch_chunk_size: rows at a time; None to work it out.
        chunking_method: `"aspect_ratio:R"`, the scores of a piece have at most R times as many
            elements as the whole input; `"auto"` is R = 2; None takes the batch whole.
        acc_policy, acc_dtype: accepted; sums are in the dtype of the tensors, and for numbers of 16
            bits in float32.

    >>> torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4).batch_chunk_size
    4
    """

    __slots__ = (
        "acc_dtype",
        "acc_policy",
        "allow_retain_graph",
        "batch_chunk_size",
        "chunking_method",
    )

    def __init__(
        self,
        allow_retain_graph: bool = False,
        batch_chunk_size: int | None = None,
        chunking_method: str | None = "auto",
        acc_policy: str = "auto",
        acc_dtype: Any = None,
    ) -> None:
        if batch_chunk_size is not None and (
            type(batch_chunk_size) is not int or batch_chunk_size <= 0
        ):
            raise value_error(
                f"batch_chunk_size must be positive int or None, got {batch_chunk_size}",
                "It is a number of rows.",
            )
        if chunking_method not in (None, "auto") and _ratio(chunking_method) is None:
            raise value_error(
                f"invalid chunking_method: {chunking_method!r}",
                "Use 'auto', None, or 'aspect_ratio:R' with a whole number R.",
            )
        if acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise value_error(
                f"invalid acc_policy: {acc_policy!r}",
                "Use 'accurate', 'balanced', 'compact' or 'auto'.",
            )
        names = ("float16", "bfloat16", "float32", "float64")
        if acc_dtype is not None and getattr(acc_dtype, "name", None) not in names:
            raise value_error(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                f"torch.float64}}, got {acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                "automatically.",
                "Pass a dtype, such as torch.float32.",
            )
        self.allow_retain_graph = allow_retain_graph
        self.batch_chunk_size = batch_chunk_size
        self.chunking_method = chunking_method
        self.acc_policy = acc_policy
        self.acc_dtype = acc_dtype

    def __repr__(self) -> str:
        return (
            f"LinearCrossEntropyOptions(allow_retain_graph={self.allow_retain_graph}, "
            f"batch_chunk_size={self.batch_chunk_size}, chunking_method={self.chunking_method!r}, "
            f"acc_policy={self.acc_policy!r}, acc_dtype={self.acc_dtype})"
        )


def rows_at_a_time(options: Any, n: int, in_features: int, n_classes: int) -> int:
    """How many of `n` rows the options let be taken at a time."""
    if options.batch_chunk_size is not None:
        return options.batch_chunk_size
    if options.chunking_method is None:
        return max(n, 1)
    ratio = 2 if options.chunking_method == "auto" else _ratio(options.chunking_method)
    return max(1, ratio * n * in_features // max(n_classes, 1))  # type: ignore[operator]


def _ratio(method: Any) -> int | None:
    """The R of "aspect_ratio:R"; None for anything else."""
    if not isinstance(method, str) or not method.startswith("aspect_ratio:"):
        return None
    text = method.removeprefix("aspect_ratio:")
    return int(text) if text.isdecimal() and int(text) > 0 else None
