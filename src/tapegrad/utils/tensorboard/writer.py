"""SummaryWriter: what TensorBoard shows of a training."""

from __future__ import annotations

import os
import time
from typing import Any

from tapegrad.utils.tensorboard import summary as summaries
from tapegrad.utils.tensorboard.file_writer import FileWriter
from tapegrad.utils.tensorboard.media_writer import MediaWriter
from tapegrad.utils.tensorboard.number_writer import NumberWriter

__all__ = ["FileWriter", "SummaryWriter"]


class SummaryWriter(NumberWriter, MediaWriter):
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
        global_step: Any = None,
    ) -> None:
        """Write hyperparameters and the metrics they led to, into a folder of their own.

        Args:
            hparam_dict: numbers, texts, booleans.
            metric_dict: a number for each metric, also written as scalar.
            hparam_domain_discrete: lists of the values that a hyperparameter may have.
            run_name: the folder, below that of the writer; by default the time.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
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
        write_embedding(
            self._get_file_writer().get_logdir(),
            self._projector,
            mat,
            metadata,
            label_img,
            global_step,
            tag,
            metadata_header,
        )

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
