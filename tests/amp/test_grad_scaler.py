"""GradScaler: scaling, unscaling, steps that are left out, the scale, saving. PyTorch's answers."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad.amp import GradScaler


def problem():
    weight = torch.ones(2, requires_grad=True)
    return weight, torch.optim.SGD([weight], lr=0.1)


def iteration(scaler, weight, optimizer):
    optimizer.zero_grad()
    scaler.scale((weight * 2).sum()).backward()


def test_an_iteration():
    weight, optimizer = problem()
    scaler = GradScaler("cpu")
    loss = scaler.scale((weight * 2).sum())
    assert loss.item() == 262144
    loss.backward()
    assert weight.grad.tolist() == [131072, 131072]
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [2, 2]
    assert scaler.step(optimizer) is None
    scaler.update()
    assert weight.tolist() == pytest.approx([0.8, 0.8])
    assert scaler.state_dict() == {
        "scale": 65536.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2000,
        "_growth_tracker": 1,
    }


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_a_bad_gradient_leaves_the_step_out_and_lowers_the_scale(bad):
    weight, optimizer = problem()
    scaler = GradScaler("cpu")
    iteration(scaler, weight, optimizer)
    weight.grad[0] = bad
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1, 1]
    assert scaler.get_scale() == 32768
    assert scaler.state_dict()["_growth_tracker"] == 0


def test_the_scale_rises_after_good_steps():
    weight, optimizer = problem()
    scaler = GradScaler("cpu", init_scale=4.0, growth_interval=2)
    found = []
    for _ in range(5):
        iteration(scaler, weight, optimizer)
        scaler.step(optimizer)
        scaler.update()
        found.append((scaler.get_scale(), scaler._get_growth_tracker()))
    assert found == [(4.0, 1), (8.0, 0), (8.0, 1), (16.0, 0), (16.0, 1)]


def test_the_scale_stays_finite():
    weight, optimizer = problem()
    scaler = GradScaler("cpu", init_scale=3e38, growth_interval=1)
    scaler.scale((weight * 1e-30).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 3.0000000054977558e38


def test_one_bad_optimizer_lowers_the_scale_of_all():
    weight, optimizer = problem()
    other, second = problem()
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale((weight * other).sum()).backward()
    other.grad[0] = float("nan")
    scaler.step(optimizer)
    scaler.step(second)
    scaler.update()
    assert scaler.get_scale() == 2
    assert weight.tolist() == pytest.approx([0.9, 0.9])
    assert other.tolist() == [1, 1]


def test_a_new_scale_can_be_given():
    weight, optimizer = problem()
    scaler = GradScaler("cpu")
    iteration(scaler, weight, optimizer)
    scaler.update(8.0)
    assert scaler.get_scale() == 8
    scaler.update(torch.tensor(3.0))
    assert scaler.get_scale() == 3
    for wrong in (torch.ones(2), torch.ones(1, requires_grad=True)):
        with pytest.raises(AssertionError, match="new_scale should be a float or a 1-element"):
            scaler.update(wrong)


def test_what_step_returns_is_handed_on():
    class Counting(torch.optim.SGD):
        def step(self, *args, **kwargs):
            super().step(*args, **kwargs)
            return "stepped"

    weight, _ = problem()
    optimizer = Counting([weight], lr=0.1)
    scaler = GradScaler("cpu")
    iteration(scaler, weight, optimizer)
    assert scaler.step(optimizer) == "stepped"


def test_optimizers_may_take_the_scale_themselves():
    seen = []

    class Scaling(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((self.grad_scale.item(), self.found_inf.item()))

    weight, _ = problem()
    optimizer = Scaling([weight], lr=0.1)
    scaler = GradScaler("cpu", init_scale=2.0)
    iteration(scaler, weight, optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert seen == [(2.0, 0.0)]
    assert not hasattr(optimizer, "grad_scale")


def test_nested_outputs_are_scaled_alike():
    x = torch.ones(2)
    scaler = GradScaler("cpu", init_scale=2.0)
    found = scaler.scale([x, (x, x.double())])
    assert type(found) is list and type(found[1]) is tuple
    assert found[1][1].dtype is torch.float64 and found[1][1].tolist() == [2, 2]
    assert scaler.scale(x.bfloat16()).dtype is torch.bfloat16
    assert next(iter(scaler.scale(each for each in [x]))).tolist() == [2, 2]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)


def test_errors_of_order():
    weight, optimizer = problem()
    scaler = GradScaler("cpu")
    for call in (lambda: scaler.step(optimizer), scaler.update, lambda: scaler.unscale_(optimizer)):
        with pytest.raises(AssertionError, match=r"^Attempted \w+ but _scale is None\.  This may"):
            call()
    iteration(scaler, weight, optimizer)
    with pytest.raises(AssertionError, match=r"No inf checks were recorded prior to update."):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="has already been called on this optimizer since"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="only be pickled at the beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"^step\(\) has already been called since the last"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"^unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    with pytest.raises(RuntimeError, match=r"^Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 1)
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match=r"^No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)


def test_gradients_of_float16_are_refused():
    weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = GradScaler("cpu", init_scale=2.0)
    scaler.scale(weight.sum()).backward()
    with pytest.raises(ValueError, match=r"Attempting to unscale FP16 gradients."):
        scaler.step(optimizer)
    assert weight.tolist() == [1, 1]


def test_settings_and_their_bounds():
    with pytest.raises(AssertionError, match=r"The growth factor must be > 1.0."):
        GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match=r"The backoff factor must be < 1.0."):
        GradScaler("cpu", backoff_factor=1.0)
    scaler = GradScaler("cpu")
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.3)
    scaler.set_growth_interval(7)
    found = scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()
    assert found == (3.0, 0.3, 7)


def test_state_goes_to_another_scaler():
    weight, optimizer = problem()
    scaler = GradScaler("cpu", init_scale=8.0)
    iteration(scaler, weight, optimizer)
    scaler.step(optimizer)
    scaler.update()
    fresh = GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.state_dict() == scaler.state_dict()
    for again in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert again.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match=r"^The source state dict is empty, possibly because it"):
        fresh.load_state_dict({})
    with pytest.raises(KeyError, match="growth_factor"):
        fresh.load_state_dict({"scale": 2.0})
    assert fresh.get_scale() == 8


def test_a_disabled_scaler_only_steps():
    weight, optimizer = problem()
    scaler = GradScaler("cpu", enabled=False)
    assert scaler.scale(weight) is weight
    weight.sum().backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == pytest.approx([0.9, 0.9])
    assert (scaler.state_dict(), scaler.get_scale(), scaler.is_enabled()) == ({}, 1.0, False)
    scaler.load_state_dict({})


def test_on_a_gpu_that_is_not_there_it_is_disabled():
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        assert not GradScaler().is_enabled()
