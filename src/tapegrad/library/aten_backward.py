"""Operators of backward passes by PyTorch's names: `torch.ops.aten.threshold_backward`.

Most are the reverse rule of a public function, which `_rule` asks of the graph that the function
records; so they may be differentiated again. The others are the textbook formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tapegrad
from tapegrad.nn import functional as F

REDUCTIONS = ("none", "mean", "sum")


def _rule(forward: Callable[..., Any], g: Any, *inputs: Any) -> tuple:
    """The cotangents of the inputs of `forward` for the cotangent `g` of its result."""
    recorded = any(x.requires_grad for x in (g, *inputs)) and tapegrad.is_grad_enabled()
    with tapegrad.enable_grad():
        places = [x.view_as(x) if x.requires_grad else x.detach() for x in inputs]
        for x in places:
            x._require(True)  # inside of a transform, too
        y = forward(*places)
        return tapegrad.autograd.grad(y, places, g, create_graph=recorded, allow_unused=True)


def _asked(rule: Callable[..., Any], g: Any, inputs: Sequence[Any], wanted: Sequence[bool]) -> Any:
    """The cotangents of those inputs that are asked for, None for the others."""
    given = [x for x, want in zip(inputs, wanted, strict=True) if want and x is not None]

    def forward(*places: Any) -> Any:
        rest = iter(places)
        each = zip(inputs, wanted, strict=True)
        return rule(*[next(rest) if want and x is not None else x for x, want in each])

    found = iter(_rule(forward, g, *given) if given else ())
    each = zip(inputs, wanted, strict=True)
    return tuple([next(found) if want and x is not None else None for x, want in each])


def _of_one(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """`function_backward(g, x, ...)` of a function of one tensor; `names` are its options."""

    def backward(grad_output: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        options = dict(zip(names, args, strict=False)) | kwargs
        return _rule(lambda x: function(x, **options), grad_output, self)[0]

    return backward


def _of_loss(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """`function_backward(g, x, target, ..., reduction, ...)` of a loss."""

    def backward(grad_output: Any, self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        options = dict(zip(names, args, strict=False)) | kwargs
        options["reduction"] = REDUCTIONS[options.get("reduction", 1)]
        return _rule(lambda x: function(x, target, **options), grad_output, self)[0]

    return backward


def _elu_backward(
    grad_output: Any,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Any,
) -> Any:
    x = self_or_result
    curved = x + alpha * scale if is_result else alpha * scale * (x * input_scale).exp()
    right = tapegrad.where(x > 0, scale, input_scale * alpha * scale)  # at zero a number, too
    return grad_output * tapegrad.where(x < 0, input_scale * curved, right)


def _leaky_relu_backward(
    grad_output: Any, self: Any, negative_slope: float, self_is_result: bool
) -> Any:
    # A result has the sign of its input.
    return _rule(lambda x: F.leaky_relu(x, negative_slope), grad_output, self)[0]


def _sigmoid_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (output * (1 - output)).conj()


def _tanh_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (1 - output * output).conj()


def _log_sigmoid_backward(grad_output: Any, self: Any, buffer: Any) -> Any:
    share = buffer / (1 + buffer)  # the buffer is exp(-|x|), which does not overflow
    return grad_output * tapegrad.where(self < 0, 1 - share, share)


def _native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return grad_output * mask * scale


def _layer_norm_backward(
    grad_out: Any,
    input: Any,
    normalized_shape: Sequence[int],
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: Sequence[bool],
) -> Any:
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    others = list(range(dims[0]))
    x = (input - mean) * rstd  # (..., *normalized_shape)
    g = grad_out if weight is None else grad_out * weight
    along = (g * x).mean(dims, keepdim=True) * x
    to_input = rstd * (g - g.mean(dims, keepdim=True) - along) if output_mask[0] else None
    to_weight = to_bias = None
    if output_mask[1] and weight is not None:
        to_weight = (grad_out * x).sum(others) if others else grad_out * x
    if output_mask[2] and bias is not None:
        to_bias = grad_out.sum(others) if others else grad_out
    return to_input, to_weight, to_bias


def _convolution_backward(
    grad_output: Any,
    input: Any,
    weight: Any,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    options = (stride, padding, dilation, transposed, output_padding, groups)

    def forward(x: Any, w: Any) -> Any:
        return tapegrad.convolution(x, w, None, *options)

    to_input, to_weight = _asked(forward, grad_output, (input, weight), output_mask[:2])
    channels = [dim for dim in range(grad_output.dim()) if dim != 1]
    return to_input, to_weight, grad_output.sum(channels) if output_mask[2] else None


def _max_pool_backward(n: int) -> Callable[..., Any]:
    def backward(
        grad_output: Any,
        self: Any,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        indices: Any,
    ) -> Any:
        start = self.dim() - n
        flat = tapegrad.zeros_like(self).flatten(start)
        return flat.scatter_add(-1, indices.flatten(start), grad_output.flatten(start)).view_as(
            self
        )

    return backward


def _embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    weight = grad_output.new_zeros(num_weights, grad_output.size(-1))
    options = (None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq)
    return _rule(lambda w: F.embedding(indices, w, *options), grad_output, weight)[0]


def _nll_loss_backward(
    grad_output: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Any,
) -> Any:
    def forward(x: Any) -> Any:
        return F.nll_loss(
            x, target, weight, ignore_index=ignore_index, reduction=REDUCTIONS[reduction]
        )

    return _rule(forward, grad_output, self)[0]


def _view_backward(view: Callable[..., Any]) -> Callable[..., Any]:
    """The cotangent of a tensor of which `view(x, ...)` shows a part: zeros elsewhere."""

    def backward(grad_output: Any, input_sizes: Sequence[int], *args: Any) -> Any:
        return _rule(lambda x: view(x, *args), grad_output, grad_output.new_zeros(input_sizes))[0]

    return backward


def _shown(x: Any, dim: int, start: int, end: int, step: int) -> Any:
    before = (slice(None),) * (dim % x.dim())
    return x[(*before, slice(start, end, step))]


def _index_select_backward(grad: Any, self_sizes: Sequence[int], dim: int, index: Any) -> Any:
    return grad.new_zeros(self_sizes).index_add(dim, index, grad)


def _prelu_backward(grad_output: Any, self: Any, weight: Any) -> Any:
    positive = self > 0
    to_input = tapegrad.where(positive, grad_output, weight * grad_output)
    return to_input, tapegrad.where(positive, 0, self * grad_output)


def _pad_backward(mode: str) -> Callable[..., Any]:
    def backward(grad_output: Any, self: Any, padding: Sequence[int]) -> Any:
        return _rule(lambda x: F.pad(x, list(padding), mode), grad_output, self)[0]

    return backward


def _grid_sampler_backward(
    grad_output: Any,
    input: Any,
    grid: Any,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> Any:
    def forward(x: Any, places: Any) -> Any:
        return tapegrad.grid_sampler(x, places, interpolation_mode, padding_mode, align_corners)

    return _asked(forward, grad_output, (input, grid), output_mask)


BACKWARD: dict[str, Callable[..., Any]] = {
    "_adaptive_avg_pool2d_backward": lambda grad_output, self: _rule(
        lambda x: F.adaptive_avg_pool2d(x, grad_output.shape[-2:]), grad_output, self
    )[0],
    "_adaptive_avg_pool3d_backward": lambda grad_output, self: _rule(
        lambda x: F.adaptive_avg_pool3d(x, grad_output.shape[-3:]), grad_output, self
    )[0],
    "_prelu_kernel_backward": _prelu_backward,
    "binary_cross_entropy_backward": _of_loss(F.binary_cross_entropy, "weight", "reduction"),
    "convolution_backward": _convolution_backward,
    "diagonal_backward": _view_backward(tapegrad.diagonal),
    "elu_backward": _elu_backward,
    "embedding_dense_backward": _embedding_dense_backward,
    "gelu_backward": _of_one(F.gelu),
    "glu_backward": _of_one(F.glu, "dim"),
    "grid_sampler_2d_backward": _grid_sampler_backward,
    "grid_sampler_3d_backward": _grid_sampler_backward,
    "hardshrink_backward": _of_one(F.hardshrink, "lambd"),
    "hardsigmoid_backward": _of_one(F.hardsigmoid),
    "hardswish_backward": _of_one(F.hardswish),
    "hardtanh_backward": _of_one(F.hardtanh, "min_val", "max_val"),
    "huber_loss_backward": _of_loss(F.huber_loss, "reduction", "delta"),
    "index_select_backward": _index_select_backward,
    "leaky_relu_backward": _leaky_relu_backward,
    "log_sigmoid_backward": _log_sigmoid_backward,
    "logit_backward": _of_one(tapegrad.logit, "eps"),
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
    "mish_backward": _of_one(F.mish),
    "mse_loss_backward": _of_loss(F.mse_loss, "reduction"),
    "native_dropout_backward": _native_dropout_backward,
    "native_layer_norm_backward": _layer_norm_backward,
    "nll_loss2d_backward": _nll_loss_backward,
    "nll_loss_backward": _nll_loss_backward,
    "select_backward": _view_backward(tapegrad.select),
    "sigmoid_backward": _sigmoid_backward,
    "silu_backward": _of_one(F.silu),
    "slice_backward": _view_backward(_shown),
    "smooth_l1_loss_backward": _of_loss(F.smooth_l1_loss, "reduction", "beta"),
    "soft_margin_loss_backward": _of_loss(F.soft_margin_loss, "reduction"),
    "softplus_backward": _of_one(F.softplus, "beta", "threshold"),
    "softshrink_backward": _of_one(F.softshrink, "lambd"),
    "tanh_backward": _tanh_backward,
    "threshold_backward": lambda grad_output, self, threshold: _rule(
        lambda x: F.threshold(x, threshold, 0), grad_output, self
    )[0],
    "unfold_backward": _view_backward(lambda x, dim, size, step: x.unfold(dim, size, step)),
}
for _mode, _title in (("reflect", "reflection"), ("replicate", "replication")):
    for _n in (1, 2, 3):
        BACKWARD[f"{_title}_pad{_n}d_backward"] = _pad_backward(_mode)
_POOLED = "kernel_size stride padding ceil_mode count_include_pad divisor_override".split()
for _n, _pool in ((2, F.avg_pool2d), (3, F.avg_pool3d)):
    BACKWARD[f"avg_pool{_n}d_backward"] = _of_one(_pool, *_POOLED)
