"""Settings of PyTorch about streams of devices, which the CPU does not have: accepted."""

from tapegrad.core import errors


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted as in PyTorch; there are no streams, so there is nothing to warn of.

    >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """
    _check(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted as in PyTorch; there are no streams to override.

    >>> torch.autograd.graph.set_override_stale_capture_stream(True)
    """
    _check(enabled)


def _check(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise errors.runtime_error(
            f"enabled must be a bool, but got {type(enabled).__name__}", "Pass True or False."
        )
