"""Calls of functions on other ranks: PyTorch built without them says so, and so does this."""

from tapegrad.compat.torch.distributed.refusal import refusing
from tapegrad.core.missing import refuses as _refuses


def is_available() -> bool:
    """False."""
    return False


for _name in "init_rpc shutdown rpc_sync rpc_async remote get_worker_info".split():
    globals()[_name] = refusing(f"rpc.{_name}", "rpc.is_available() is False: call the function.")

__getattr__ = _refuses(__name__)
