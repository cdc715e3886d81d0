"""Compiling C for the tests of this folder: once for each text and session."""

import ctypes
import functools
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

FLAGS = "-O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math -shared -fPIC".split()


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="tapegrad-c-tests-")


def compiler():
    """The C compiler of this machine; without one the test is skipped."""
    found = next((x for x in map(shutil.which, ("cc", "gcc", "clang")) if x), None)
    if found is None:
        pytest.skip("no C compiler (cc, gcc or clang) is installed")
    return found


@functools.cache
def compiled(text, *flags):
    """The shared library of a C text."""
    path = Path(_folder().name) / hashlib.sha256(text.encode()).hexdigest()[:16]
    path.with_suffix(".c").write_text(text, encoding="utf-8")
    library = path.with_suffix(".so")
    command = [compiler(), *FLAGS, *flags, "-o", library, path.with_suffix(".c"), "-lm"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return ctypes.CDLL(str(library)), result.stderr
