"""Optimizers with a step of the program's own, compiled: options and attributes that it reads."""

import math

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


class Counting(torch.optim.Optimizer):
    """Adam in Python's numbers: a count of steps for each parameter, and one for all."""

    def __init__(self, params, lr=0.1, warmup=4):
        super().__init__(params, {"lr": lr, "betas": (0.9, 0.99), "k": 0, "most": 0.0})
        self.warmup = warmup

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            rate = group["lr"]
            if group["k"] < self.warmup:
                rate = rate * (group["k"] + 1) / self.warmup
            group["most"] = max(rate, group["most"])
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(mean=torch.zeros_like(p), square=torch.zeros_like(p), step=0)
                state["step"] += 1
                state["mean"].lerp_(p.grad, 1 - beta1)
                state["square"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                correction = 1 - math.pow(beta2, state["step"])
                bottom = (state["square"].sqrt() / math.sqrt(correction)).add_(1e-8)
                if state["step"] % 5 == 0:
                    p.mul_(0.9)
                p.addcdiv_(state["mean"], bottom, value=-rate / (1 - beta1 ** state["step"]))
            group["k"] = group["k"] + 1


@side_by_side("numpy", "c")
def test_counts_and_schedules_are_inputs_of_the_program(run):
    model = nn.Linear(3, 1)
    optimizer = Counting(model.parameters())
    schedule = schedules.ExponentialLR(optimizer, 0.9)
    f = run.compile(step_of(model, optimizer), fullgraph=True)
    for _ in range(30):
        run.call(f, *batch())
        schedule.step()
        run.look(model, optimizer.state_dict()["param_groups"])
        run.look([each["step"] for each in optimizer.state.values()])
    for each in run.compiled:
        assert len(each.entries) < 6 and not each.why_not


@side_by_side(programs=False)
@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
def test_numbers_that_leave_the_record_without_a_word(run):
    class Logarithmic(Signs):
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                group["k"] = group.get("k", 0) + 1
                for p in group["params"]:
                    p.add_(p.grad, alpha=-0.01 * math.log(group["k"] + 1))

    model = nn.Linear(3, 1)
    f = run.compile(step_of(model, Logarithmic(model.parameters())))
    for _ in range(16):
        run.call(f, *batch())
        run.look(model)
