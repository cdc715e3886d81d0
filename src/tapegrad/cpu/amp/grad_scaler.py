"""The older name of `torch.amp.GradScaler("cpu")`."""

from tapegrad.amp.grad_scaler import OlderScaler


class GradScaler(OlderScaler):
    """Older name of `torch.amp.GradScaler("cpu")`."""

    _kind = "cpu"
