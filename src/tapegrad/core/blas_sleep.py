"""How the threads of NumPy's BLAS wait for work."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_NAME = "OPENBLAS_THREAD_TIMEOUT"


@contextmanager
def sleeping() -> Iterator[None]:
    """A block that imports NumPy so that threads of OpenBLAS sleep while they have nothing to do.

    They would keep a core busy for 20 ms after each product, and take it from the threads that do
    what stands between products: a step of a convolutional network took 1.4 times as long on two
    cores. OpenBLAS reads how long (2**n cycles, 4 at least) when it is loaded: where NumPy was
    imported before, or the user has chosen, it stays as it is.
    """
    if "numpy" in sys.modules or _NAME in os.environ:
        yield
        return
    os.environ[_NAME] = "4"
    try:
        yield
    finally:
        del os.environ[_NAME]
