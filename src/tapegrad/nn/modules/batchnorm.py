"""Batch normalisation: each channel by its mean and variance in the batch, or over batches."""

import sys
from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.dtype import int64
from tapegrad.core.errors import advised, value_error
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.modules.lazy import LazyLayer
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import has_own_constructor
from tapegrad.nn.parameter import Parameter, UninitializedBuffer, add_parameter
from tapegrad.operators.creation.zeros_eye import ones, zeros
from tapegrad.tensors.tensor import Tensor


class _NormBase(Module):
    """A layer with running statistics of each channel and, if `affine`, scale and shift."""

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        add_parameter(self, "weight", affine, num_features, **options)
        add_parameter(self, "bias", affine and bias, num_features, **options)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        count = zeros((), device=device, dtype=int64) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Means 0, variances 1, and no batch seen yet."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and the running statistics from the start."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise advised(NotImplementedError(), "A class of batch norm says which inputs it takes.")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        old = local_metadata.get("version") is None or local_metadata["version"] < 2
        if old and self.track_running_stats and key not in state_dict:
            # States of the first version had no count.
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class _BatchNorm(_NormBase):
    """Batch normalisation of inputs with any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        training = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        count = self.num_batches_tracked if self.training and mean is not None else None
        step = self._step(count)
        y = F.batch_norm(input, mean, var, self.weight, self.bias, training, step, self.eps)
        if count is not None:
            count.add_(1)
        return y

    def _step(self, count: Tensor | None) -> float:
        """How far the running statistics move: `momentum`, or without one to the plain average."""
        if self.momentum is not None:
            return self.momentum
        return 0.0 if count is None else 1 / (int(count) + 1)


has_own_constructor(_BatchNorm)


class BatchNorm1d(_BatchNorm):
    """`y = (x - mean) / sqrt(variance + eps) * weight + bias`, moments of each channel.

    In training they are those of the batch (the variance divided by n), and the running statistics
    move towards them, `running = (1 - momentum) * running + momentum * batch` (here the variance is
    divided by n - 1). In evaluation they are the running statistics.

    Args:
        num_features: number of channels C
        eps: added to the variance
        momentum: share of the newest batch in the running statistics; None for their plain average
        affine: whether there are weight and bias
        track_running_stats: without, moments are always those of the batch
        bias: whether, with `affine`, there is a bias

    Shape: `x` and `y: (N, C)` or `(N, C, L)`; parameters and running statistics `(C,)`.

    Source: Ioffe and Szegedy, Batch normalization, 2015, algorithms 1 and 2.

    >>> layer = torch.nn.BatchNorm1d(2)
    >>> layer(torch.tensor([[1.0, 0.0], [3.0, 4.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> layer.running_mean
    tensor([0.2000, 0.2000])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 2 and input.ndim != 3:
            raise _wrong_rank("2D or 3D", input, "(N, C) or (N, C, L)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of images (N, C, H, W), for each channel; see `BatchNorm1d`.

    >>> torch.nn.BatchNorm2d(3)
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    >>> torch.nn.BatchNorm2d(3)(torch.ones(2, 3, 4, 5)).shape
    torch.Size([2, 3, 4, 5])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise _wrong_rank("4D", input, "(N, C, H, W)")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of volumes (N, C, D, H, W), for each channel; see `BatchNorm1d`.

    >>> torch.nn.BatchNorm3d(3)(torch.ones(2, 3, 4, 5, 6)).shape
    torch.Size([2, 3, 4, 5, 6])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise _wrong_rank("5D", input, "(N, C, D, H, W)")


def _wrong_rank(wanted: str, input: Tensor, shape: str) -> ValueError:
    """The error for an input that has not `wanted` dimensions, but should be of this `shape`."""
    return value_error(
        f"expected {wanted} input (got {input.ndim}D input)", f"The input has shape {shape}."
    )


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of (N, C, ...) over the batches of all processes of a group.

    With one process it is that of `BatchNorm1d`. Gradients of its input cross processes, those of
    weight and bias are of this one's batch: `DistributedDataParallel` takes their mean.

    >>> torch.nn.SyncBatchNorm(2)(torch.tensor([[1.0, 0.0], [3.0, 4.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise value_error(
                f"expected at least 2D input (got {input.ndim}D input)",
                "The input has shape (N, C, ...).",
            )
        if input.shape[1] == 0:
            raise value_error(
                "SyncBatchNorm number of input channels should be non-zero",
                "The input has shape (N, C, ...).",
            )

    def forward(self, input: Tensor) -> Tensor:
        group = self._group_of_batches()
        if group is None:
            return super().forward(input)
        all_reduce = sys.modules["tapegrad.distributed"].nn.functional.all_reduce
        self._check_input_dim(input)
        axes = [axis for axis in range(input.ndim) if axis != 1]
        shape = [1, -1] + [1] * (input.ndim - 2)
        count = input.new_tensor([input.numel() // input.shape[1]])
        with no_grad():
            count = all_reduce(count, group=group)
        mean = all_reduce(input.sum(axes), group=group) / count
        centred = input - mean.view(shape)
        var = all_reduce(centred.square().sum(axes), group=group) / count
        self._track(mean.detach(), var.detach(), count)
        y = centred * (var + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            y = y * self.weight.view(shape)
        return y if self.bias is None else y + self.bias.view(shape)

    def _group_of_batches(self) -> Any:
        """The processes whose batches are normalised together; None where this one is alone."""
        if not (self.training or self.running_mean is None):
            return None
        distributed = sys.modules.get("tapegrad.distributed")
        if distributed is None or not distributed.is_initialized():
            return None
        group = distributed.group.WORLD if self.process_group is None else self.process_group
        return group if distributed.get_world_size(group) > 1 else None

    def _track(self, mean: Tensor, var: Tensor, count: Tensor) -> None:
        """Take moments of a batch of `count` numbers for each channel into the running ones."""
        if not (self.training and self.track_running_stats):
            return
        assert self.running_mean is not None and self.running_var is not None
        share = self._step(self.num_batches_tracked)
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(var * count / (count - 1), share)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with every batch normalisation in it replaced by a `SyncBatchNorm`.

        The new layers have the old ones' parameters and buffers themselves.

        >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
        >>> type(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)[0]).__name__
        'SyncBatchNorm'
        """
        converted: Any = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                with no_grad():
                    converted.weight, converted.bias = module.weight, module.bias
            converted.running_mean = module.running_mean
            converted.running_var = module.running_var
            converted.num_batches_tracked = module.num_batches_tracked
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNormNd(LazyLayer):
    """What lazy normalisations have in common: the channels come from the input."""

    _taken = "num_features"

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
        layer.affine, layer.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        self._make_later(affine, affine and bias, device, dtype)
        if track_running_stats:
            layer.running_mean = UninitializedBuffer(**options)
            layer.running_var = UninitializedBuffer(**options)
            layer.num_batches_tracked = zeros((), device=device, dtype=int64)

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


class LazyBatchNorm1d(_LazyNormNd, BatchNorm1d, becomes=BatchNorm1d):
    """A `BatchNorm1d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm1d()
    >>> layer(torch.ones(2, 4, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5]), 4)
    """


class LazyBatchNorm2d(_LazyNormNd, BatchNorm2d, becomes=BatchNorm2d):
    """A `BatchNorm2d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm2d()
    >>> layer(torch.ones(2, 4, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5]), 4)
    """


class LazyBatchNorm3d(_LazyNormNd, BatchNorm3d, becomes=BatchNorm3d):
    """A `BatchNorm3d` with as many `num_features` as its first input has.

    >>> layer = torch.nn.LazyBatchNorm3d()
    >>> layer(torch.ones(2, 4, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 4, 5, 5, 5]), 4)
    """


__all__ = public_names(globals())
