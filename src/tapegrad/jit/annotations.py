"""Names that annotations of scripted code use: those of `typing`, and broadcasting lists."""

from typing import Any, Dict, Final, List, Optional, Tuple, TypeVar, Union  # noqa: UP035

from tapegrad.core.missing import refuses as _refuses
from tapegrad.jit._async import Future

T = TypeVar("T")

BroadcastingList1 = Union[T, list[T]]  # noqa: UP007  # subscripted by its users
"""A number, or a list of as many as the name says."""
BroadcastingList2 = BroadcastingList3 = BroadcastingList1
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Dict",
    "Final",
    "Future",
    "List",
    "Optional",
    "Tuple",
    "Union",
]

__getattr__ = _refuses(__name__)
