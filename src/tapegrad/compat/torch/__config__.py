"""`torch.__config__`: what this was built with."""

import sys

import numpy as np

from tapegrad import version
from tapegrad.core.threads import n_threads


def show() -> str:
    """What this was built with, a line each.

    >>> print(torch.__config__.show().splitlines()[0])
    tapegrad built with:
    """
    python = sys.version.split()[0]
    return (
        "tapegrad built with:\n"
        f"  - tapegrad {version.tapegrad}, with the behaviour of PyTorch {version.pytorch}\n"
        f"  - Python {python}\n"
        f"  - NumPy {np.__version__}\n"
    )


def parallel_info() -> str:
    """How many threads share the work."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {n_threads()}\n"


def _cxx_flags() -> str:
    """The flags of a compiler of C++: none, there is nothing compiled.

    >>> torch.__config__._cxx_flags()
    ''
    """
    return ""
