"""The loss of connectionist temporal classification on numbers that are no probabilities."""

import tapegrad as torch

ctc_loss = torch.nn.functional.ctc_loss


def test_a_huge_logarithm_is_a_loss_and_not_an_impossibility():
    logp = torch.zeros(2, 1, 2, dtype=torch.float64)
    logp[0] = -1e30
    assert ctc_loss(logp, torch.tensor([[1]]), (2,), (1,), reduction="sum").item() == 1e30


def test_what_is_impossible_stays_so_beside_a_huge_logarithm():
    logp = torch.tensor([[[1e30, 0.0]], [[float("-inf"), 0.0]]], requires_grad=True)
    loss = ctc_loss(logp, torch.tensor([[1]]), (2,), (0,), reduction="sum")
    assert loss.item() == float("inf")
