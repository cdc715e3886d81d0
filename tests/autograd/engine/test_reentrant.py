"""Backward passes that run within one another."""

import pytest

import tapegrad as torch


class Countdown(torch.autograd.Function):
    """Its backward runs another backward pass, until the number is negative."""

    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        return ctx.x.detach()

    @staticmethod
    def backward(ctx, g):
        if ctx.x < 0:
            return g
        with torch.enable_grad():
            Countdown.apply(ctx.x).sum().backward()
        return g


def test_thousands_of_passes_within_one_another():
    x = torch.tensor(2000.0, requires_grad=True)
    Countdown.apply(x).sum().backward()
    assert x.grad.item() == 1


def test_an_error_deep_inside_reaches_the_caller():
    class Fails(Countdown):
        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                raise ValueError("at the bottom")
            with torch.enable_grad():
                Fails.apply(ctx.x).sum().backward()
            return g

    with pytest.raises(ValueError, match="at the bottom"):
        Fails.apply(torch.tensor(100.0, requires_grad=True)).sum().backward()


def test_modes_reach_passes_deep_inside():
    seen = []

    class Looks(Countdown):
        @staticmethod
        def backward(ctx, g):
            seen.append(torch.is_grad_enabled())
            if ctx.x >= 0:
                with torch.enable_grad():
                    Looks.apply(ctx.x).sum().backward()
            return g

    with torch.no_grad():
        x = torch.tensor(40.0, requires_grad=True)
        with torch.enable_grad():
            y = Looks.apply(x).sum()
        y.backward()
    assert len(seen) > 40 and not any(seen)
