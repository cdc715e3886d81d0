"""Batch normalisation over the batches of several processes, of which there is one here."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import value_error
from tapegrad.nn.batch_norm import _BatchNorm
from tapegrad.nn.module import Module
from tapegrad.tensors.tensor import Tensor


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of (N, C, ...) over all processes: with one, that of `BatchNorm1d`.

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
        if process_group is not None:
            raise NotImplementedError("There are no process groups: leave process_group away.")
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = None

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
