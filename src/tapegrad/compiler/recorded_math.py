"""`math.sqrt` and `math.pow` of recorded numbers, which C would take as plain ones."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from tapegrad.arrays.traced.number import POW, SQRT, power, root

_patching, _n_patching = Lock(), [0]


@contextmanager
def recorded_functions() -> Iterator[None]:
    """A block in which `math.sqrt` and `math.pow` of recorded numbers are recorded.

    Other threads, whose numbers are plain, get from them what they always do.
    """
    with _patching:
        _n_patching[0] += 1
        if _n_patching[0] == 1:
            math.sqrt, math.pow = root, power
    try:
        yield
    finally:
        with _patching:
            _n_patching[0] -= 1
            if _n_patching[0] == 0:
                math.sqrt, math.pow = SQRT, POW
