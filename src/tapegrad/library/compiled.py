"""Compiled libraries of operators, and those among them that tapegrad has in Python."""

from importlib import import_module
from pathlib import Path

from tapegrad.core import errors

_IN_PYTHON = {("torchvision", "_C"): "tapegrad.compat.torchvision.operators"}
"""Of a library's folder and file the module that defines the same operators."""


def load(path: str | Path) -> None:
    """Define the operators of the library at `path`.

    Raises:
        OSError: tapegrad does not have them.
    """
    where = Path(path)
    module = _IN_PYTHON.get((where.parent.name, where.name.partition(".")[0]))
    if module is None:
        raise errors.advised(
            OSError(f"Could not load this library: {path}"),
            "tapegrad cannot link compiled operators: define them in Python with "
            "torch.library.custom_op.",
        )
    import_module(module).define()
