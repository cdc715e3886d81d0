"""Marks for profilers of NVIDIA and Intel, accepted as PyTorch does without them."""

from __future__ import annotations

from tapegrad.core.errors import assertion_error, runtime_error


class emit_nvtx:
    """Context manager that would mark operators for NVIDIA's tools; there are none on a CPU.

    >>> with torch.autograd.profiler.emit_nvtx(enabled=False):
    ...     y = torch.ones(2) * 2
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_nvtx | None:
        if not self.enabled:
            return None
        if self.entered:
            raise runtime_error(
                "NVTX annotation context manager is not reentrant", "Make a new one for each block."
            )
        raise assertion_error(
            "Torch not compiled with CUDA enabled",
            "There are no CUDA kernels to mark: use torch.profiler.profile().",
        )

    def __exit__(self, *error: object) -> None:
        return None


class emit_itt:
    """Context manager that would mark operators for Intel's VTune, which is not there to listen.

    >>> with torch.autograd.profiler.emit_itt():
    ...     y = torch.ones(2) * 2
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_itt | None:
        if not self.enabled:
            return None
        if self.entered:
            raise runtime_error(
                "ITT annotation context manager is not reentrant", "Make a new one for each block."
            )
        self.entered = True
        return self

    def __exit__(self, *error: object) -> None:
        return None
