"""The part of SummaryWriter that writes what is looked at and listened to."""

from __future__ import annotations

from typing import Any

from tapegrad.utils.tensorboard import summary as summaries
from tapegrad.utils.tensorboard.folder_writer import FolderWriter


class MediaWriter(FolderWriter):
    """What a `SummaryWriter` does with pictures, sounds and texts."""

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
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
        global_step: Any = None,
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
        global_step: Any = None,
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
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Write a figure of Matplotlib, or several of one size side by side, and close them."""
        from tapegrad.utils.tensorboard.figure import figure_to_image

        if isinstance(figure, list):
            self.add_image(
                tag, figure_to_image(figure, close), global_step, walltime, dataformats="NCHW"
            )
        else:
            self.add_image(
                tag, figure_to_image(figure, close), global_step, walltime, dataformats="CHW"
            )

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Write moving pictures (N, T, C, H, W): bytes, or numbers from 0 to 1."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Write a sound of one channel, numbers from -1 to 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
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
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write points in space (B, N, 3), their colours (0 to 255), and triangles (B, F, 3)."""
        summary = summaries.mesh(tag, vertices, colors, faces, config_dict)
        self._add(summary, global_step, walltime)
