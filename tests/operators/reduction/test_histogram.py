"""Histograms against PyTorch 2.13."""

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near


def test_histograms():
    x = torch.tensor([0.0, 1, 1, 2, 5])
    assert torch.histc(x, 3).tolist() == [3, 1, 1]
    edges, weight = torch.tensor([0.0, 1, 2]), torch.tensor([1.0, 2, 3, 4, 5])
    hist, bin_edges = torch.histogram(x, edges, weight=weight, density=True)
    assert_near(hist, torch.tensor([0.1, 0.9]))
    assert bin_edges.tolist() == [0, 1, 2]
    points = torch.tensor([[0.0, 1], [1, 0], [2, 0], [2, 2]])
    found = torch.histogramdd(points, [3, 3], weight=torch.tensor([1.0, 2, 4, 8]))
    assert found.hist.tolist() == [[0, 1, 0], [2, 0, 0], [4, 0, 8]]
    assert repr(found).startswith("torch.return_types.histogramdd(\nhist=tensor([[0., 1., 0.],")


def test_bad_histograms():
    x = torch.ones(3)
    with raises(RuntimeError, "torch.histogram(): bins must be > 0, but got 0 for dimension 0"):
        torch.histc(x, 0)
    with raises(RuntimeError, "torch.histc: max must be larger than min"):
        torch.histc(x, 3, 5, 2)
    with raises(NotImplementedError, "\"histogram_cpu\" not implemented for 'Long'"):
        torch.histc(torch.tensor([1, 2]), 3)
    with raises(
        RuntimeError,
        "torch.histogramdd: min should not exceed max, but got min 3 max 0 for dimension 0",
    ):
        torch.histogram(x, 4, range=(3.0, 0.0))
