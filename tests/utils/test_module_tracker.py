"""In which modules a program is: forward, backward, after errors."""

import pytest

import tapegrad
from tapegrad.utils.module_tracker import ModuleTracker
from tests.needs import pytorch


def visited(torch, tracker):
    """What `parents` is where functions inside nested modules run."""
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            seen.append((name, sorted(tracker.parents), tracker.is_bw))
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append((ctx.name, sorted(tracker.parents), tracker.is_bw))
            return g, None

    class Block(torch.nn.Module):
        def __init__(self, name, *inner):
            super().__init__()
            self.name = name
            self.linear = torch.nn.Linear(2, 2)
            self.inner = torch.nn.ModuleList(inner)

        def forward(self, x):
            x = self.linear(Look.apply(x, self.name))
            for each in self.inner:
                x = each(x)
            return Look.apply(x, self.name + "'")

    model = Block("a", Block("b"), Block("c", Block("d")))
    with tracker:
        model(torch.ones(2)).sum().backward()
        model(torch.ones(2, requires_grad=True)).sum().backward()
        model.inner[0](torch.ones(2))
        again = Block("e")
        again(torch.ones(2))
        torch.nn.Sequential(again)(torch.ones(2))
        with torch.no_grad():
            model(torch.ones(2))
        seen.append(sorted(tracker.parents))
    model(torch.ones(2))
    return seen


def test_modules_are_those_of_pytorch():
    torch = pytorch()
    from torch.utils.module_tracker import ModuleTracker as Theirs

    assert visited(tapegrad, ModuleTracker()) == visited(torch, Theirs())


def test_backward_passes_leave_nothing_behind():
    tracker = ModuleTracker()
    model = tapegrad.nn.Sequential(tapegrad.nn.Linear(2, 2))
    inside = []
    with tracker:
        y = model(tapegrad.ones(2, requires_grad=True))
        y.register_hook(lambda g: inside.append((set(tracker.parents), tracker.is_bw)))
        y.sum().backward()
        assert tracker.parents == {"Global"} and not tracker.is_bw
    assert inside == [({"Global", "Sequential", "Sequential.0"}, True)]


def test_after_the_block_modules_are_not_followed():
    tracker = ModuleTracker()
    model = tapegrad.nn.Identity()
    with tracker:
        pass
    model.register_forward_pre_hook(lambda *_: pytest.fail() if len(tracker.parents) > 1 else None)
    model(tapegrad.ones(2))
    assert tracker.parents == {"Global"}
