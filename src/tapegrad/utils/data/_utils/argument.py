"""What the arguments of a DataLoader may be, alone and together."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors


def check_workers(num_workers: int, timeout: float, prefetch: Any, is_persistent: bool) -> None:
    reason = ""
    if num_workers < 0:
        reason = (
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    elif timeout < 0:
        reason = "timeout option should be non-negative"
    elif num_workers == 0 and prefetch is not None:
        reason = (
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 "
            "to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    elif prefetch is not None and prefetch < 0:
        reason = "prefetch_factor option should be non-negative"
    elif is_persistent and num_workers == 0:
        reason = "persistent_workers option needs num_workers > 0"
    if reason:
        raise errors.value_error(reason, "num_workers=0 makes batches in this process.")


def check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise errors.value_error(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                f"got {name}={value}",
                "Such a data set has an order of its own: shuffle in its __iter__.",
            )


def check_order(
    batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    reason = ""
    if sampler is not None and shuffle:
        reason = "sampler option is mutually exclusive with shuffle"
    elif batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            reason = (
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
    elif batch_size is None and drop_last:
        reason = (
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
    if reason:
        raise errors.value_error(reason, "Leave one of them away.")


def as_context(context: Any, num_workers: int) -> Any:
    import multiprocessing

    if num_workers == 0:
        raise errors.value_error(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got {num_workers=}",
            "Leave it away, or pass num_workers.",
        )
    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str):
        if context not in methods:
            raise errors.value_error(
                "multiprocessing_context option should specify a valid start method in "
                f"{methods}, but got multiprocessing_context='{context}'",
                "Leave it away to start workers in the way that is usual here.",
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise errors.type_error(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}",
            f"Pass one of {methods}.",
        )
    return context
