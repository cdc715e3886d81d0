"""The summaries that a writer writes, by PyTorch's names: protocol buffers of TensorBoard."""

from tapegrad.utils.tensorboard.array import as_array as make_np
from tapegrad.utils.tensorboard.chart import custom_scalars, mesh
from tapegrad.utils.tensorboard.curve import compute_curve, pr_curve, pr_curve_raw
from tapegrad.utils.tensorboard.histogram import histogram, histogram_raw, make_histogram
from tapegrad.utils.tensorboard.hyperparameter import hparams
from tapegrad.utils.tensorboard.image import (
    audio,
    draw_boxes,
    image,
    image_boxes,
    make_image,
    make_video,
    video,
)
from tapegrad.utils.tensorboard.scalar import scalar, tensor_proto, text

__all__ = [
    "audio",
    "compute_curve",
    "custom_scalars",
    "draw_boxes",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_boxes",
    "make_histogram",
    "make_image",
    "make_np",
    "make_video",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
    "text",
    "video",
]
