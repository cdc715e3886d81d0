"""Embeddings as modules, and the softmax over many classes. The numbers are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def test_a_table_begins_normal_with_zeros_for_padding():
    torch.manual_seed(0)
    layer = nn.Embedding(4, 2, padding_idx=-1)
    assert layer.padding_idx == 3
    assert layer.weight[0].tolist() == pytest.approx([1.5409960746765137, -0.293428897857666])
    assert layer.weight[3].tolist() == [0.0, 0.0]
    layer(torch.tensor([0, 3])).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_tables_print_what_is_not_usual():
    layer = nn.Embedding(3, 4, 0, 2.0, 1.0, True, True)
    assert repr(layer) == (
        "Embedding(3, 4, padding_idx=0, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True, "
        "sparse=True)"
    )
    assert repr(nn.EmbeddingBag(3, 4)) == "EmbeddingBag(3, 4, mode='mean')"


def test_a_given_table_is_shared_and_stands_still():
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    layer = nn.Embedding.from_pretrained(table)
    assert not layer.weight.requires_grad
    table[0, 0] = 7.0
    assert layer(torch.tensor(0)).tolist() == [7.0, 2.0]
    assert nn.EmbeddingBag.from_pretrained(table, freeze=False).weight.requires_grad


def test_rows_are_kept_short():
    layer = nn.Embedding.from_pretrained(torch.tensor([[3.0, 4.0], [3.0, 4.0]]), max_norm=1.0)
    layer(torch.tensor([1]))
    assert layer.weight[0].tolist() == [3.0, 4.0]
    assert layer.weight[1].tolist() == pytest.approx([0.6, 0.8], abs=1e-5)


def test_tables_that_do_not_fit_are_refused():
    with raises(AssertionError, "Padding_idx must be within num_embeddings"):
        nn.Embedding(3, 4, 5)
    with raises(AssertionError, "padding_idx must be within num_embeddings"):
        nn.EmbeddingBag(3, 4, padding_idx=8)
    with raises(AssertionError, "Embeddings parameter is expected to be 2-dimensional"):
        nn.Embedding.from_pretrained(torch.ones(2))
    message = "Shape of weight does not match num_embeddings and embedding_dim"
    with raises(AssertionError, message):
        nn.Embedding(3, 4, _weight=torch.ones(2, 2))


def test_bags_are_reduced():
    torch.manual_seed(0)
    layer = nn.EmbeddingBag(4, 2, mode="max")
    y = layer(torch.tensor([0, 2, 3]), torch.tensor([0, 2]))
    expected = [[1.5409960746765137, -0.293428897857666], [0.403346836566, 0.838026344776]]
    assert torch.allclose(y, torch.tensor(expected))


def test_the_adaptive_softmax_gives_log_probabilities():
    torch.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4], div_value=2.0)
    x = torch.arange(8.0).reshape(2, 4) / 8
    target = torch.tensor([1, 5])
    logp = layer.log_prob(x)
    assert torch.allclose(logp.exp().sum(1), torch.ones(2))
    output, loss = layer(x, target)
    assert torch.allclose(output, logp.gather(1, target.unsqueeze(1)).squeeze(1))
    assert loss.item() == pytest.approx(-output.mean().item())
    assert torch.allclose(layer(x[1], target[1]).output, output[1])
    head = layer.head(x).argmax(1)
    assert torch.equal(layer.predict(x)[head < 2], head[head < 2])


def test_the_adaptive_softmax_has_targets_in_range():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4])
    message = "Target values should be in [0, 19], but values in range [2, 30] were found. "
    with raises(RuntimeError, message):
        layer(torch.ones(2, 8), torch.tensor([2, 30]))
    message = "Input and target should have the same size in the batch dimension."
    with raises(RuntimeError, message):
        layer(torch.ones(2, 8), torch.tensor([2, 3, 4]))
    with raises(ValueError, "cutoffs should be a sequence of length larger than 0"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 20, [])


def test_a_linear_layer_and_its_loss_are_one():
    torch.manual_seed(0)
    layer = nn.LinearCrossEntropyLoss(2, 3)
    loss = layer(torch.ones(2, 2), torch.tensor([0, 2]))
    assert loss.item() == pytest.approx(0.8499189615249634)
    assert list(layer.state_dict()) == ["linear.weight"]
