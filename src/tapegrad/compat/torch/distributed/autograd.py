"""Backward passes over several ranks: PyTorch built without them says so, and so does this."""

from tapegrad.compat.torch.distributed.refusal import refusing
from tapegrad.core.missing import refuses as _refuses


def is_available() -> bool:
    """False."""
    return False


for _name in "context backward get_gradients DistAutogradContext".split():
    globals()[_name] = refusing(
        f"autograd.{_name}", "autograd.is_available() is False: call backward() on each rank."
    )

__getattr__ = _refuses(__name__)
