"""Compiled functions in inference mode: programs of their own, and inference tensors."""

import types

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side


@side_by_side("numpy", "c")
def test_results_are_inference_tensors(run):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh())
    f = run.compile(model)
    for _ in range(4):
        with torch.inference_mode():
            inside = torch.randn(5, 3)
            y = f(inside)
        assert y.is_inference() and not model[0].weight.is_inference()
        run.look(y, model)
        run.call(lambda y=y: y.add_(1))  # outside of the mode: an error
        model.zero_grad()
        f(torch.randn(5, 3)).sum().backward()
        run.look(model)
        with torch.no_grad():
            run.look(f(torch.randn(5, 3)))


@side_by_side("numpy")
def test_parts_and_arguments_among_the_results(run):
    f = run.compile(lambda x, w: ((y := x * w), y[0], w, x))
    w = torch.randn(3)
    for _ in range(4):
        with torch.inference_mode():
            x = torch.randn(2, 3)
            found = f(x, w)
            found[1].zero_()
            run.look(found)
        assert [y.is_inference() for y in found] == [True, True, False, True]


@side_by_side("numpy")
def test_tensors_of_the_mode_that_are_written(run):
    with torch.inference_mode():
        kept = torch.zeros(2, 3)

    def f(x):
        kept[0] += x.mul_(2)
        return x + 1

    f = run.compile(f, fullgraph=True)
    for i in range(6):
        ordinary = torch.ones(3)
        with torch.inference_mode():
            x = ordinary if i > 3 else torch.ones(3)
            run.look(f(x), x, kept)
        assert x.is_inference() == (i <= 3) and kept.is_inference()


@side_by_side("numpy")
def test_with_autocast(run):
    model = nn.Linear(3, 4)
    f = run.compile(model)
    for _ in range(4):
        for mode in (torch.inference_mode, torch.no_grad):
            with mode(), torch.autocast("cpu"):
                y = f(torch.ones(2, 3))
            assert y.is_inference() == (mode is torch.inference_mode)
            run.look(y)


@side_by_side(programs=None)
def test_what_inference_mode_leaves_behind_is_of_it(run):
    kept = types.SimpleNamespace(mean=None, part=None, fails=False)

    def noted(x):
        y = x * 2
        kept.mean, kept.part = y.mean(0), x.detach()  # a part of a tensor that counts its writes
        if kept.fails:
            raise ValueError
        return y

    for fails in (False, True):
        f = run.compile(noted)
        kept.fails = fails
        for _ in range(3):
            x = torch.ones(3, 2)
            with torch.inference_mode():
                run.call(f, x)
            run.look([x.is_inference() for x in (kept.mean, kept.part)])
