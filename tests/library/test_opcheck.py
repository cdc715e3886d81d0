"""`torch.library.opcheck`."""

import pytest

import tapegrad as torch
from tapegrad.library import registry
from tapegrad.library.opcheck import OpCheckError

ALL = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]


@pytest.fixture
def made():
    names = []

    def make(name, function, **how):
        made = torch.library.custom_op(f"checks::{name}", function, **{"mutates_args": ()} | how)
        names.append(made._opoverload)
        return made

    yield make
    for each in names:
        registry.forget(each)


def total(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def writes(x: torch.Tensor) -> torch.Tensor:
    return x.add_(1) * 1


def test_all_is_well(made):
    op = made("total", total)
    op.register_fake(lambda x, y: torch.empty_like(x))
    op.register_autograd(lambda ctx, g: (g, g))
    samples = (torch.ones(2, requires_grad=True), torch.ones(2))
    assert torch.library.opcheck(op, samples) == dict.fromkeys(ALL, "SUCCESS")
    assert samples[0].grad is None


def test_what_is_wrong_is_named(made):
    with pytest.raises(OpCheckError, match="x is not defined as mutable but was mutated"):
        torch.library.opcheck(made("writes", writes), (torch.ones(2),))
    op = made("total", total)
    samples = (torch.ones(2, requires_grad=True), torch.ones(2))
    op.register_fake(lambda x, y: x.new_empty(3))
    with pytest.raises(OpCheckError, match="test_faketensor failed with shape mismatch"):
        torch.library.opcheck(op, samples)
    op.register_fake(lambda x, y: torch.empty_like(x))
    found = torch.library.opcheck(op, samples, raise_exception=False)
    assert [found[name] for name in ALL[:3]] == ["SUCCESS"] * 3
    assert "no autograd formula was registered" in str(found[ALL[3]])
    with pytest.raises(ValueError, match="expected test_utils to be subset of"):
        torch.library.opcheck(op, samples, test_utils="test_luck")
