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


def test_a_deep_copy_gets_the_attributes_that_its_meta_preserves():
    from tapegrad.fx.graph_module import _USER_PRESERVED_ATTRIBUTES_KEY as PRESERVED

    traced = fx.symbolic_trace(Net())
    traced.meta[PRESERVED] = {"note": ["of the user"], "rate": 3}
    again = copy.deepcopy(traced)
    assert (again.note, again.rate) == (["of the user"], 3)
    assert again.note is again.meta[PRESERVED]["note"]
    assert again.note is not traced.meta[PRESERVED]["note"]
    assert not hasattr(traced, "note")


def test_a_file_has_what_the_graph_does_not_read():
    traced = fx.symbolic_trace(Net())
    traced.add_submodule("extra", torch.nn.Linear(1, 1))
    traced.register_buffer("unread", torch.ones(1))
    again = pickle.loads(pickle.dumps(traced))
    assert again.unread.tolist() == [1] and "extra.weight" in again.state_dict()


def test_a_module_that_its_meta_holds_is_copied_once():
    traced = fx.symbolic_trace(Net())
    traced.meta["self"] = traced
    again = copy.deepcopy(traced)
    assert again is not traced and again.meta["self"] is again


def test_a_replica_computes_the_same():
    traced = fx.symbolic_trace(Net())
    x = torch.ones(3, 3)
    replica = traced._replicate_for_data_parallel()
    assert torch.equal(replica(x)["out"], traced(x)["out"]) and replica._is_replica
