"""OperatorBase: what the graph knows of an operator; `dispatch.op` has the rest."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import OperatorLike

APPLY: Any = None  # the reference path of calls: `dispatch.apply` names it here


class OperatorBase:
    """The class by which modes tell operators from functions that write."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a mode reads of an operator stands in `dispatch.op`

        def __getattr__(self, name: str) -> Any: ...


def shape_error(op: OperatorLike, arrays: list, error: ValueError) -> Exception:
    """PyTorch's error for shapes that do not broadcast, and for what no memory holds."""
    if op.promote is not None:
        shapes = [x.shape for x in arrays if hasattr(x, "shape")]
        for i, b in enumerate(shapes):
            for a in shapes[:i]:
                try:
                    np.broadcast_shapes(a, b)
                except ValueError:
                    return errors.broadcast(a, b)
    return errors.beyond_memory(error)


_SUFFIXES = ("_along", "_axes", "_of_number")  # of names of our own where PyTorch has overloads


def public_name(name: str, node: str) -> str:
    """What PyTorch calls an operator: its nodes are named after it, whatever our own name is.

    >>> from tapegrad.autograd.operator_base import public_name
    >>> public_name("add_tensors", "AddBackward0"), public_name("log1p", "Log1PBackward0")
    ('add', 'log1p')
    """
    public = ""
    words = node.partition("Backward")[0]
    for i, letter in enumerate(words):
        if letter.isupper() and i > 0:  # but "2D" is the end of its word
            begins = not words[i - 1].isdigit() or words[i + 1 : i + 2].islower()
            public += "_" if begins else ""
        public += letter.lower()
    if node in ("", "NotImplemented"):
        public = name
    elif public.replace("_", "") == name.replace("_", ""):
        public = min(public, name, key=len)
    for suffix in _SUFFIXES:
        public = public.removesuffix(suffix)
    return public
