"""The files that TensorBoard's projector shows: points, what they are, how they look."""

import os
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

from tapegrad.serialization.replacement import replacing
from tapegrad.utils.tensorboard.summary import _grid, make_image, make_np


def write_embedding(
    folder: str,
    config: ProjectorConfig,
    mat: Any,
    metadata: Any,
    label_img: Any,
    step: int | None,
    tag: str,
    metadata_header: Any,
) -> None:
    """Write points into a subfolder of `folder` and add them to `config`, which is written too.

    Args:
        mat: (N, D): a point in each row.
        metadata: N texts, or N rows of texts under the names of `metadata_header`.
        label_img: (N, C, H, W): a picture for each point, numbers from 0 to 1.
    """
    points = make_np(mat)
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    if metadata is not None and len(metadata) != len(points):
        raise AssertionError("#labels should equal with #data points")
    if label_img is not None and label_img.shape[0] != len(points):
        raise AssertionError("#images should equal with #data points")
    number = f"{0 if step is None else step:05d}"
    place = f"{number}/{_file_name(tag)}"
    path = os.path.join(folder, number, _file_name(tag))
    if os.path.isdir(path):
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    os.makedirs(path, exist_ok=True)
    info = EmbeddingInfo(tensor_name=f"{tag}:{number}", tensor_path=f"{place}/tensors.tsv")
    if metadata is not None:
        info.metadata_path = f"{place}/metadata.tsv"
        rows = [[str(row)] for row in metadata] if not metadata_header else metadata
        _write_rows(path, "metadata.tsv", [metadata_header, *rows] if metadata_header else rows)
    if label_img is not None:
        info.sprite.image_path = f"{place}/sprite.png"
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
        with replacing(os.path.join(path, "sprite.png")) as file:
            file.write(_sprite(make_np(label_img)))
    _write_rows(path, "tensors.tsv", points.tolist())
    config.embeddings.append(info)
    _write_config(folder, config)


def _file_name(tag):
    for character, code in (("%", "%25"), ("/", "%2f"), ("\\", "%5c")):
        tag = tag.replace(character, code)
    return tag


def _write_rows(path, name, rows):
    lines = ["\t".join(str(each) for each in row) + "\n" for row in rows]
    with replacing(os.path.join(path, name)) as file:
        file.write("".join(lines).encode())


def _write_config(folder, config):
    from google.protobuf.text_format import MessageToString

    with replacing(os.path.join(folder, "projector_config.pbtxt")) as file:
        file.write(MessageToString(config).encode())


def _sprite(pictures):
    """All pictures in a square that is as many of them wide as high."""
    sheet = _grid(pictures, int(np.ceil(np.sqrt(len(pictures)))))  # (3, H, W)
    if sheet.dtype != np.uint8:
        sheet = (sheet * 255).astype(np.uint8)
    side = max(sheet.shape)
    square = np.zeros((side, side, 3), np.uint8)
    square[: sheet.shape[1], : sheet.shape[2]] = sheet.transpose(1, 2, 0)
    return make_image(square).encoded_image_string
