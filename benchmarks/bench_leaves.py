"""Leaves rather than operators: what making one costs, and giving it its gradient."""

import bench_compile
from row import TORCH, Row, ratio

N = 1_000
ROUNDS = 10  # graphs of a thousand leaves in a sample


def leaves(torch):
    step = bench_compile.leaves(torch)

    def steps():
        for _ in range(N):
            step()

    return steps


def many_leaves(torch):
    """A sum of a thousand products, each with a leaf of its own."""
    torch.manual_seed(0)
    xs = [torch.randn(3) for _ in range(N)]
    ws = [torch.randn(3, requires_grad=True) for _ in range(N)]

    def step():
        for _ in range(ROUNDS):
            total = xs[0] * ws[0]
            for x, w in zip(xs[1:], ws[1:], strict=True):
                total = total + x * w
            total.sum().backward()
            for w in ws:
                w.grad = None

    return step


ROWS = [
    Row(
        "leaves",
        "three operators on two leaves made in the step, 3 elements, forward and backward",
        leaves,
        count=N,
        per="step",
        bounds=(ratio(TORCH, 0.42),),
    ),
    Row(
        "many_leaves",
        "a sum of 1,000 products with 1,000 leaves, 3 elements, forward and backward",
        many_leaves,
        count=ROUNDS * N,
        per="leaf",
        bounds=(ratio(TORCH, 0.45),),
    ),
]
