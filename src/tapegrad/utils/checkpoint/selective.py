"""Checkpoints that keep the results of some operators: not built."""

from __future__ import annotations

from typing import Any

from tapegrad import errors


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> Any:
    """Not available: a checkpoint keeps nothing but its inputs.

    Raises:
        NotImplementedError: always.
    """
    raise errors.advised(
        NotImplementedError(
            "create_selective_checkpoint_contexts: tapegrad's checkpoints keep no results of "
            "single operators"
        ),
        "Put checkpoint() around the stretches that are to be computed again, and not around those "
        "whose results are to be kept.",
    )
