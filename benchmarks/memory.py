"""What this process holds in RAM. Read from Linux, which alone can forget an earlier peak."""

from __future__ import annotations

import os
from pathlib import Path

STATUS, CLEAR, STATM = (Path("/proc/self", name) for name in ("status", "clear_refs", "statm"))
FORGET_PEAK = "5"  # proc(5), clear_refs


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The most that has been in RAM since now, above what is there now."""

    def __init__(self) -> None:
        CLEAR.write_text(FORGET_PEAK)
        self.start = self._highest()

    @staticmethod
    def is_known() -> bool:
        """Whether this system tells."""
        return CLEAR.exists()

    def bytes(self) -> int:
        return self._highest() - self.start

    @staticmethod
    def _highest() -> int:
        (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
