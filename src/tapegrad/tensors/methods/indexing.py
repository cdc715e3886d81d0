"""Methods that read and write parts of a tensor."""

from __future__ import annotations

from tapegrad.operators.indexing import copy_fill as _write
from tapegrad.operators.indexing import gather_index_select as _lookup
from tapegrad.operators.indexing import getitem as _index
from tapegrad.operators.indexing import index_add as _along
from tapegrad.operators.indexing import masked_select_nonzero as _mask
from tapegrad.operators.indexing import scatter as _scattering
from tapegrad.operators.indexing import scatter_reduce as _reduction
from tapegrad.operators.indexing import setitem as _assign
from tapegrad.operators.indexing import take_put as _flat


class IndexMethods:
    """Indexing, gathering, scattering, masks, writing."""

    __slots__ = ()

    __getitem__ = _index.getitem
    __setitem__ = _assign.setitem

    index_select = _lookup.index_select
    gather = _lookup.gather
    take = _flat.take
    take_along_dim = _lookup.take_along_dim

    index_put = _assign.index_put
    index_put_ = _assign.index_put_
    index_add = _along.index_add
    index_add_ = _along.index_add_
    index_copy = _along.index_copy
    index_copy_ = _along.index_copy_
    index_fill = _along.index_fill
    index_fill_ = _along.index_fill_
    put = _flat.put
    put_ = _flat.put_

    scatter = _scattering.scatter
    scatter_ = _scattering.scatter_
    scatter_add = _scattering.scatter_add
    scatter_add_ = _scattering.scatter_add_
    scatter_reduce = _reduction.scatter_reduce
    scatter_reduce_ = _reduction.scatter_reduce_

    masked_select = _mask.masked_select
    masked_scatter = _mask.masked_scatter
    masked_scatter_ = _mask.masked_scatter_
    nonzero = _mask.nonzero
    nonzero_static = _mask.nonzero_static
    argwhere = _mask.argwhere

    copy_ = _write.copy_
    fill_ = _write.fill_
    zero_ = _write.zero_
