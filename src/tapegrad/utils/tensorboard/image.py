"""Summaries of pictures, moving pictures and sounds."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from tapegrad.core.errors import value_error
from tapegrad.utils.tensorboard.array import as_array
from tapegrad.utils.tensorboard.layout import grid, to_hwc

_BOX = "red"
_BOX_WIDTH = 2


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """A picture as PNG, several of them in a grid.

    Numbers are from 0 to 1, or bytes. `rescale` is a factor for the size in pixels.

    >>> from tapegrad.utils.tensorboard.summary import image
    >>> picture = image("x", torch.zeros(3, 8, 6), dataformats="CHW").value[0].image
    >>> picture.height, picture.width, picture.encoded_image_string[:4]
    (8, 6, b'\\x89PNG')
    """
    pixels = to_hwc(as_array(tensor), dataformats)
    return Summary(value=[Summary.Value(tag=tag, image=make_image(_bytes_of(pixels), rescale))])


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: Any = None,
) -> Any:
    """A picture with boxes: rows of left, top, right, bottom. `labels` has a text for each.

    >>> from tapegrad.utils.tensorboard.summary import image_boxes
    >>> summary = image_boxes("x", torch.zeros(3, 8, 6), torch.tensor([[1, 1, 4, 5]]))
    >>> summary.value[0].image.width
    6
    """
    pixels = to_hwc(as_array(tensor_image), dataformats)
    boxes = as_array(tensor_boxes)
    if isinstance(labels, str):
        labels = [labels]
    if labels is not None and len(labels) != boxes.shape[0]:
        labels = None
    picture = make_image(_bytes_of(pixels), rescale, boxes, labels)
    return Summary(value=[Summary.Value(tag=tag, image=picture)])


def make_image(tensor: np.ndarray, rescale: float = 1, rois: Any = None, labels: Any = None) -> Any:
    """A PNG of bytes (height, width, channels); the sizes it states are those before scaling."""
    from PIL import Image

    height, width, channels = tensor.shape
    picture = Image.fromarray(tensor)
    if rois is not None:
        picture = draw_boxes(picture, rois, labels)
    size = (int(width * rescale), int(height * rescale))
    if size != (width, height):
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def draw_boxes(disp_image: Any, boxes: np.ndarray, labels: Any = None) -> Any:
    """Draw boxes into a picture of Pillow, a label at the lower left corner of each."""
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(disp_image)
    for number, (left, top, right, bottom) in enumerate(boxes[:, :4].tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=_BOX_WIDTH, fill=_BOX)
        if labels is None:
            continue
        font = ImageFont.load_default()
        x0, y0, x1, y1 = font.getbbox(labels[number])
        width, height = x1 - x0, y1 - y0
        margin = np.ceil(0.05 * height)
        draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill=_BOX)
        place = (left + margin, bottom - height - margin)
        draw.text(place, labels[number], fill="black", font=font)
    return disp_image


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """Moving pictures (N, T, C, H, W) as an animated GIF, several of them in a grid.

    >>> from tapegrad.utils.tensorboard.summary import video
    >>> video("v", torch.zeros(1, 3, 3, 8, 6)).value[0].image.encoded_image_string[:6]
    b'GIF89a'
    """
    clips = as_array(tensor)
    if clips.ndim != 5:
        raise value_error(
            f"not enough values to unpack (expected 5, got {clips.ndim})",
            "The shape is (clips, frames, channels, height, width).",
        )
    n_columns = 1 << -(-(len(clips) - 1).bit_length() // 2)
    frames = [
        _bytes_of(grid(clips[:, time], n_columns).transpose(1, 2, 0))
        for time in range(clips.shape[1])
    ]
    return Summary(value=[Summary.Value(tag=tag, image=make_video(frames, fps))])


def make_video(tensor: Any, fps: float) -> Any:
    """A GIF of frames, each bytes (height, width, channels)."""
    from PIL import Image

    height, width, channels = tensor[0].shape
    first, *others = (Image.fromarray(frame).convert("RGB") for frame in tensor)
    file = io.BytesIO()
    first.save(
        file, format="GIF", save_all=True, append_images=others, duration=round(1000 / fps), loop=0
    )
    return Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """A sound of one channel, numbers from -1 to 1, as WAV with 16 bits a sample.

    >>> from tapegrad.utils.tensorboard.summary import audio
    >>> sound = audio("a", torch.zeros(10)).value[0].audio
    >>> sound.length_frames, sound.content_type
    (10, 'audio/wav')
    """
    samples = as_array(tensor).squeeze()
    if np.abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    sound = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])


def _bytes_of(pixels):
    """Numbers from 0 to 1 as bytes; bytes stay as they are."""
    factor = 1 if pixels.dtype == np.uint8 else 255
    return (pixels.astype(np.float32) * factor).clip(0, 255).astype(np.uint8)
