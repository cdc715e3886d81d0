"""Summaries of how well a classifier decides, for each threshold: precision and recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from tapegrad.utils.tensorboard.array import as_array
from tapegrad.utils.tensorboard.scalar import plugin, shape_proto

_MOST = 127  # thresholds: with more of them TensorBoard's format takes more than a byte
_TINY = 1e-7


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = _MOST, weights: Any = None
) -> Any:
    """Count what is decided rightly and wrongly, for thresholds from 0 to 1.

    Args:
        labels: 0 or 1 for each sample.
        predictions: the probability of 1.
        weights: how much each sample counts.

    >>> from tapegrad.utils.tensorboard.summary import pr_curve
    >>> curve = pr_curve("p", torch.tensor([0, 1]), torch.tensor([0.2, 0.8]), 3)
    >>> list(curve.value[0].tensor.float_val)[:3]  # true positives at 0, 0.5 and 1
    [1.0, 1.0, 0.0]
    """
    num_thresholds = min(num_thresholds, _MOST)
    weights = None if weights is None else as_array(weights)
    data = compute_curve(as_array(labels), as_array(predictions), num_thresholds, weights)
    return _curve(tag, data, num_thresholds)


def pr_curve_raw(
    tag: str,
    tp: Any,
    fp: Any,
    tn: Any,
    fn: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int = _MOST,
    weights: Any = None,
) -> Any:
    """A curve that was computed elsewhere; each argument has a number for each threshold.

    >>> from tapegrad.utils.tensorboard.summary import pr_curve_raw
    >>> rows = [[2, 1], [1, 0], [0, 1], [0, 1], [0.7, 1], [1, 0.5]]
    >>> [dim.size for dim in pr_curve_raw("p", *rows, 2).value[0].tensor.tensor_shape.dim]
    [6, 2]
    """
    rows = [np.asarray(_plain(row)) for row in (tp, fp, tn, fn, precision, recall)]
    return _curve(tag, np.stack(rows), min(num_thresholds, _MOST))


def compute_curve(
    labels: np.ndarray,
    predictions: np.ndarray,
    num_thresholds: int | None = None,
    weights: Any = None,
) -> np.ndarray:
    """(6, thresholds): true and false positives, true and false negatives, precision, recall.

    >>> from tapegrad.utils.tensorboard.curve import compute_curve
    >>> compute_curve(np.array([0, 1]), np.array([0.2, 0.8]), 3)[4]
    array([0.5, 1. , 0. ])
    """
    n = _MOST if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    place = np.floor(predictions * (n - 1)).astype(np.int64)  # the highest threshold that is passed
    positive = labels.astype(float)

    def passing(weights):
        counts, _ = np.histogram(place, bins=n, range=(0, n - 1), weights=weights)
        return np.cumsum(counts[::-1])[::-1]

    tp, fp = passing(positive * weights), passing((1.0 - positive) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack(
        [tp, fp, tn, fn, tp / np.maximum(_TINY, tp + fp), tp / np.maximum(_TINY, tp + fn)]
    )


def _curve(tag, data, n):
    content = PrCurvePluginData(version=0, num_thresholds=n).SerializeToString()
    proto = TensorProto(
        dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=shape_proto(data.shape)
    )
    metadata = plugin("pr_curves", content)
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=metadata)])


def _plain(row):
    return row if isinstance(row, list | tuple) else as_array(row)
