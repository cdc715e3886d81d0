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


def test_tensors_are_grouped_with_what_belongs_to_them():
    a, b, c = torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)
    steps = [torch.tensor(0.0), torch.tensor(1.0), torch.tensor(2.0)]
    group = torch.optim.Optimizer._group_tensors_by_device_and_dtype
    found = group([[a, b, c], [None] * 3, [], steps], with_indices=True)
    cpu = torch.device("cpu")
    assert found.keys() == {(cpu, torch.float32), (cpu, torch.float64)}
    (params, grads, none, counts), indices = found[cpu, torch.float32]
    assert params[0] is a
    assert params[1] is c
    assert (grads, none, indices) == ([None, None], [], [0, 2])
    assert counts[0] is steps[0]
    assert counts[1] is steps[2]
    lists, indices = group([[b]])[cpu, torch.float64]
    assert lists[0][0] is b
    assert indices == []


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "one length"),
        ([[]], "one length"),
        ([["a"], ["a", "a"]], "one length"),
        ([["none"]], "the 0-th Tensor is not"),
        ([["a"], ["half"]], "must be on the same device and the same dtype"),
    ],
)
def test_tensors_that_do_not_belong_together_are_refused(lists, message):
    named = {"a": torch.ones(1), "half": torch.ones(1).half(), "none": None}
    given = [[named[name] for name in each] for each in lists]
    with pytest.raises(RuntimeError, match=message):
        torch.optim.Optimizer._group_tensors_by_device_and_dtype(given)


def test_what_published_optimizers_import_is_there():
    from tapegrad.optim import optimizer

    for name in ("params", "foreach", "fused", "capturable", "differentiable", "maximize"):
        assert getattr(optimizer, f"_{name}_doc").split()[0] == name
    assert optimizer._disable_dynamo_if_unsupported(single_tensor_fn=len)(max) is max
    assert optimizer._to_scalar(torch.tensor([2.0])).shape == () and optimizer._to_scalar(3) == 3
    assert "cuda" in optimizer._get_foreach_kernels_supported_devices()
