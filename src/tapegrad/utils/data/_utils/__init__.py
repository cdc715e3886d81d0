"""The inside of a DataLoader, where PyTorch users look for it."""

import sys

from tapegrad.utils.data._utils import collate, fetch, pin_memory, worker

__all__ = ["collate", "fetch", "pin_memory", "worker"]

MP_STATUS_CHECK_INTERVAL = 5.0
"""Seconds that classes of their own wait before they look whether a worker is there."""

HAS_NUMPY = True
IS_WINDOWS = sys.platform == "win32"
python_exit_status = False
