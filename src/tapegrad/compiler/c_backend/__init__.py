"""Programs as C: what `torch.compile` runs where there is a C compiler.

`lowering` makes statements over strided memory of a recorded program, `simplify` and `schedule`
leave out and fuse, `source` writes C, `toolchain` and `cache` make a library of it, `driver` the
Python function that calls it.
"""

from tapegrad.compiler.c_backend.build import build
from tapegrad.compiler.c_backend.ir import Unsupported
from tapegrad.compiler.c_backend.toolchain import CompilerMissing

__all__ = ["CompilerMissing", "Unsupported", "build"]
