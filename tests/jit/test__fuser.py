"""Settings of compilers that are not here."""

import pytest

import tapegrad as torch


def test_the_strategy_is_kept():
    before = torch.jit.set_fusion_strategy([("STATIC", 5)])
    assert torch.jit.set_fusion_strategy(before) == [("STATIC", 5)]
    with pytest.raises(ValueError, match="only supported 'STATIC' or 'DYNAMIC', got: X"):
        torch.jit.set_fusion_strategy([("X", 2)])


def test_blocks_run():
    with torch.jit.fuser("fuser1"), torch.jit.optimized_execution(False):
        assert torch.ones(1).item() == 1
    with pytest.raises(Exception, match=r"unrecognized fuser option \(name: nono\)"):
        torch.jit.fuser("nono").__enter__()
    with pytest.warns(UserWarning, match="Only works in script mode"), torch.jit.strict_fusion():
        pass


def test_there_is_no_optimized_graph():
    with pytest.raises(RuntimeError, match="There is no optimized graph"):
        torch.jit.last_executed_optimized_graph()


def test_onednn_is_a_switch():
    torch.jit.enable_onednn_fusion(True)
    assert torch.jit.onednn_fusion_enabled()
    torch.jit.enable_onednn_fusion(False)
