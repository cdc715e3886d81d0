"""Random programs of operators, views and writes: values, errors and gradients as in PyTorch."""

import random

import numpy as np
import pytest

import tapegrad
from tests.tiers import rounds


def nothing(written):
    """A write gives no new tensor."""


def write_first(x, y):
    x[0] = y


def write_column(x, y):
    x[:, 0] = 2.0


# Each takes two tensors and gives new ones, or nothing where it writes.
STEPS = {
    "sine": lambda t, x, y: [x.sin()],
    "tanh": lambda t, x, y: [x.tanh()],
    "relu": lambda t, x, y: [x.relu()],
    "softmax": lambda t, x, y: [x.softmax(0)],
    "sum": lambda t, x, y: [x.sum(0)],
    "cumsum": lambda t, x, y: [x.cumsum(0)],
    "largest": lambda t, x, y: [x.max(0)[0]],
    "sorted": lambda t, x, y: [x.sort(0)[0]],
    "cast": lambda t, x, y: [x.float()],
    "detached": lambda t, x, y: [x.detach()],
    "copied": lambda t, x, y: [x.clone()],
    "flipped": lambda t, x, y: [x.flip(0)],
    "flat": lambda t, x, y: [x.reshape(-1)],
    "turned": lambda t, x, y: [x.t()],
    "first": lambda t, x, y: [x[0]],
    "rest": lambda t, x, y: [x[1:]],
    "expanded": lambda t, x, y: [x.expand(2, *x.shape)],
    "parts": lambda t, x, y: list(x.unbind(0))[:2],
    "halves": lambda t, x, y: list(x.chunk(2, 0)),
    "twice the first": lambda t, x, y: [x[t.tensor([0, 0])]],
    "masked": lambda t, x, y: [x[x > 0]],
    "added": lambda t, x, y: [x + y],
    "multiplied": lambda t, x, y: [x * y],
    "divided": lambda t, x, y: [x / (y.abs() + 1)],
    "larger": lambda t, x, y: [t.maximum(x, y)],
    "chosen": lambda t, x, y: [t.where(x > 0, x, y)],
    "joined": lambda t, x, y: [t.cat([x, y])],
    "stacked": lambda t, x, y: [t.stack([x, x * 2])],
    "add in place": lambda t, x, y: nothing(x.add_(y)),
    "multiply in place": lambda t, x, y: nothing(x.mul_(y)),
    "sine in place": lambda t, x, y: nothing(x.sin_()),
    "tanh in place": lambda t, x, y: nothing(x.tanh_()),
    "write first": lambda t, x, y: write_first(x, y),
    "write column": lambda t, x, y: write_column(x, y),
    "triple the rest": lambda t, x, y: nothing(x[1:].mul_(3)),
    "sine of a column": lambda t, x, y: nothing(x[..., 0].sin_()),
    "multiply turned": lambda t, x, y: nothing(x.t().mul_(y)),
    "multiply a part": lambda t, x, y: nothing(x.unbind(0)[0].mul_(2)),
    "multiply a view of a view": lambda t, x, y: nothing(x.view(-1)[::2][:1].mul_(y.sum())),
}


def run(torch, seed):
    """What a program of random steps gives, and what went wrong on the way."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    shapes = [(2, 3), (3,), (3, 3)]
    leaves = [torch.tensor(numbers.uniform(-2, 2, s), requires_grad=True) for s in shapes]
    pool = [x * 1 for x in leaves] + [leaves[0], torch.tensor(numbers.uniform(-2, 2, (2, 3)))]
    log, failures = [], []
    for i in range(4 + seed % 13):
        name = choose.choice(list(STEPS))
        a, b = choose.randrange(len(pool)), choose.randrange(len(pool))
        log.append((name, a, b))
        try:
            pool += [x for x in STEPS[name](torch, pool[a], pool[b]) or () if x.numel() < 200]
        except (RuntimeError, IndexError):  # which of the two depends on what is looked at first
            failures.append(i)
        pool = pool[:5] + pool[5:][-9:]
    values, roots = [], []
    for x in pool:
        values.append(x.detach().numpy(force=True).copy())
        try:
            if x.requires_grad:
                roots.append(x)
        except RuntimeError as error:
            failures.append(str(error)[:40])
    ones = [torch.ones_like(x) for x in roots]
    targets = [*leaves, *roots[:3]]
    try:
        found = torch.autograd.grad(
            roots, targets, ones, allow_unused=True, create_graph=seed % 2 == 0
        )
        again = [(g * g).sum() for g in found if g is not None and g.requires_grad]
        if again:
            found += torch.autograd.grad(again, leaves, materialize_grads=True)
    except Exception as error:
        return log, failures, values, f"{type(error).__name__}: {str(error)[:90]}"
    return log, failures, values, [None if g is None else g.detach().numpy() for g in found]


@pytest.mark.parametrize("block", range(rounds(8, 200)))
def test_random_programs_agree(pytorch, block):
    for seed in range(50 * block, 50 * block + 50):
        log, failures, values, found = run(tapegrad, seed)
        _, their_failures, their_values, their_found = run(pytorch, seed)
        assert failures == their_failures, (seed, log)
        for got, want in zip(values, their_values, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"{seed} {log}")
        if isinstance(their_found, str) or isinstance(found, str):
            assert found == their_found, (seed, log)
            continue
        for got, want in zip(found, their_found, strict=False):
            if got is None or want is None:
                other = want if got is None else got
                assert other is None or not np.any(other), (seed, log)
                continue
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-8, err_msg=f"{seed} {log}")
