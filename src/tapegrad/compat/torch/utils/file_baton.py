"""`FileBaton`: a lock among processes, which is a file."""

import os
import time

from tapegrad.core.errors import warn
from tapegrad.core.missing import refuses as _refuses

__all__ = ["FileBaton"]


class FileBaton:
    """Held by whoever has made the file; others wait until it is gone.

    >>> import tempfile, os
    >>> from tapegrad.compat.torch.utils.file_baton import FileBaton
    >>> path = os.path.join(tempfile.mkdtemp(), "lock")
    >>> baton = FileBaton(path)
    >>> baton.try_acquire(), FileBaton(path).try_acquire()
    (True, False)
    >>> baton.release()
    """

    def __init__(
        self,
        lock_file_path: str,
        wait_seconds: float = 0.1,
        warn_after_seconds: float | None = None,
    ) -> None:
        self.lock_file_path, self.wait_seconds = lock_file_path, wait_seconds
        self.warn_after_seconds = warn_after_seconds
        self.fd: int | None = None

    def try_acquire(self) -> bool:
        """Make the file; False where it is there already."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        return True

    def wait(self) -> None:
        """Wait until the file is gone."""
        began, warned = time.monotonic(), False
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)
            waited = time.monotonic() - began
            if self.warn_after_seconds is not None and not warned:
                if waited > self.warn_after_seconds:
                    warn(f"Waited on lock file '{self.lock_file_path}' for {waited} seconds.")
                    warned = True

    def release(self) -> None:
        """Remove the file."""
        if self.fd is not None:
            os.close(self.fd)
        os.remove(self.lock_file_path)


__getattr__ = _refuses(__name__)
