"""Normalisations that take the number of channels from their first input."""

from __future__ import annotations

from typing import Any

from tapegrad.core.dtype import int64
from tapegrad.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from tapegrad.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from tapegrad.nn.lazy import LazyModuleMixin
from tapegrad.nn.uninitialized import UninitializedBuffer, UninitializedParameter
from tapegrad.operators.creation.zeros_eye import zeros
from tapegrad.tensors.tensor import Tensor


class _LazyNormNd(LazyModuleMixin):
    """What lazy normalisations have in common: the channels come from the input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)  # type: ignore[call-arg]
        layer: Any = self
        layer.affine = affine
        layer.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            layer.weight = UninitializedParameter(**options)
            if bias:
                layer.bias = UninitializedParameter(**options)
        if track_running_stats:
            layer.running_mean = UninitializedBuffer(**options)
            layer.running_var = UninitializedBuffer(**options)
            layer.num_batches_tracked = zeros((), device=device, dtype=int64)

    def reset_parameters(self) -> None:
        """As in the normalisation, once the parameters have shapes."""
        layer: Any = self
        if not self.has_uninitialized_params() and layer.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Make the parameters and running statistics for inputs like this one."""
        layer: Any = self
        if not self.has_uninitialized_params():
            return
        layer.num_features = input.shape[1]
        for tensor in (layer.weight, layer.bias, layer.running_mean, layer.running_var):
            if tensor is not None:
                tensor.materialize((layer.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormNd, BatchNorm1d):
    """A `BatchNorm1d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm1d()
    >>> layer(torch.ones(2, 4, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5]), 4)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormNd, BatchNorm2d):
    """A `BatchNorm2d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm2d()
    >>> layer(torch.ones(2, 4, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5]), 4)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormNd, BatchNorm3d):
    """A `BatchNorm3d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm3d()
    >>> layer(torch.ones(2, 4, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5, 5]), 4)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNormNd, InstanceNorm1d):
    """A `InstanceNorm1d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm1d()
    >>> layer(torch.ones(2, 4, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5]), 4)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormNd, InstanceNorm2d):
    """A `InstanceNorm2d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm2d()
    >>> layer(torch.ones(2, 4, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5]), 4)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormNd, InstanceNorm3d):
    """A `InstanceNorm3d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm3d()
    >>> layer(torch.ones(2, 4, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5, 5]), 4)
    """

    cls_to_become = InstanceNorm3d
