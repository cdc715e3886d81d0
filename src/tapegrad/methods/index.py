"""Methods that read and write parts of a tensor."""

from __future__ import annotations

from tapegrad.ops import index as _index
from tapegrad.ops import mask as _mask


class IndexMethods:
    """Indexing, gathering, scattering, masks."""

    __slots__ = ()

    __getitem__ = _index.getitem
    index_select = _index.index_select
    masked_select = _mask.masked_select
