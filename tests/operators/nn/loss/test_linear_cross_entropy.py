"""Cross-entropy of linear scores, in chunks."""

import numpy as np
import pytest

import tapegrad as torch

F = torch.nn.functional


def test_chunks_of_linear_scores_give_pytorchs_loss_and_gradient():
    torch.manual_seed(0)
    x, w = torch.randn(4, 3, requires_grad=True), torch.randn(5, 3)
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    loss = F.linear_cross_entropy(x, w, torch.tensor([0, 4, -100, 2]), options=options)
    assert loss.item() == pytest.approx(1.3508520126342773, rel=1e-6)
    loss.backward()
    np.testing.assert_allclose(x.grad[0]._array, [0.33839658, 0.01349887, 0.00387785], rtol=1e-4)
    assert x.grad[2].tolist() == [0.0, 0.0, 0.0]
