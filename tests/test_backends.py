"""Switches of libraries may be set at any time."""

import pytest

import tapegrad as torch


def test_no_switch_is_frozen():
    assert torch.backends.flags_frozen() is False
    before = torch.backends.cudnn.deterministic
    with getattr(torch.backends, "__allow_nonbracketed_mutation")():
        assert torch.backends.flags_frozen() is False
        torch.backends.cudnn.deterministic = before
    assert torch.backends.cudnn.deterministic is before


def test_processor_names_its_vector_instructions_as_pytorch_does(pytorch):
    assert torch.backends.cpu.get_cpu_capability() == pytorch.backends.cpu.get_cpu_capability()


@pytest.mark.parametrize(
    ("features", "name"),
    [
        ({}, "DEFAULT"),
        ({"AVX2": True, "FMA3": False}, "DEFAULT"),
        ({"AVX2": True, "FMA3": True, "AVX512F": True}, "AVX2"),
        (dict.fromkeys("AVX2 FMA3 AVX512F AVX512VL AVX512BW AVX512DQ".split(), True), "AVX512"),
    ],
)
def test_processor_without_wider_instructions_answers_by_those_it_has(monkeypatch, features, name):
    from numpy._core import _multiarray_umath

    monkeypatch.setattr(_multiarray_umath, "__cpu_features__", features)
    assert torch.backends.cpu.get_cpu_capability() == name


def test_einsum_asks_no_package_for_its_order():
    switches = torch.backends.opt_einsum
    assert (switches.is_available(), switches.get_opt_einsum()) == (False, None)
    assert (switches.enabled, switches.strategy) == (False, None)
    with pytest.raises(ValueError, match=r"^opt_einsum is not available, so setting `enabled`"):
        switches.set_flags(_enabled=True)
    with (
        pytest.raises(ValueError, match="setting `strategy` to greedy will not be meaningful"),
        switches.flags(strategy="greedy"),
    ):
        pass
    assert switches.set_flags(_enabled=False) == (False, None)
    switches.enabled, switches.strategy = True, "optimal"
    with switches.flags(enabled=False):
        assert switches.enabled is False
    assert switches.set_flags(_enabled=False) == (True, "optimal")
    switches.strategy = None
