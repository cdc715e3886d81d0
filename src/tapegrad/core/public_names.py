"""Public names of a file: `from file import *` takes them."""

from typing import Any


def public_names(scope: dict[str, Any], others: str = "") -> list[str]:
    """The functions and classes that a file defines, and `others` that it only imports.

    The last line of a file is `__all__ = public_names(globals())`. Names that begin with an
    underscore are its own.
    """
    here = scope["__name__"]
    own = [n for n, x in scope.items() if n[0] != "_" and getattr(x, "__module__", None) == here]
    return [*own, *others.split()]
