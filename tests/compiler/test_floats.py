"""Floats among the arguments of compiled functions, which are others in each call."""

import math

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side


@side_by_side("numpy", "c")
def test_one_program_for_all_values(run):
    f = run.compile(lambda x, k: (x * k + (1 - k) ** 2).tanh() / (k + 1))
    g = run.compile(lambda x, k=0.5: x.clamp(max=k) + torch.add(x, x, alpha=k))
    h = run.compile(lambda x, k: (x * k, k))
    for i in range(6):
        k = 0.1 * i if i < 5 else float("nan")
        run.call(f, torch.randn(3), k)
        run.call(g, torch.randn(3), k=k)
        run.call(h, torch.randn(3), k)
    if run.backend:
        assert [len(each.entries) for each in (f, g, h)] == [1, 1, 1]


@side_by_side("numpy", "c")
def test_one_program_for_each_branch(run):
    f = run.compile(lambda x, k: x * k if k > 0.25 else x + k)
    for i in (0, 1, 2, 3, 4, 0, 4, 1):
        run.call(f, torch.randn(3), 0.1 * i)
    if run.backend:
        assert len(f.entries) == 2


@side_by_side("numpy", "c")
def test_steps_with_a_rate(run):
    p = nn.Parameter(torch.randn(4))

    def step(x, rate):
        p.grad = None
        loss = ((p * x).tanh() * rate).sum()
        loss.backward()
        with torch.no_grad():
            p.sub_(p.grad, alpha=rate)
        return loss.detach()

    f = run.compile(step)
    for i in range(6):
        run.call(f, torch.randn(4), 0.5**i)
        run.look(p)
    if run.backend:
        assert len(f.entries) == 1


@side_by_side("numpy", "c")
def test_gradients_through_functions_with_floats(run):
    f = run.compile(lambda x, k: (x * k).sin() * k)
    for i in range(6):
        x = torch.randn(3, requires_grad=True)
        y = run.call(f, x, 0.25 * i)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
        run.look(x)


@side_by_side("numpy", "c")
def test_sixteen_bits(run):
    f = run.compile(lambda x, k: (x * k, x / (k + 1), x + k))
    for dtype in (torch.float16, torch.bfloat16):
        for i in range(5):
            run.call(f, torch.linspace(0.1, 3, 5).to(dtype), 0.1 + 0.15 * i)


@side_by_side()
def test_what_cannot_be_recorded_is_a_program_for_each_value(run):
    f = run.compile(lambda x, k: x * math.sqrt(k))
    g = run.compile(lambda x, k: x * (2 if type(k) is float else k))
    h = run.compile(lambda x, k: x * k)
    for i in range(5):
        run.call(f, torch.ones(2), 0.5 * i)
        run.call(g, torch.ones(2), 0.5 * i)
        run.call(h, torch.ones(2), (i, 0.5 * i, True, None, "a")[i])  # and of other kinds
    if run.backend:
        assert not f.why_not and len(f.entries) > 2
