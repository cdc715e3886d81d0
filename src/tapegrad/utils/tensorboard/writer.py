"""SummaryWriter: what TensorBoard shows of a training."""

import os
import time
from typing import Any, Self

from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tapegrad.core.annotations import Tensor
from tapegrad.core.errors import value_error
from tapegrad.utils.tensorboard import summary as summaries
from tapegrad.utils.tensorboard.summary import _default_bins

__all__ = ["FileWriter", "SummaryWriter"]


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


def _is_below(name: str) -> bool:
    """Whether a path from a folder leads to a place in it, or to the folder."""
    first = os.path.normpath(name).replace(os.sep, "/").partition("/")[0]
    return first != ".." and not os.path.isabs(name)


class SummaryWriter:
    """Writes events for TensorBoard: `tensorboard --logdir runs` shows them.

    Every method takes the step in the training (`global_step`), and most the time of the event
    (`walltime`, in seconds since 1970) if it is not that of the call. Tags with a slash are grouped
    by what is before it.

    Args:
        log_dir: the folder; by default `runs/` and the time and the machine's name.
        comment: put at the end of the default folder.
        purge_step: TensorBoard forgets what was written for this step or a later one before.
        max_queue: how many events may be pending before a call waits.
        flush_secs: how often, in seconds, everything is written to the file.
        filename_suffix: put at the end of the names of the files.

    >>> import os, tempfile
    >>> from tapegrad.utils.tensorboard import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss/train", 1 / (step + 1), step)
    ...     writer.add_histogram("weight", torch.randn(100), step)
    >>> os.listdir(writer.log_dir)  # doctest: +ELLIPSIS
    ['events.out.tfevents...']
    """

    _projector: Any = None  # the description of all embeddings so far

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
        self.default_bins = _default_bins()

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

    # --- numbers ----------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number; with `new_style` as a tensor, with `double_precision` one of 64 bits."""
        summary = summaries.scalar(
            tag, scalar_value, new_style=new_style, double_precision=double_precision
        )
        self._add(summary, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write numbers that one chart shows: each goes to a file in a folder of its own.

        It is called `{main_tag}_{tag}`, with an underscore for each slash of `main_tag`; those of a
        tag that would lead out of the writer's folder, as `../..` does, become underscores too.
        """
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            name = f"{main_tag.replace('/', '_')}_{tag}"
            if not _is_below(name):
                name = name.replace("/", "_").replace(os.sep, "_")
            path = f"{folder}/{name}"
            writer = self.all_writers.get(path)
            if writer is None:
                writer = self.all_writers[path] = self._new_writer(path)
            writer.add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_tensor(
        self,
        tag: str,
        tensor: Tensor,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write all elements of a tensor."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: object,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how numbers are distributed.

        `bins` are "tensorflow" (edges that grow by a tenth each), edges, their number, or the name
        of a rule of `numpy.histogram_bin_edges`, such as "auto" or "fd".
        """
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a distribution that was counted elsewhere; limits are upper ends of buckets."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        summary = summaries.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(summary, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Tensor,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write precision and recall of probabilities, for up to 127 thresholds."""
        summary = summaries.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(summary, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write precision and recall that were computed elsewhere."""
        positives = true_positive_counts, false_positive_counts
        others = true_negative_counts, false_negative_counts, precision, recall
        summary = summaries.pr_curve_raw(tag, *positives, *others, num_thresholds, weights)
        self._add(summary, global_step, walltime)

    # --- pictures, sounds and texts ---------------------------------------------------------------

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write a picture: bytes, or numbers from 0 to 1; `dataformats` has a letter an axis."""
        summary = summaries.image(tag, img_tensor, dataformats=dataformats)
        self._add(summary, global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write pictures in lines of eight."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """Write a picture with boxes in it: rows of left, top, right, bottom, in pixels."""
        summary = summaries.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self._add(summary, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Write a figure of Matplotlib, or several of one size side by side, and close them."""
        from tapegrad.utils.tensorboard.summary import _figure_to_image

        axes = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, _figure_to_image(figure, close), global_step, walltime, axes)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Write moving pictures (N, T, C, H, W): bytes, or numbers from 0 to 1."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Write a sound of one channel, numbers from -1 to 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a text in Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write points in space (B, N, 3), their colours (0 to 255), and triangles (B, F, 3)."""
        summary = summaries.mesh(tag, vertices, colors, faces, config_dict)
        self._add(summary, global_step, walltime)

    # --- models and what they are compared by -----------------------------------------------------

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Write the operators of one call of a model, grouped by the layers that called them.

        Args:
            input_to_model: the input (a tensor or a dict), or a tuple or list of inputs.
            verbose: print the nodes too.
            use_strict_trace: accepted as in PyTorch; what a model returns may be of any kind.
        """
        from tapegrad.utils.tensorboard.graph import graph

        self._get_file_writer().add_graph(graph(model, input_to_model, verbose))

    def add_onnx_graph(self, prototxt: str) -> None:
        """Not there: tapegrad does not read ONNX."""
        raise NotImplementedError("tapegrad has no add_onnx_graph: write the model by add_graph")

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Write hyperparameters and the metrics they led to, into a folder of their own.

        Args:
            hparam_dict: numbers, texts, booleans.
            metric_dict: a number for each metric, also written as scalar.
            hparam_domain_discrete: lists of the values that a hyperparameter may have.
            run_name: the folder, below that of the writer; by default the time.

        Raises: ValueError where `run_name` leads out of the writer's folder.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        home = self._get_file_writer().get_logdir()
        folder = os.path.join(home, run_name or str(time.time()))
        if not _is_below(os.path.relpath(folder, home)):
            raise value_error(
                f"run_name {run_name!r} leads out of the folder of the writer, {home}",
                "Make a SummaryWriter of that folder.",
            )
        with SummaryWriter(folder) as writer:
            for summary in made:
                writer._add(summary, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Write points (N, D) for the projector, with a label or a picture for each.

        Args:
            metadata: N labels, or N rows of texts under the names of `metadata_header`.
            label_img: (N, C, H, W), numbers from 0 to 1.
        """
        from tapegrad.utils.tensorboard.embedding import ProjectorConfig, write_embedding

        if self._projector is None:
            self._projector = ProjectorConfig()
        folder = self._get_file_writer().get_logdir()
        what = mat, metadata, label_img, global_step, tag, metadata_header
        write_embedding(folder, self._projector, *what)

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Write charts of several scalars: `{category: {title: [kind, tags]}}`, once.

        A kind is "Multiline", or "Margin" with the tags of a value, its lower and its upper bound.
        """
        self._add(summaries.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write one chart of several lines."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write one chart of a value between two bounds: three tags."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})
