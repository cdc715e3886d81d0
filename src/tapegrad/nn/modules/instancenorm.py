"""Instance normalisation: each channel of each sample gets mean 0 and variance 1."""

from tapegrad.core.annotations import DeviceLike, DTypeLike
from tapegrad.core.errors import value_error, warn
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn.modules.batchnorm import _LazyNormNd, _NormBase, _wrong_rank
from tapegrad.nn.modules.utils import ClassOptions
from tapegrad.tensors.tensor import Tensor


class _InstanceNorm(ClassOptions, _NormBase):
    """Instance normalisation of inputs with any number of dimensions."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        low, high = self._n_axes + 1, self._n_axes + 2
        if input.ndim != low and input.ndim != high:
            raise _wrong_rank(f"{low}D or {high}D", input, "(N, C, ...) or (C, ...)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.ndim == self._n_axes + 1
        axis = 0 if alone else 1
        n_channels = input.shape[axis]
        if n_channels != self.num_features:
            self._mind_channels(axis, n_channels)
        y = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return y.squeeze(0) if alone else y

    def _mind_channels(self, axis: int, n_channels: int) -> None:
        if self.affine:
            raise value_error(
                f"expected input's size at dim={axis} to match num_features "
                f"({self.num_features}), but got: {n_channels}.",
                f"Make the layer with num_features={n_channels}.",
            )
        warn(
            f"input's size at dim={axis} does not match num_features. You can silence this "
            "warning by not passing in num_features, which is not used because affine=False",
            3,
        )


class InstanceNorm1d(_InstanceNorm, n_axes=1):
    """`y = (x - mean) / sqrt(variance + eps) * weight + bias`, each channel of each sample.

    Args:
        num_features: number of channels C
        eps: added to the variance
        momentum: share of the newest batch in the running statistics
        affine: whether there are weight and bias
        track_running_stats: whether running statistics are kept, and used in evaluation
        bias: whether, with `affine`, there is a bias

    Shape: `x` and `y: (N, C, L)` or `(C, L)`; `weight: (C,)`, `bias: (C,)`.

    Source: Ulyanov et al., Instance normalization, 2016, eq. 1.

    >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1.0, 3.0]], [[0.0, 10.0]]]))
    tensor([[[-1.0000,  1.0000]],
    <BLANKLINE>
            [[-1.0000,  1.0000]]])
    """


class InstanceNorm2d(_InstanceNorm, n_axes=2):
    """Instance normalisation of images (N, C, H, W) or (C, H, W); see `InstanceNorm1d`.

    >>> torch.nn.InstanceNorm2d(3)(torch.ones(2, 3, 4, 5)).shape
    torch.Size([2, 3, 4, 5])
    """


class InstanceNorm3d(_InstanceNorm, n_axes=3):
    """Instance normalisation of volumes (N, C, D, H, W) or (C, D, H, W); see `InstanceNorm1d`.

    >>> torch.nn.InstanceNorm3d(3)(torch.ones(2, 3, 4, 5, 6)).shape
    torch.Size([2, 3, 4, 5, 6])
    """


class LazyInstanceNorm1d(_LazyNormNd, InstanceNorm1d, becomes=InstanceNorm1d):
    """A `InstanceNorm1d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm1d()
    >>> layer(torch.ones(2, 4, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5]), 4)
    """


class LazyInstanceNorm2d(_LazyNormNd, InstanceNorm2d, becomes=InstanceNorm2d):
    """A `InstanceNorm2d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm2d()
    >>> layer(torch.ones(2, 4, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5]), 4)
    """


class LazyInstanceNorm3d(_LazyNormNd, InstanceNorm3d, becomes=InstanceNorm3d):
    """A `InstanceNorm3d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyInstanceNorm3d()
    >>> layer(torch.ones(2, 4, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5, 5]), 4)
    """


__all__ = public_names(globals())
