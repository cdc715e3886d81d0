"""What runs a program: NumPy source at once, and C as soon as it is there."""

from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.numpy_backend import build as build_numpy
from tapegrad.core.annotations import Any, Callable


class Builder:
    """`build(program, outputs, names=...)` of a backend: "auto", "numpy" or "c"."""

    def __init__(self, backend: str):
        self.backend = backend

    def __call__(self, program: Program, outputs: list, names: Any = None) -> Callable:
        if self.backend == "c":
            from tapegrad.compiler.c_backend import build

            return build(program, outputs, names=names)
        return build_numpy(program, outputs, names=names)
