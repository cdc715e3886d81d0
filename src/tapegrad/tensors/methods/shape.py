"""Methods that give another shape: views, axes, repetition, parts."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape
from tapegrad.core.lazy import method
from tapegrad.core.shape import ints_of, missing_argument
from tapegrad.core.warn_once import warn_once
from tapegrad.operators import shape
from tapegrad.operators.shape import as_strided as _as_strided

_TENSOR_SPLIT = "tapegrad.operators.shape.tensor_split"
_SLICE_SCATTER = "tapegrad.operators.shape.slice_scatter"
_REPEAT = "tapegrad.operators.shape.repeat_tile"


class ShapeMethods:
    """Views, axes, repetition, parts."""

    __slots__ = ()
    _array: Any
    conj: Any

    view = shape.reshape_flatten_atleast.view
    view_as = shape.reshape_flatten_atleast.view_as
    reshape = shape.reshape_flatten_atleast.reshape_method
    reshape_as = shape.reshape_flatten_atleast.reshape_as
    flatten = shape.reshape_flatten_atleast.flatten
    unflatten = shape.reshape_flatten_atleast.unflatten
    ravel = shape.reshape_flatten_atleast.ravel

    permute = shape.permute_transpose_movedim_swapaxes.permute_method
    transpose = shape.permute_transpose_movedim_swapaxes.transpose
    transpose_ = shape.permute_transpose_movedim_swapaxes.transpose_
    swapaxes = shape.permute_transpose_movedim_swapaxes.swapaxes
    swapaxes_ = shape.permute_transpose_movedim_swapaxes.swapaxes_
    swapdims = shape.permute_transpose_movedim_swapaxes.swapdims
    swapdims_ = shape.permute_transpose_movedim_swapaxes.swapdims_
    movedim = shape.permute_transpose_movedim_swapaxes.movedim
    moveaxis = shape.permute_transpose_movedim_swapaxes.moveaxis
    t, t_ = shape.permute_transpose_movedim_swapaxes.t, shape.permute_transpose_movedim_swapaxes.t_
    adjoint = shape.permute_transpose_movedim_swapaxes.adjoint
    squeeze, squeeze_ = shape.squeeze_unsqueeze.squeeze, shape.squeeze_unsqueeze.squeeze_
    unsqueeze, unsqueeze_ = shape.squeeze_unsqueeze.unsqueeze, shape.squeeze_unsqueeze.unsqueeze_

    expand = shape.expand_broadcast.expand
    expand_as = shape.expand_broadcast.expand_as

    def broadcast_to(self, *sizes: Shape, size: Shape | None = None) -> Any:
        """Dimensions of size 1, and new ones in front, repeated without copying.

        >>> torch.tensor([1, 2]).broadcast_to(2, 2)
        tensor([[1, 2],
                [1, 2]])
        """
        if not sizes and size is None:
            raise missing_argument("broadcast_to", "size")
        given = ints_of("broadcast_to", "size", sizes) if size is None else size
        return shape.expand_broadcast.broadcast_to(self, given)

    select = shape.slice_select_narrow.select
    narrow = shape.slice_select_narrow.narrow
    narrow_copy = shape.slice_select_narrow.narrow_copy

    chunk = shape.split_chunk_unbind.chunk

    def split(self: Any, split_size: Any, dim: int = 0) -> tuple:
        """Parts of one size along `dim`, or of given sizes, as `torch.split`.

        >>> torch.arange(5).split(split_size=2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        return shape.split_chunk_unbind.split(self, split_size, dim)

    split_with_sizes = shape.split_chunk_unbind.split_with_sizes
    tensor_split = method(_TENSOR_SPLIT)
    hsplit = method(_TENSOR_SPLIT)
    vsplit = method(_TENSOR_SPLIT)
    dsplit = method(_TENSOR_SPLIT)
    unbind = shape.split_chunk_unbind.unbind
    unsafe_chunk = shape.split_chunk_unbind.unsafe_chunk
    unsafe_split = shape.split_chunk_unbind.unsafe_split
    unsafe_split_with_sizes = method("tapegrad.operators.nn.native", "unsafe_split_with_sizes")

    as_strided, as_strided_ = _as_strided.as_strided, _as_strided.as_strided_
    unfold = _as_strided.unfold

    as_strided_scatter = method(_SLICE_SCATTER)
    select_scatter = method(_SLICE_SCATTER)
    slice_scatter = method(_SLICE_SCATTER)
    diagonal_scatter = method(_SLICE_SCATTER)

    diag = shape.tril_triu_diag.diag
    diag_embed = shape.tril_triu_diag.diag_embed
    diagflat = shape.tril_triu_diag.diagflat
    diagonal = shape.tril_triu_diag.diagonal
    tril, tril_ = shape.tril_triu_diag.tril, shape.tril_triu_diag.tril_
    triu, triu_ = shape.tril_triu_diag.triu, shape.tril_triu_diag.triu_

    flip = shape.flip_roll_rot90.flip
    fliplr = shape.flip_roll_rot90.fliplr
    flipud = shape.flip_roll_rot90.flipud
    roll = shape.flip_roll_rot90.roll
    rot90 = shape.flip_roll_rot90.rot90

    repeat = method(_REPEAT)
    repeat_interleave = method(_REPEAT)
    tile = method(_REPEAT)

    @property
    def T(self) -> Any:
        """The dimensions in reverse order: the transpose of a matrix."""
        ndim = self._array.ndim
        if ndim == 0:
            warn_once(
                "Tensor.T is deprecated on 0-D tensors. This function is the identity in these "
                "cases."
            )
        elif ndim != 2:
            warn_once(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
                "deprecated and it will throw an error in a future release. Consider `x.mT` to "
                "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` "
                "to reverse the dimensions of a tensor."
            )
        return shape.permute_transpose_movedim_swapaxes.permute_axes(
            self, axes=tuple(range(ndim))[::-1]
        )

    @property
    def mT(self) -> Any:
        """The transposes of a batch of matrices."""
        return (
            shape.permute_transpose_movedim_swapaxes.transpose(self, -2, -1)
            if self._are_matrices("mT")
            else self
        )

    @property
    def mH(self) -> Any:
        """The conjugate transposes of a batch of matrices."""
        return (
            shape.permute_transpose_movedim_swapaxes.adjoint(self)
            if self._are_matrices("mH")
            else self.conj()
        )

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
        if ndim == 0:
            warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
            return self.conj()
        return shape.permute_transpose_movedim_swapaxes.adjoint(self)

    def _are_matrices(self, name: str) -> bool:
        ndim = self._array.ndim
        if ndim == 1:
            raise errors.runtime_error(
                f"tensor.{name} is only supported on matrices or batches of matrices. Got "
                "1-D tensor.",
                "unsqueeze() makes a matrix of a vector.",
            )
        if ndim == 0:
            instead = "Consider using x.conj()."
            if name == "mT":
                instead = "This function is the identity in these cases."
            warn_once(f"Tensor.{name} is deprecated on 0-D tensors. {instead}")
        return ndim > 1
