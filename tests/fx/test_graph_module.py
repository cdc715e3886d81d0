"""Modules made of a graph: copies, files."""

import copy
import pickle

import tapegrad as torch
from tapegrad import fx
from tests.fx.test__symbolic_trace import Net


def test_the_code_survives_deepcopy_and_pickle():
    traced = fx.symbolic_trace(Net())
    x = torch.randn(3, 3)
    for again in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
        assert again.code == traced.code
        assert again.graph.owning_module is again
        assert torch.equal(again(x)["out"], traced(x)["out"])
