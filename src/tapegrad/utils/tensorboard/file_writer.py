"""One file of events."""

from __future__ import annotations

import os
import time
from typing import Any

from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter


class FileWriter:
    """Writes summaries and graphs into a new file of events in the folder `log_dir`.

    A thread does the writing: it waits while `max_queue` events are pending, and sees to it that
    the file is complete every `flush_secs` seconds.

    >>> import tempfile
    >>> from tapegrad.utils.tensorboard import FileWriter
    >>> from tapegrad.utils.tensorboard.summary import scalar
    >>> writer = FileWriter(tempfile.mkdtemp())
    >>> writer.add_summary(scalar("loss", 0.5), global_step=1)
    >>> writer.close()
    """

    def __init__(
        self,
        log_dir: str | os.PathLike,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self._options = (os.fspath(log_dir), max_queue, flush_secs, filename_suffix)
        self.event_writer = EventFileWriter(*self._options)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, with the time of now unless one is given."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a summary, as `torch.utils.tensorboard.summary` makes them."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: tuple[Any, Any], walltime: float | None = None) -> None:
        """Write a graph and the statistics of its run: a GraphDef and a RunMetadata."""
        graph, run = graph_profile
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)
        tagged = event_pb2.TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        self.add_event(event_pb2.Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self) -> None:
        """Wait until everything is in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is pending and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begin another file in the same folder."""
        self.event_writer.close()
        self.event_writer = EventFileWriter(*self._options)
