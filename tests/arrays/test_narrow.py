"""Numbers of 16 bits: operators and rules count and add up in float32."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.nn import functional as F

N = 65536  # more than float16 can count


@pytest.fixture(params=[torch.float16, torch.bfloat16], ids=str)
def ones(request):
    return torch.ones(256, 256).to(request.param).requires_grad_()


LOSSES = {
    "mse_loss": 2 / N,
    "l1_loss": 1 / N,
    "smooth_l1_loss": 1 / N,
    "huber_loss": 1 / N,
    "binary_cross_entropy_with_logits": 0.7310585786300049 / N,
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_many_elements(ones, name):
    getattr(F, name)(ones, torch.zeros_like(ones)).backward()
    assert ones.grad.dtype is ones.dtype
    assert ones.grad[3, 5].item() == pytest.approx(LOSSES[name], rel=0.005)


MEANS = {
    "mean": lambda x: x.mean(),
    "mean over dimensions": lambda x: x.mean((0, 1), keepdim=True).sum(),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x.reshape(1, 1, -1), 1).sum(),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x[None], 1).sum(),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x[None, None], 1).sum(),
    "interpolate": lambda x: F.interpolate(x[None, None], size=1, mode="area").sum(),
    "nanmean": lambda x: x.mul(0.5).nanmean() * 2,
    "twice differentiated": lambda x: torch.autograd.functional.jvp(
        lambda x: x.mean(), x, x, create_graph=True
    )[1],
    "under vmap": lambda x: torch.func.vmap(lambda x: x.mean())(x[None])[0],
}


@pytest.mark.parametrize("name", MEANS)
def test_means_of_many_elements(ones, name):
    y = MEANS[name](ones)
    y.backward()
    assert y.item() == 1
    assert ones.grad[3, 5].item() == pytest.approx(1 / N, rel=0.005)


@pytest.mark.parametrize("over", [{}, {"dim": (0, 1)}])
def test_variances_of_many_elements(ones, over):
    x = (torch.arange(N).reshape(256, 256) % 7).to(ones.dtype).requires_grad_()
    exact = x.detach().double().requires_grad_()
    for name in ("var", "std"):
        for each in (x, exact):
            getattr(each, name)(**over).backward()
    assert x.var().item() == pytest.approx(exact.var().item(), rel=0.005)
    np.testing.assert_allclose(x.grad.double(), exact.grad, rtol=0.02, atol=2e-6)


@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "batch_norm"])
def test_normalising_many_elements(ones, name):
    x = (torch.arange(N) % 7).to(ones.dtype)
    y = {
        "layer_norm": lambda: F.layer_norm(x, x.shape),
        "group_norm": lambda: F.group_norm(x.reshape(1, 4, -1), 1),
        "batch_norm": lambda: F.batch_norm(x.reshape(-1, 1), None, None, training=True),
    }[name]()
    exact = F.layer_norm(x.double(), x.shape)
    np.testing.assert_allclose(y.reshape(-1).double(), exact, rtol=0.01, atol=0.01)


def test_the_gradient_of_what_is_broadcast_is_added_up_in_float32(ones):
    bias = torch.ones(2, dtype=ones.dtype, requires_grad=True)
    (torch.ones(70000, 2, dtype=ones.dtype) + bias).mul(0.1).sum(dtype=torch.float32).backward()
    assert bias.grad.tolist() == pytest.approx([7000, 7000], rel=0.01)
    one = torch.ones(1, dtype=ones.dtype, requires_grad=True)
    one.expand(70000).mul(0.1).sum(dtype=torch.float32).backward()
    assert one.grad.item() == pytest.approx(7000, rel=0.01)


def test_autocast_leaves_weights_their_gradient():
    weight = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        y = F.linear(torch.ones(80000, 1), weight).mean()
    y.backward()
    assert weight.grad.item() == pytest.approx(1, rel=0.005)


# --- numbers beside tensors -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [70000.0, torch.tensor(70000.0), torch.tensor(70000)])
def test_factors_and_divisors_are_not_rounded(number):
    x = torch.ones(3).half()
    for y in (x / number, x.clone().div_(number), torch.true_divide(x, number)):
        assert y.dtype is torch.float16
        assert y.tolist() == pytest.approx([1 / 70000] * 3, rel=0.005)
    assert (x * 1e-3 * number).tolist() == [70.0] * 3


def test_terms_are_rounded_to_sixteen_bits_first():
    x = torch.full((3,), 0.046875).half()
    tenth = torch.tensor(0.1).half().item()
    assert (x - 0.1).tolist() == [0.046875 - tenth] * 3
    assert torch.add(x, x, alpha=0.1).tolist() == torch.add(x, x, alpha=tenth).tolist()
    assert (torch.tensor([-1.7]).bfloat16() == -1.7).item()


def test_nextafter_is_of_sixteen_bits():
    x = torch.ones(1).half()
    for other in (torch.full((1,), 2.0).half(), torch.tensor(2.0)):
        assert torch.nextafter(x, other).item() == 1 + 2**-10
