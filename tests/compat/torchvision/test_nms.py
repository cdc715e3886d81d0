"""Non-maximum suppression."""

import pytest

import tapegrad as torch
from tapegrad.compat.torchvision.nms import nms
from tests.messages import raises

BOXES = torch.tensor(
    [[0.0, 0, 10, 10], [1, 1, 11, 11], [0, 0, 10, 9], [20, 20, 30, 30], [21, 20, 31, 30]]
)
SCORES = torch.tensor([0.5, 0.9, 0.7, 0.3, 0.3])


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [(0.9, [1, 2, 0, 3, 4]), (0.89, [1, 2, 3, 4]), (0.65, [1, 2, 3]), (0.5, [1, 3]), (0, [1, 3])],
)
def test_boxes_that_overlap_a_better_one_go(threshold, kept):
    assert nms(BOXES, SCORES, threshold).tolist() == kept
    assert nms(BOXES.double(), SCORES.double(), threshold).tolist() == kept


def test_no_boxes_and_empty_ones():
    assert nms(BOXES[:0], SCORES[:0], 0.5).tolist() == []
    empty = torch.zeros(2, 4)
    assert nms(empty, torch.tensor([0.1, 0.2]), 0.5).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("boxes", "scores", "message"),
    [
        (BOXES[0], SCORES, "boxes should be a 2d tensor, got 1D"),
        (BOXES[:, :3], SCORES, "boxes should have 4 elements in dimension 1, got 3"),
        (BOXES, SCORES[:, None], "scores should be a 1d tensor, got 2D"),
        (
            BOXES,
            SCORES[:2],
            "boxes and scores should have same number of elements in dimension 0, got 5 and 2",
        ),
        (BOXES, SCORES.double(), "dets should have the same type as scores"),
    ],
)
def test_other_shapes_are_errors(boxes, scores, message):
    with raises(RuntimeError, message):
        nms(boxes, scores, 0.5)
