"""A convolution or linear layer and the batch normalisation behind it made one, to evaluate."""

import copy

from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that computes `bn(conv(x))`; both are in evaluation mode.

    >>> conv, bn = torch.nn.Conv2d(3, 4, 3).eval(), torch.nn.BatchNorm2d(4).eval()
    >>> x, fused = torch.ones(1, 3, 5, 5), torch.nn.utils.fuse_conv_bn_eval(conv, bn)
    >>> torch.allclose(fused(x), bn(conv(x)), atol=1e-6)
    True
    """
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution with the batch normalisation behind it.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> w, b = torch.nn.utils.fuse_conv_bn_weights(
    ...     torch.ones(1, 1, 1), zero, one, one, 0.0, 2 * one, zero
    ... )
    >>> w.item(), b.item()
    (2.0, -2.0)
    """
    axis = 1 if transpose else 0
    shape = [-1 if i == axis else 1 for i in range(conv_w.ndim)]
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that computes `bn(linear(x))`; both are in evaluation mode.

    >>> linear, bn = torch.nn.Linear(3, 4).eval(), torch.nn.BatchNorm1d(4).eval()
    >>> x, fused = torch.ones(2, 3), torch.nn.utils.fuse_linear_bn_eval(linear, bn)
    >>> torch.allclose(fused(x), bn(linear(x)), atol=1e-6)
    True
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _fused(linear, bn, fuse_linear_bn_weights)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer with the batch normalisation behind it.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> w, b = torch.nn.utils.fuse_linear_bn_weights(
    ...     torch.ones(1, 1), zero, one, one, 0.0, 2 * one, zero
    ... )
    >>> w.item(), b.item()
    (2.0, -2.0)
    """
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _folded(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    scale: Any,
    shift: Any,
    shape: list[int],
) -> tuple[Parameter, Parameter]:
    factor = (var + eps).rsqrt() * (1 if scale is None else scale)
    start = (0 if bias is None else bias) - mean
    shifted = start * factor + (0 if shift is None else shift)
    kept = weight.requires_grad
    bias_kept = kept if bias is None else bias.requires_grad
    scaled = (weight * factor.reshape(shape)).to(weight.dtype)
    return Parameter(scaled, kept), Parameter(shifted.to(weight.dtype), bias_kept)


def _fused(layer: ModuleLike, bn: Any, fold: Any, *options: Any) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    statistics = bn.running_mean, bn.running_var, bn.eps
    folded = fold(fused.weight, fused.bias, *statistics, bn.weight, bn.bias, *options)
    fused.weight, fused.bias = folded
    return fused
