"""A data set divided at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tapegrad.core import errors
from tapegrad.random import default_generator


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Any = default_generator
) -> list:
    """Parts of a data set that have no sample in common, drawn at random.

    Args:
        lengths: how many samples each part has; or fractions that add up to 1, whose remainder goes
            round the parts one by one.

    >>> _ = torch.manual_seed(0)
    >>> train, test = torch.utils.data.random_split(range(5), [0.8, 0.2])
    >>> list(train), list(test)
    ([4, 0, 1, 3], [2])
    """
    from tapegrad.operators.random.rand_randint_randperm import randperm
    from tapegrad.utils.data.dataset import Subset

    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _counts(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise errors.value_error(
            "Sum of input lengths does not equal the length of the input dataset!",
            f"The data set has {len(dataset)} samples: pass counts of this sum, or fractions of 1.",
        )
    order = randperm(sum(lengths), generator=generator).tolist()
    ends = accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


def _counts(n: int, fractions: Sequence[int | float]) -> list[int]:
    """How many of `n` samples each fraction gets."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise errors.value_error(
                f"Fraction at index {i} is not between 0 and 1",
                "Fractions are shares of the data set.",
            )
    counts = [math.floor(n * fraction) for fraction in fractions]
    for i in range(n - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if not count:
            import warnings

            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
                UserWarning,
                stacklevel=3,
            )
    return counts
