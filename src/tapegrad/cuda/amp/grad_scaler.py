"""The older name of `torch.amp.GradScaler("cuda")`."""

from tapegrad.amp.grad_scaler import OlderScaler, OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(OlderScaler):
    """Older name of `torch.amp.GradScaler("cuda")`: without a GPU, a scaler that is disabled."""

    _kind = "cuda"
