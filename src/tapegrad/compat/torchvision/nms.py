"""Non-maximum suppression: of boxes that overlap the one with the highest score."""

import numpy as np

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The numbers of the boxes that are kept, those with the highest scores first.

    A box goes where its overlap with a better one, their intersection over their union, is more
    than the threshold.

    Args:
        dets: (N, 4), corners x1, y1, x2, y2.
        scores: (N,).

    Raises:
        RuntimeError: other shapes, or dtypes that differ.

    >>> from tapegrad.compat.torchvision.nms import nms
    >>> boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]])
    >>> nms(boxes, torch.tensor([0.5, 0.9, 0.1]), 0.5)
    tensor([1, 2])
    """
    _check(dets, scores)
    if not len(dets):
        return tapegrad.empty(0, dtype=tapegrad.int64)
    order = scores.sort(0, descending=True, stable=True)[1].numpy()
    boxes = dets.detach().numpy()[order]
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    suppressed = np.zeros(len(boxes), dtype=bool)
    for i in range(len(boxes)):
        if suppressed[i]:
            continue
        rest = slice(i + 1, None)
        width = np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest])
        height = np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest])
        common = np.maximum(width, 0) * np.maximum(height, 0)
        with np.errstate(invalid="ignore"):  # of two empty boxes 0 / 0, which is above nothing
            overlap = common / (areas[i] + areas[rest] - common)
        suppressed[rest] |= overlap.astype(np.float64) > iou_threshold
    return tapegrad.from_numpy(order[~suppressed])


def _check(dets: Tensor, scores: Tensor) -> None:
    advice = "Pass boxes (N, 4) and as many scores (N,)."
    if dets.dim() != 2:
        raise errors.runtime_error(f"boxes should be a 2d tensor, got {dets.dim()}D", advice)
    if dets.size(1) != 4:
        raise errors.runtime_error(
            f"boxes should have 4 elements in dimension 1, got {dets.size(1)}", advice
        )
    if scores.dim() != 1:
        raise errors.runtime_error(f"scores should be a 1d tensor, got {scores.dim()}D", advice)
    if len(dets) != len(scores):
        raise errors.runtime_error(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{len(dets)} and {len(scores)}",
            advice,
        )
    if dets.dtype != scores.dtype:
        raise errors.runtime_error(
            "dets should have the same type as scores",
            f"They are of {dets.dtype} and {scores.dtype}: convert one of them.",
        )
