"""Frozen modules compute the same without parameters."""

import pytest

import tapegrad as torch
from tapegrad import nn


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)),
        nn.LSTM(3, 2),
        nn.TransformerEncoderLayer(4, 2, batch_first=True),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_frozen_module_computes_the_same(module):
    scripted = torch.jit.script(module.eval())
    x = torch.randn(2, 4, 4) if hasattr(module, "self_attn") else torch.randn(5, 3)
    frozen = torch.jit.freeze(scripted)
    results = [m(x)[0] for m in (scripted, frozen)]
    assert torch.equal(*results) and not results[1].requires_grad
    assert list(frozen.parameters()) == [] and frozen.state_dict() == {}
    assert len(list(scripted.parameters())) > 0


def test_what_is_preserved_stays():
    scripted = torch.jit.script(nn.Linear(2, 1).eval())
    assert list(torch.jit.freeze(scripted, ["weight"]).state_dict()) == ["weight"]
    with pytest.raises(RuntimeError, match="Unknown name: nothing"):
        torch.jit.freeze(scripted, ["nothing"])


def test_what_cannot_be_frozen():
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule"):
        torch.jit.freeze(nn.Linear(2, 1))
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(torch.jit.script(nn.Linear(2, 1)))


def test_for_inference_it_is_frozen_once():
    best = torch.jit.optimize_for_inference(torch.jit.script(nn.Linear(2, 1)))
    assert list(best.parameters()) == [] and torch.jit.optimize_for_inference(best) is best
