"""Results without derivatives are in the graph, as in PyTorch, and say so when asked."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_are_in_the_graph_and_have_no_gradient(weighted):
    x = torch.tensor([0.1, 0.4, 0.4])
    source = torch.ones(3, requires_grad=True) if weighted else x.requires_grad_()
    weight = source if weighted else None
    hist, edges = torch.histogram(x, 2, weight=weight)
    assert hist.tolist() == [1, 2] and edges.requires_grad
    assert type(hist.grad_fn).__name__ == type(edges.grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::histogram is not implemented"):
        torch.autograd.grad(hist.sum(), source)
    with torch.no_grad():
        assert not torch.histogram(x, 2, weight=weight).hist.requires_grad
    assert not torch.histogram(x.detach(), 2).hist.requires_grad


def test_edges_of_bins_count_as_inputs():
    edges = torch.tensor([0.0, 1.0], requires_grad=True)
    assert torch.histogram(torch.rand(3), edges).hist.requires_grad


def test_coins_of_one_probability_have_no_gradient():
    x = torch.ones(4, requires_grad=True)
    coins = torch.bernoulli(x, 0.5)
    assert coins.requires_grad and type(x.bernoulli(0.5).grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::bernoulli is not implemented"):
        coins.sum().backward()
    assert torch.autograd.grad(torch.bernoulli(x).sum(), x)[0].tolist() == [0] * 4


def test_histograms_of_points_are_in_the_graph_with_their_edges():
    points = torch.rand(3, 2, requires_grad=True)
    hist, edges = torch.histogramdd(points, [2, 2])
    assert hist.requires_grad and all(each.requires_grad for each in edges)
    text = "derivative for aten::_histogramdd_from_bin_cts is not implemented"
    with pytest.raises(RuntimeError, match=text):
        hist.sum().backward()
    given = [torch.arange(3.0), torch.arange(3.0)]
    hist, edges = torch.histogramdd(points, given)
    assert hist.requires_grad and not edges[0].requires_grad
    assert not torch.histogramdd(points.detach(), [2, 2]).hist.requires_grad
