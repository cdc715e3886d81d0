"""What optimizers written elsewhere take from `torch.optim.optimizer`. Results are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.optim import optimizer as public


@pytest.mark.parametrize(
    ("dtype", "differentiable", "use_fused", "expected"),
    [
        (torch.float32, False, False, (False, False)),
        (torch.float32, False, True, (True, False)),
        (torch.float32, True, True, (False, False)),
        (torch.int64, False, True, (False, False)),
    ],
)
def test_default_implementation_on_the_cpu(dtype, differentiable, use_fused, expected):
    params = [torch.ones(2, dtype=dtype), None]
    found = public._default_to_fused_or_foreach(params, differentiable, use_fused)
    assert found == expected


class Recording(torch.optim.Optimizer):
    def __init__(self, differentiable):
        parameter = torch.ones(1, requires_grad=True)
        super().__init__([parameter], {"differentiable": differentiable})

    @public._use_grad_for_differentiable
    def step(self, closure=None):
        """One step."""
        return torch.is_grad_enabled()


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("differentiable", [True, False])
def test_a_step_is_recorded_if_it_is_differentiable(outside, differentiable):
    with torch.set_grad_enabled(outside):
        assert Recording(differentiable).step() is differentiable
        assert torch.is_grad_enabled() is outside
    assert (Recording.step.__name__, Recording.step.__doc__) == ("step", "One step.")


def test_complex_parameters_become_pairs_of_numbers_with_what_is_kept_of_them():
    params = [torch.tensor([1 + 2j]), torch.tensor([3.0])]
    kept = [torch.tensor([5j]), torch.tensor([4.0])]
    public._view_as_real(params, kept)
    assert [x.tolist() for x in params] == [[[1.0, 2.0]], [3.0]]
    assert [x.tolist() for x in kept] == [[[0.0, 5.0]], [4.0]]


def test_numbers_of_steps():
    assert public._get_value(torch.tensor(3.0)) == public._get_value(3.0) == 3.0
    assert public._get_scalar_dtype() is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert public._get_scalar_dtype() is torch.float64
        assert public._get_scalar_dtype(is_fused=True) is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
