"""Methods that read and write parts of a tensor."""

from tapegrad.operators import indexing
from tapegrad.operators.indexing import getitem as _index
from tapegrad.operators.indexing import index_add as _index_add
from tapegrad.operators.indexing import scatter as _scatter
from tapegrad.operators.indexing import scatter_reduce as _scatter_reduce
from tapegrad.operators.indexing import setitem as _assign


class IndexMethods:
    """Indexing, gathering, scattering, masks, writing."""

    __slots__ = ()

    __getitem__ = _index.getitem
    __setitem__ = _assign.setitem
    __delitem__ = _assign.delitem

    index_select = indexing.gather_index_select.index_select
    gather = indexing.gather_index_select.gather
    take = indexing.take_put.take
    take_along_dim = indexing.gather_index_select.take_along_dim

    index_put, index_put_ = _assign.index_put, _assign.index_put_
    index_add, index_add_ = _index_add.index_add, _index_add.index_add_
    index_copy, index_copy_ = _index_add.index_copy, _index_add.index_copy_
    index_fill, index_fill_ = _index_add.index_fill, _index_add.index_fill_
    put, put_ = indexing.take_put.put, indexing.take_put.put_

    scatter, scatter_ = _scatter.scatter, _scatter.scatter_
    scatter_add, scatter_add_ = _scatter.scatter_add, _scatter.scatter_add_
    scatter_reduce = _scatter_reduce.scatter_reduce
    scatter_reduce_ = _scatter_reduce.scatter_reduce_

    masked_select = indexing.masked_select_nonzero.masked_select
    masked_scatter = indexing.masked_select_nonzero.masked_scatter
    masked_scatter_ = indexing.masked_select_nonzero.masked_scatter_
    nonzero = indexing.masked_select_nonzero.nonzero
    nonzero_static = indexing.masked_select_nonzero.nonzero_static
    argwhere = indexing.masked_select_nonzero.argwhere

    copy_ = indexing.copy_fill_zero.copy_
    module_load = indexing.copy_fill_zero.module_load
    fill_ = indexing.copy_fill_zero.fill_
    zero_ = indexing.copy_fill_zero.zero_
