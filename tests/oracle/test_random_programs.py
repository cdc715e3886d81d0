"""Random programs of operators, views and writes: values, errors and gradients as in PyTorch."""

import random

import numpy as np
import pytest

import tapegrad
from tests.tiers import rounds


def nothing(written):
    """A write gives no new tensor."""


def read_first(x, y):
    """What `x` takes in place: a copy where PyTorch may read what it has just written.

    It refuses operands that lie partly in that memory where both are without holes, else it does
    not look.
    """
    apart = x is y or x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()
    return y if apart or (is_dense(x) and is_dense(y)) else y.clone()


def is_dense(x):
    return x.is_contiguous() or (x.ndim == 2 and x.t().is_contiguous())


def write_first(x, y):
    x[0] = read_first(x, y)


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
    "add in place": lambda t, x, y: nothing(x.add_(read_first(x, y))),
    "multiply in place": lambda t, x, y: nothing(x.mul_(read_first(x, y))),
    "sine in place": lambda t, x, y: nothing(x.sin_()),
    "tanh in place": lambda t, x, y: nothing(x.tanh_()),
    "write first": lambda t, x, y: write_first(x, y),
    "write column": lambda t, x, y: write_column(x, y),
    "triple the rest": lambda t, x, y: nothing(x[1:].mul_(3)),
    "sine of a column": lambda t, x, y: nothing(x[..., 0].sin_()),
    "multiply turned": lambda t, x, y: nothing(x.t().mul_(read_first(x.t(), y))),
    "multiply a part": lambda t, x, y: nothing(x.unbind(0)[0].mul_(2)),
    "multiply a view of a view": lambda t, x, y: nothing(x.view(-1)[::2][:1].mul_(y.sum())),
}


def run(torch, seed, asked=False):
    """What a program of random steps gives, and what went wrong on the way.

    `asked`: before each step every tensor is asked for its node.
    """
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    shapes = [(2, 3), (3,), (3, 3)]
    leaves = [torch.tensor(numbers.uniform(-2, 2, s), requires_grad=True) for s in shapes]
    pool = [x * 1 for x in leaves] + [leaves[0], torch.tensor(numbers.uniform(-2, 2, (2, 3)))]
    log, failures = [], []
    kept = []  # what an error says of a tensor may depend on whether somebody still has it
    for i in range(4 + seed % 13):
        name = choose.choice(list(STEPS))
        a, b = choose.randrange(len(pool)), choose.randrange(len(pool))
        log.append((name, a, b))
        if asked:
            nodes_of(pool)
        try:
            pool += [x for x in STEPS[name](torch, pool[a], pool[b]) or () if x.numel() < 200]
        except (RuntimeError, IndexError):  # which of the two depends on what is looked at first
            failures.append(i)
        kept += pool
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


def nodes_of(pool):
    for x in pool:
        try:
            x.grad_fn  # noqa: B018
        except RuntimeError:  # of a view that may not be written
            pass


def largest(values, found):
    """The largest absolute value of a program's results and gradients, 1 at least."""
    arrays = [*values, *(g for g in (found if isinstance(found, list) else ()) if g is not None)]
    return max([1.0, *(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in arrays)])


@pytest.mark.parametrize("block", range(rounds(8, 200)))
def test_random_programs_agree(pytorch, block):
    for seed in range(50 * block, 50 * block + 50):
        log, failures, values, found = run(tapegrad, seed)
        _, their_failures, their_values, their_found = run(pytorch, seed)
        if failures != their_failures:
            # PyTorch takes a view for a leaf whose base was written with a gradient after the view
            # was made, and refuses to write to it, until somebody has asked for its node
            log, failures, values, found = run(tapegrad, seed, asked=True)
            _, their_failures, their_values, their_found = run(pytorch, seed, asked=True)
        assert failures == their_failures, (seed, log)
        rounded = 0.0  # in float32, of numbers as large as the largest, which may cancel
        if any(name == "cast" for name, _, _ in log):
            rounded = 16 * np.finfo(np.float32).eps * largest(their_values, their_found)
        for got, want in zip(values, their_values, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, 1e-6, rounded, err_msg=f"{seed} {log}")
        if isinstance(their_found, str) or isinstance(found, str):
            assert found == their_found, (seed, log)
            continue
        for got, want in zip(found, their_found, strict=False):
            if got is None or want is None:
                other = want if got is None else got
                assert other is None or not np.any(other), (seed, log)
                continue
            np.testing.assert_allclose(got, want, 1e-5, max(rounded, 1e-8), err_msg=f"{seed} {log}")
