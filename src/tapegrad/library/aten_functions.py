"""Operators of `torch.ops.aten` that are no public function of `torch`, or another one there.

A key is the name of a packet, or of one overload, `add.Scalar`; these go before public functions
of the name.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import tapegrad
from tapegrad.core import errors
from tapegrad.library.aten_backward import BACKWARD, REDUCTIONS
from tapegrad.nn import functional as F


def _slice(
    self: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    before = (builtins.slice(None),) * (dim % self.dim())
    return self[(*before, builtins.slice(start, end, step))]


def _places(indices: Sequence[Any]) -> tuple:
    return tuple(builtins.slice(None) if each is None else each for each in indices)


def _index(self: Any, indices: Sequence[Any]) -> Any:
    return self[_places(indices)]


def _index_put_(
    self: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, unsafe: bool = False
) -> Any:
    return self.index_put_(_filled(self, indices), values, accumulate)


def _index_put(self: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    return self.index_put(_filled(self, indices), values, accumulate)


def _filled(self: Any, indices: Sequence[Any]) -> tuple:
    """Indices with what stands for a whole axis in the place of None."""
    if all(each is not None for each in indices):
        return tuple(indices)
    places: list[Any] = []
    for each in indices:
        is_mask = each is not None and each.dtype in (tapegrad.bool, tapegrad.uint8)
        places += each.nonzero(as_tuple=True) if is_mask else [each]
    given = [axis for axis, each in enumerate(places) if each is not None]
    n = max([places[axis].dim() for axis in given], default=0)
    whole = len(places) - len(given)
    # what is indexed stays where it is, if that is one run of axes, and else comes first
    before = given[0] if given and given[-1] - given[0] == len(given) - 1 else 0
    for axis, each in enumerate(places):
        if each is None:
            left = sum(other is None for other in places[axis + 1 :])
            behind = left + n * (axis < before)
            places[axis] = tapegrad.arange(self.size(axis)).reshape([-1] + [1] * behind)
        else:
            places[axis] = each.reshape([*each.shape] + [1] * (whole - before))
    return tuple(places)


def _to_copy(
    self: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Any:
    options = {} if memory_format is None else {"memory_format": memory_format}
    kind = self.dtype if dtype is None else dtype
    place = self.device if device is None else device
    return self.to(device=place, dtype=kind, copy=True, **options)


def _sym_size(self: Any, dim: int | None = None) -> Any:
    return self.size() if dim is None else self.size(dim)


def _sym_stride(self: Any, dim: int | None = None) -> Any:
    return self.stride() if dim is None else self.stride(dim)


def _with_alpha(name: str) -> Callable[..., Any]:
    """`add.Scalar` takes by place what `torch.add` takes by keyword."""

    def call(self: Any, other: Any, alpha: Any = 1) -> Any:
        return getattr(tapegrad, name)(self, other, alpha=alpha)

    return call


def _copy(self: Any, src: Any, non_blocking: bool = False) -> Any:
    return tapegrad.empty_like(self).copy_(src.expand_as(self))


def _drawn(method: str) -> Callable[..., Any]:
    """`uniform`: what `uniform_` writes, in memory of its own."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(tapegrad.empty_like(self), method)(*args, **kwargs)

    return call


def _pad(mode: str) -> Callable[..., Any]:
    return lambda self, padding: F.pad(self, list(padding), mode)


def _upsample(mode: str, aligned: bool) -> Callable[..., Any]:
    """`upsample_bilinear2d(x, size, align_corners, scales...)`, and its overload `vec`."""

    def call(input: Any, output_size: Any, *rest: Any, **named: Any) -> Any:
        given = list(rest)
        corners = None
        if aligned:
            corners = given.pop(0) if given else named.pop("align_corners")
        if "scale_factors" in named:
            given = [named.pop("scale_factors")]
        scales: Any = [*given, *named.values()]
        if len(scales) == 1 and isinstance(scales[0], list | tuple):
            scales = list(scales[0])
        if not scales or None in scales:
            return F.interpolate(input, list(output_size), mode=mode, align_corners=corners)
        out = F.interpolate(input, None, scales, mode, corners)
        if output_size is not None and list(out.shape[2:]) != list(output_size):
            raise errors.not_implemented(
                f"upsample: the size {list(output_size)} is not that of the factors {scales}",
                "Give the one or the others.",
            )
        return out

    return call


def _binary_cross_entropy_with_logits(
    self: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    return F.binary_cross_entropy_with_logits(
        self, target, weight, reduction=REDUCTIONS[reduction], pos_weight=pos_weight
    )


def _kl_div(self: Any, target: Any, reduction: int = 1, *, log_target: bool = False) -> Any:
    return F.kl_div(self, target, reduction=REDUCTIONS[reduction], log_target=log_target)


def _cross_entropy_loss(
    self: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    return F.cross_entropy(
        self,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=REDUCTIONS[reduction],
        label_smoothing=label_smoothing,
    )


def _nll_loss_forward(
    self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> tuple:
    """The loss, and the sum of the weights that it is divided by; that is zero without a mean."""
    loss = F.nll_loss(
        self, target, weight, ignore_index=ignore_index, reduction=REDUCTIONS[reduction]
    )
    if reduction == 0 and self.dim() > 1:
        return loss, self.new_zeros(())
    counted = target[target != ignore_index]
    total = counted.numel() if weight is None else weight[counted].sum().item()
    return loss, self.new_full((), total)


def _batch_norm_legit(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    return tapegrad.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def _batch_norm_no_stats(
    input: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> Any:
    return tapegrad.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def _batch_norm_no_training(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
) -> Any:
    return tapegrad.native_batch_norm(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )


def _unique(
    self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple:
    found = tapegrad.unique(self, sorted, return_inverse, return_counts)
    return _three(self, found, return_inverse, return_counts)


def _unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple:
    found = tapegrad.unique_consecutive(self, return_inverse, return_counts, dim)
    return _three(self, found, return_inverse, return_counts)


def _three(self: Any, found: Any, inverse: bool, counts: bool) -> tuple:
    """The values, where each came from and how often: empty where that was not asked for."""
    rest = list(found) if inverse or counts else [found]
    nothing = self.new_empty(0, dtype=tapegrad.int64)
    values = rest.pop(0)
    return values, rest.pop(0) if inverse else nothing, rest.pop(0) if counts else nothing


def _im2col(
    self: Any,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    return F.unfold(self, kernel_size, dilation, padding, stride)


def _col2im(
    self: Any,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    return F.fold(self, output_size, kernel_size, dilation, padding, stride)


_SCALED = ("backward", "ortho", "forward")  # by which factor: none, one root of 1/n, 1/n
_SCALED_BACK = _SCALED[::-1]


def _fft_c2c(self: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    if forward:
        return tapegrad.fft.fftn(self, dim=tuple(dim), norm=_SCALED[normalization])
    return tapegrad.fft.ifftn(self, dim=tuple(dim), norm=_SCALED_BACK[normalization])


def _fft_r2c(self: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    transform = tapegrad.fft.rfftn if onesided else tapegrad.fft.fftn
    return transform(self, dim=tuple(dim), norm=_SCALED[normalization])


def _fft_c2r(self: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    sizes = [self.size(each) for each in dim[:-1]] + [last_dim_size]
    return tapegrad.fft.irfftn(self, s=sizes, dim=tuple(dim), norm=_SCALED_BACK[normalization])


def _eigh(A: Any, UPLO: str = "L", compute_v: bool = True) -> tuple:
    if compute_v:
        return tuple(tapegrad.linalg.eigh(A, UPLO))
    return tapegrad.linalg.eigvalsh(A, UPLO), A.new_empty(0)


def _svd(
    A: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple:
    if compute_uv:
        return tuple(tapegrad.linalg.svd(A, full_matrices, driver=driver))
    return A.new_empty(0), tapegrad.linalg.svdvals(A, driver=driver), A.new_empty(0)


def _safe_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Zeros in place of NaN where a whole row is -inf."""
    out = tapegrad.softmax(self, dim, dtype=dtype)
    return out.masked_fill((self == -float("inf")).all(dim, keepdim=True), 0)


def _fused_rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any, eps: float | None
) -> tuple:
    """The result, and what the input was multiplied with: (..., 1)."""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    least = tapegrad.finfo(input.dtype).eps if eps is None else eps
    factor = (input * input).mean(dims, keepdim=True).add(least).rsqrt()
    return tapegrad.rms_norm(input, list(normalized_shape), weight, eps), factor


def _weight_norm_interface(v: Any, g: Any, dim: int = 0) -> tuple:
    """The weight of length `g` in the direction of `v`, and the length of `v`."""
    length = v.norm(2, [each for each in range(v.dim()) if each != dim % v.dim()], keepdim=True)
    return v * (g / length), length


def _unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    return self.unfold(dimension, size, step)


def _with_indices(pool: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, output_size: pool(self, output_size, return_indices=True)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_adaptive_avg_pool2d": F.adaptive_avg_pool2d,
    "_adaptive_avg_pool3d": F.adaptive_avg_pool3d,
    "_cdist_forward": lambda x1, x2, p, compute_mode: tapegrad.cdist(x1, x2, p),
    "_euclidean_dist": tapegrad.cdist,
    "_fft_c2c": _fft_c2c,
    "_fft_c2r": _fft_c2r,
    "_fft_r2c": _fft_r2c,
    "_fused_rms_norm": _fused_rms_norm,
    "_index_put_impl_": _index_put_,
    "_linalg_eigh": _eigh,
    "_linalg_svd": _svd,
    "_local_scalar_dense": lambda self: self.item(),
    "_native_batch_norm_legit": _batch_norm_legit,
    "_native_batch_norm_legit.no_stats": _batch_norm_no_stats,
    "_native_batch_norm_legit_no_training": _batch_norm_no_training,
    "_prelu_kernel": F.prelu,
    "_reshape_alias": lambda self, size, stride: self.as_strided(size, stride),
    "_safe_softmax": _safe_softmax,
    "_to_copy": _to_copy,
    "_unique2": _unique,
    "_unsafe_index": _index,
    "_unsafe_index_put": _index_put,
    "_unsafe_view": lambda self, size: self.reshape(size),
    "_weight_norm_interface": _weight_norm_interface,
    "adaptive_max_pool2d": _with_indices(F.adaptive_max_pool2d),
    "adaptive_max_pool3d": _with_indices(F.adaptive_max_pool3d),
    "add.Scalar": _with_alpha("add"),
    "alias": lambda self: self.view_as(self),
    "binary_cross_entropy_with_logits": _binary_cross_entropy_with_logits,
    "col2im": _col2im,
    "copy": _copy,
    "cross_entropy_loss": _cross_entropy_loss,
    "exponential": _drawn("exponential_"),
    "fill": lambda self, value: tapegrad.empty_like(self).fill_(value),
    "geometric": _drawn("geometric_"),
    "im2col": _im2col,
    "index": _index,
    "index_put": _index_put,
    "index_put_": _index_put_,
    "kl_div": _kl_div,
    "lift_fresh": lambda self: self,
    "lift_fresh_copy": lambda self: self.clone(),
    "log_normal": _drawn("log_normal_"),
    "log_sigmoid_forward": lambda self: (F.logsigmoid(self), (-self.abs()).exp()),
    "nll_loss2d_forward": _nll_loss_forward,
    "nll_loss_forward": _nll_loss_forward,
    "normal_functional": _drawn("normal_"),
    "rsub.Scalar": _with_alpha("rsub"),
    "slice": _slice,
    "sub.Scalar": _with_alpha("sub"),
    "sym_numel": lambda self: self.numel(),
    "sym_size": _sym_size,
    "sym_stride": _sym_stride,
    "unfold": _unfold,
    "uniform": _drawn("uniform_"),
    "unique_consecutive": _unique_consecutive,
    "zero": tapegrad.zeros_like,
    **BACKWARD,
}
for _n in (1, 2, 3):
    FUNCTIONS[f"reflection_pad{_n}d"] = _pad("reflect")
    FUNCTIONS[f"replication_pad{_n}d"] = _pad("replicate")
    FUNCTIONS[f"upsample_nearest{_n}d"] = _upsample("nearest", False)
    FUNCTIONS[f"_upsample_nearest_exact{_n}d"] = _upsample("nearest-exact", False)
for _name, _mode in (
    ("linear1d", "linear"),
    ("bilinear2d", "bilinear"),
    ("bicubic2d", "bicubic"),
    ("trilinear3d", "trilinear"),
):
    FUNCTIONS[f"upsample_{_name}"] = _upsample(_mode, True)
