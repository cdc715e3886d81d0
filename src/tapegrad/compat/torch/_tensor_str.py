"""`torch._tensor_str`: how tensors are printed."""

from types import SimpleNamespace
from typing import Any

from tapegrad.core.missing import missing as _missing
from tapegrad.tensors.printing import (
    contents,
    get_printoptions,
    plain_repr,
    printoptions,
    set_printoptions,
    tensor_repr,
)
from tapegrad.tensors.tensor import Tensor

__all__ = ["get_printoptions", "plain_repr", "printoptions", "set_printoptions"]


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements of a tensor, lines after the first indented.

    >>> torch._tensor_str._tensor_str(torch.ones(2), 0)
    '[1., 1.]'
    """
    return contents(self.detach().resolve_conj().resolve_neg()._array, indent)


def _str(self: Tensor, *, tensorcontents: str | None = None) -> str:
    """The text of a tensor; its elements may be given as text."""
    text = tensor_repr(self)
    if tensorcontents is None:
        return text
    return text.replace(_tensor_str(self, text.index("(") + 1), tensorcontents)


_str_intern = _str


def _add_suffixes(tensor_str: str, suffixes: Any, indent: int, force_newline: bool) -> str:
    """The text of the elements with what is said after them, in lines that are not too long."""
    lines = [tensor_str]
    column = len(tensor_str) - tensor_str.rfind("\n") + 1
    width = get_printoptions()["linewidth"]
    for suffix in suffixes:
        if force_newline or column + len(suffix) + 2 > width:
            lines.append(",\n" + " " * indent + suffix)
            column, force_newline = indent + len(suffix), False
        else:
            lines.append(", " + suffix)
            column += len(suffix) + 2
    return "".join(lines) + ")"


def __getattr__(name: str) -> Any:
    """`PRINT_OPTS`: the options now in force."""
    if name == "PRINT_OPTS":
        return SimpleNamespace(**get_printoptions())
    raise _missing(__name__, name)
