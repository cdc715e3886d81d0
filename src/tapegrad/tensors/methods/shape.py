"""Methods that give another shape: views, axes, repetition, parts."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Shape
from tapegrad.core.lazy import method
from tapegrad.core.shape import ints_of, missing_argument
from tapegrad.operators.shape import as_strided as _stride
from tapegrad.operators.shape import expand as _expand
from tapegrad.operators.shape import flip_roll as _turn
from tapegrad.operators.shape import permute_squeeze as _axis
from tapegrad.operators.shape import repeat_tile as _repeat
from tapegrad.operators.shape import reshape as _shape
from tapegrad.operators.shape import slice_narrow as _slice
from tapegrad.operators.shape import slice_scatter as _patch
from tapegrad.operators.shape import split_chunk as _section
from tapegrad.operators.shape import tensor_split as _partition
from tapegrad.operators.shape import tril_diag as _triangle


class ShapeMethods:
    """Views, axes, repetition, parts."""

    __slots__ = ()
    _array: Any

    view = _shape.view
    view_as = _shape.view_as
    reshape = _shape.reshape
    reshape_as = _shape.reshape_as
    flatten = _shape.flatten
    unflatten = _shape.unflatten
    ravel = _shape.ravel

    permute = _axis.permute
    transpose = _axis.transpose
    transpose_ = _axis.transpose_
    swapaxes = _axis.swapaxes
    swapaxes_ = _axis.swapaxes_
    swapdims = _axis.swapdims
    swapdims_ = _axis.swapdims_
    movedim = _axis.movedim
    moveaxis = _axis.moveaxis
    t = _axis.t
    t_ = _axis.t_
    adjoint = _axis.adjoint
    squeeze = _axis.squeeze
    squeeze_ = _axis.squeeze_
    unsqueeze = _axis.unsqueeze
    unsqueeze_ = _axis.unsqueeze_

    expand = _expand.expand
    expand_as = _expand.expand_as

    def broadcast_to(self, *sizes: Any, size: Shape | None = None) -> Any:
        """Dimensions of size 1, and new ones in front, repeated without copying.

        >>> torch.tensor([1, 2]).broadcast_to(2, 2)
        tensor([[1, 2],
                [1, 2]])
        """
        if not sizes and size is None:
            raise missing_argument("broadcast_to", "size")
        given = sizes if size is None else (size,)
        return _expand.broadcast_to(self, ints_of("broadcast_to", "size", given))

    select = _slice.select
    narrow = _slice.narrow
    narrow_copy = _slice.narrow_copy

    chunk = _section.chunk
    split = _section.split
    split_with_sizes = _section.split_with_sizes
    tensor_split = _partition.tensor_split
    hsplit = _partition.hsplit
    vsplit = _partition.vsplit
    dsplit = _partition.dsplit
    unbind = _section.unbind
    unsafe_chunk = _section.unsafe_chunk
    unsafe_split = _section.unsafe_split
    unsafe_split_with_sizes = method("tapegrad.operators.nn.native", "unsafe_split_with_sizes")

    as_strided = _stride.as_strided
    as_strided_ = _stride.as_strided_
    unfold = _stride.unfold

    as_strided_scatter = _patch.as_strided_scatter
    select_scatter = _patch.select_scatter
    slice_scatter = _patch.slice_scatter
    diagonal_scatter = _patch.diagonal_scatter

    diag = _triangle.diag
    diag_embed = _triangle.diag_embed
    diagflat = _triangle.diagflat
    diagonal = _triangle.diagonal
    tril = _triangle.tril
    tril_ = _triangle.tril_
    triu = _triangle.triu
    triu_ = _triangle.triu_

    flip = _turn.flip
    fliplr = _turn.fliplr
    flipud = _turn.flipud
    roll = _turn.roll
    rot90 = _turn.rot90

    repeat = _repeat.repeat
    repeat_interleave = _repeat.repeat_interleave
    tile = _repeat.tile

    @property
    def T(self) -> Any:
        """The dimensions in reverse order: the transpose of a matrix."""
        ndim = self._array.ndim
        if ndim != 2:
            import warnings

            warnings.warn(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
                "deprecated and it will throw an error in a future release. Consider `x.mT` to "
                "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` "
                "to reverse the dimensions of a tensor.",
                UserWarning,
                stacklevel=2,
            )
        return _axis.permute_axes(self, axes=tuple(range(ndim))[::-1])

    @property
    def mT(self) -> Any:
        """The transposes of a batch of matrices."""
        return _axis.transpose(self, -2, -1) if self._are_matrices("mT") else self

    @property
    def mH(self) -> Any:
        """The conjugate transposes of a batch of matrices."""
        return _axis.adjoint(self) if self._are_matrices("mH") else self

    @property
    def H(self) -> Any:
        """The conjugate transpose of a matrix."""
        ndim = self._array.ndim
        if ndim not in (0, 2):
            advice = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
            raise errors.runtime_error(
                "tensor.H is only supported on matrices (2-D tensors). Got "
                f"{ndim}-D tensor.{advice}",
                "mH transposes batches of matrices.",
            )
        return _axis.adjoint(self) if ndim else self

    def _are_matrices(self, name: str) -> bool:
        ndim = self._array.ndim
        if ndim == 1:
            raise errors.runtime_error(
                f"tensor.{name} is only supported on matrices or batches of matrices. Got "
                "1-D tensor.",
                "unsqueeze() makes a matrix of a vector.",
            )
        return ndim > 1
