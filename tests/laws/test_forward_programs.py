"""Random programs of operators, views and writes: tangents equal differences of the values."""

import random

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tapegrad.func import jvp

STEP = 1e-6
SHAPES = [(2, 3), (3,), (3, 3)]


def nothing(written):
    """A write gives no new tensor."""


def write(x, index, y):
    x[index] = y


# Each takes two tensors and gives new ones, or nothing where it writes.
STEPS = [
    lambda x, y: [x.sin()],
    lambda x, y: [x.relu()],
    lambda x, y: [x.softmax(-1)],
    lambda x, y: [x.sum(0)],
    lambda x, y: [x.cumsum(0)],
    lambda x, y: [x.sort(0)[0]],
    lambda x, y: [x.reshape(-1)],
    lambda x, y: [x.t()],
    lambda x, y: [x[1:]],
    lambda x, y: [x.expand(2, *x.shape)],
    lambda x, y: list(x.unbind(0))[:2],
    lambda x, y: [x[torch.tensor([0, 0])]],
    lambda x, y: [x * y],
    lambda x, y: [x / (y.abs() + 1)],
    lambda x, y: [torch.maximum(x, y)],
    lambda x, y: [torch.cat([x, y])],
    lambda x, y: [x @ y.t()],
    lambda x, y: nothing(x.add_(y)),
    lambda x, y: nothing(x.mul_(y)),
    lambda x, y: nothing(x.tanh_()),
    lambda x, y: nothing(x.t_()),
    lambda x, y: nothing(x.copy_(y)),
    lambda x, y: write(x, 0, y),
    lambda x, y: write(x, (..., 0), 2.0),
    lambda x, y: write(x, x > 0.5, 1.5),
    lambda x, y: nothing(x[1:].mul_(3)),
    lambda x, y: nothing(x[:1].zero_()),
    lambda x, y: nothing(x[..., 0].sin_()),
    lambda x, y: nothing(x.t().mul_(y)),
    lambda x, y: nothing(x.view(-1)[::2][:1].mul_(y.sum())),
]


def run(seed, inputs):
    """The tensors that a program of random steps leaves, and which steps failed."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    pool = [x * 1 for x in inputs] + [torch.tensor(numbers.uniform(-2, 2, s)) for s in SHAPES[:2]]
    failures = []
    for i in range(4 + seed % 13):
        step = choose.choice(STEPS)
        a, b = choose.randrange(len(pool)), choose.randrange(len(pool))
        try:
            pool += [x for x in step(pool[a], pool[b]) or () if x.numel() < 200]
        except (RuntimeError, IndexError):
            failures.append(i)
        pool = pool[:5] + pool[5:][-9:]
    return pool, failures


def tensors(arrays, requires_grad=False):
    return [torch.tensor(a, requires_grad=requires_grad) for a in arrays]


def difference(function, arrays, directions):
    """Central differences of what `function` gives; None where it does not behave smoothly."""
    (up, failed), (down, failed_too) = (
        function(tensors([a + sign * STEP * d for a, d in zip(arrays, directions, strict=True)]))
        for sign in (1, -1)
    )
    if failed != failed_too or [x.shape for x in up] != [x.shape for x in down]:
        return None, failed
    found = [(x.numpy() - y.numpy()) / (2 * STEP) for x, y in zip(up, down, strict=True)]
    return (None if any(np.abs(d).max(initial=0) > 1e3 for d in found) else found), failed


def drawn(seed):
    numbers = np.random.default_rng(seed + 1)
    return [[numbers.uniform(-2, 2, s) for s in SHAPES] for _ in range(3)]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tangents_equal_differences(requires_grad):
    compared = 0
    for seed in range(150):
        xs, ts, _ = drawn(seed)
        want, failed = difference(lambda leaves, seed=seed: run(seed, leaves), xs, ts)
        if want is None:
            continue
        with dual_level():
            primals = tensors(xs, requires_grad)
            pool, failures = run(seed, map(make_dual, primals, tensors(ts)))
            if failures != failed:  # writes that recording forbids
                assert requires_grad, seed
                continue
            for x, expected in zip(pool, want, strict=True):
                try:
                    t = unpack_dual(x).tangent
                except RuntimeError as error:  # a view that a later write made unusable
                    assert requires_grad and "view" in str(error)
                    continue
                got = np.zeros(x.shape) if t is None else t.detach().numpy()
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4, err_msg=f"{seed}")
                compared += 1
    assert compared > 500


def test_tangents_of_tangents_equal_differences_of_tangents():
    compared = 0
    for seed in range(60):
        xs, ts, us = drawn(seed)

        def first(leaves, seed=seed, ts=ts):
            outs, t = jvp(
                lambda *duals: tuple([x * 1 for x in run(seed, duals)[0]]),
                tuple(leaves),
                tuple(tensors(ts)),
            )
            return t, [x.shape for x in outs]

        want, _ = difference(first, xs, us)
        if want is None:
            continue
        _, got = jvp(lambda *leaves: first(leaves)[0], tuple(tensors(xs)), tuple(tensors(us)))
        for t, expected in zip(got, want, strict=True):
            np.testing.assert_allclose(t.numpy(), expected, rtol=1e-3, atol=1e-3, err_msg=f"{seed}")
            compared += 1
    assert compared > 200
