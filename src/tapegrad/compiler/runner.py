"""What runs a program: NumPy source at once, and C as soon as it is there."""

import threading
import warnings

from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.numpy_backend import build as build_numpy
from tapegrad.core.annotations import Any

_warned: set[str] = set()


class Builder:
    """`build(owner, attribute, program, outputs)` of a backend: "auto", "numpy" or "c".

    With "auto" NumPy source runs until a thread has compiled the C, which takes its place.
    """

    def __init__(self, backend: str, dynamic: bool = True):
        self.backend, self.dynamic = backend, dynamic
        self._sizes: Any = None  # of programs that are compiled to C

    def __reduce__(self) -> Any:
        return Builder, (self.backend, self.dynamic)

    def __call__(self, owner: Any, program: Program, outputs: list, names: Any = None) -> None:
        """Give `owner` the attribute `runner`, a function of the program's inputs."""
        if self.backend == "c":
            self._replace(owner, program, outputs, names)
            if owner.runner is not None:
                return
            _warn(f"torch.compile runs NumPy source, not C: {owner.why_numpy}")
        owner.runner = build_numpy(program, outputs, names=names)
        if self.backend == "auto":
            given = owner, program, outputs, names
            owner.pending = threading.Thread(target=self._replace, args=given, daemon=True)
            owner.pending.start()

    def _replace(self, owner: Any, program: Program, outputs: list, names: Any) -> None:
        """Compile a program to C, and let `owner` run that."""
        from tapegrad.compiler.c_backend import CompilerMissing, Unsupported
        from tapegrad.compiler.c_backend import build as build_c
        from tapegrad.compiler.c_backend.sizes import Sizes

        if self._sizes is None or not self.dynamic:
            self._sizes = Sizes()
        try:
            owner.runner = build_c(program, outputs, names=names, sizes=self._sizes)
        except Unsupported as error:
            owner.why_numpy = str(error)
        except CompilerMissing as error:
            owner.why_numpy = str(error)
            _warn(f"torch.compile runs NumPy source, not C: {error}")


def _warn(text: str) -> None:
    """Warn once of each thing."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, UserWarning, stacklevel=2)


def wait_for(owner: Any) -> None:
    """Wait until nothing is compiled any more for `owner`."""
    pending = getattr(owner, "pending", None)
    if pending is not None:
        pending.join()
