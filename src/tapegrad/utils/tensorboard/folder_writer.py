"""A folder with files of events, and how long they are open."""

from __future__ import annotations

import os
import time
from typing import Self

from tapegrad.utils.tensorboard.file_writer import FileWriter
from tapegrad.utils.tensorboard.histogram import default_bins


class FolderWriter:
    """The part of `SummaryWriter` that opens, fills and closes files."""

    def __init__(
        self,
        log_dir: str | os.PathLike | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            import socket

            start = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{start}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        self.default_bins = default_bins()

    def _get_file_writer(self) -> FileWriter:
        """The writer into `log_dir`; a new one after `close`."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                from tensorboard.compat.proto.event_pb2 import Event, SessionLog

                step, self.purge_step = self.purge_step, None
                self.file_writer.add_event(Event(file_version="brain.Event:2"), step)
                start = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(session_log=start), step)
        return self.file_writer

    def _new_writer(self, folder):
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, summary, step, walltime):
        self._get_file_writer().add_summary(summary, step, walltime)

    def get_logdir(self) -> str | os.PathLike:
        """The folder."""
        return self.log_dir

    def flush(self) -> None:
        """Wait until everything is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what is pending and close the files; another call begins a new file."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
