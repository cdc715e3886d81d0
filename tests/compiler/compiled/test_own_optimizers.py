"""Optimizers with a step of the program's own, compiled: options and attributes that it reads."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side

F = nn.functional
schedules = torch.optim.lr_scheduler


class Signs(torch.optim.Optimizer):
    """Steps of one length, that of the option `lr` times that of an attribute."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr, "betas": (0.9, 0.99)})
        self.factor = 1.0

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta = group["betas"][0]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].lerp_(p.grad, 1 - beta)
                p.add_(state["mean"].sign(), alpha=-self.factor * group["lr"])


def step_of(model, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def batch():
    return torch.randn(5, 3), torch.randn(5, 1)


@side_by_side()
@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
def test_a_schedule_of_an_optimizer_of_ones_own(run):
    model = nn.Linear(3, 1)
    optimizer = Signs(model.parameters())
    schedule = schedules.ExponentialLR(optimizer, 0.8)
    f = run.compile(step_of(model, optimizer))
    for i in range(12):
        run.call(f, *batch())
        if i % 2:
            schedule.step()
        run.look(model)


@side_by_side()
def test_options_and_attributes_that_are_changed_between_steps(run):
    model = nn.Linear(3, 1)
    optimizer = Signs(model.parameters())
    f = run.compile(step_of(model, optimizer))
    for i in range(12):
        run.call(f, *batch())
        if i == 4:
            optimizer.factor = 0.5
        if i == 7:
            optimizer.param_groups[0]["betas"] = (0.5, 0.99)
        run.look(model)


@side_by_side()
def test_a_rate_that_the_function_itself_reads(run):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def rated(x, y):
        rate = optimizer.param_groups[0]["lr"]
        return F.mse_loss(model(x), y) * rate, rate

    f = run.compile(rated)
    for i in range(6):
        run.call(f, *batch())
        if i == 3:
            optimizer.param_groups[0]["lr"] = 0.01
