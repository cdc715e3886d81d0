"""Many programs compiled at once, for tests: their C files in one library, without optimisation."""

import ctypes
import re
import subprocess

import pytest

from tapegrad.compiler.c_backend.build import Compiled
from tapegrad.compiler.c_backend.toolchain import CompilerMissing, compiler


def needs_compiler():
    """A mark for tests that a machine without a C compiler skips."""
    try:
        compiler()
    except CompilerMissing as error:
        return pytest.mark.skip(reason=str(error).splitlines()[0])
    return pytest.mark.skipif(False, reason="")


class _Part:
    """The functions of one program in a library of several."""

    def __init__(self, library, prefix):
        self._library, self._prefix = library, prefix

    def __getattr__(self, name):
        return getattr(self._library, self._prefix + name)


def built(programs, folder):
    """The runner of each (program, outputs): their C files in one library."""
    compiled = [Compiled(program, outputs, {}) for program, outputs in programs]
    files = []
    for i, each in enumerate(compiled):
        source = re.sub(r"\b(step|bind|bind_pool|part\d+)\(", rf"p{i}_\1(", each.source)
        files.append(folder / f"p{i}.c")
        files[-1].write_text(source)
    found = compiler()
    flags = [x for x in found.flags if not x.startswith(("-O", "-ftree-"))]
    target = folder / "programs.so"
    command = [*found.command, "-O0", *flags, "-shared", "-fPIC", "-o", target, *files, "-lm"]
    subprocess.run([str(x) for x in command], check=True, capture_output=True, text=True)
    library = ctypes.CDLL(str(target))
    return [each.bound_to(_Part(library, f"p{i}_")) for i, each in enumerate(compiled)]
