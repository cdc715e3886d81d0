"""Learning rates and other options that the user's code reads: never what they were."""

import math

import tapegrad as torch
from tapegrad import nn, optim
from tests.compiler.side_by_side import side_by_side


class Signs(optim.Optimizer):
    """An optimizer of a user's, with a number of its own."""

    sharpness = 1.0

    def __init__(self, params, lr, betas=(0.9, 0.5)):
        super().__init__(params, {"lr": lr, "betas": betas})
        self.scale = 1.0

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            one, two = group["betas"]
            for p in group["params"]:
                moved = self.state[p].setdefault("moved", torch.zeros_like(p))
                moved.mul_(one).add_(p.grad, alpha=1 - one)
                direction = (moved * self.sharpness).tanh() * two
                p.add_(direction, alpha=-group["lr"] * self.scale)


def step_of(p, optimizer, after=lambda: None):
    def step(x):
        optimizer.zero_grad()
        loss = ((p * x).tanh() ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss, after()

    return step


@side_by_side("numpy", "c")
def test_steps_that_the_user_wrote(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = Signs([p], 0.1)
    f = run.compile(step_of(p, optimizer))
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for i in range(9):
        run.call(f, torch.randn(4))
        run.look(p, optimizer)
        if i < 5:
            schedule.step()
        if i == 5:
            optimizer.param_groups[0]["betas"] = (0.5, 0.25)
        if i == 6:
            optimizer.scale = 3.0
        if i == 7:
            Signs.sharpness = 2.0
    Signs.sharpness = 1.0
    if run.backend:
        assert len(f.entries) == 3  # for two numbers that are no options


@side_by_side("numpy", "c")
def test_rates_that_code_computes_with(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.AdamW([p], 0.1)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def step(x):
        rate, (one, _) = optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"]
        optimizer.zero_grad()
        loss = ((p * x).tanh() ** 2).sum() * (1 + rate)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            p.mul_(1 - rate * one)
        return loss, rate

    f = run.compile(step)
    for _ in range(6):
        run.call(f, torch.randn(4))
        run.look(p)
        schedule.step()
    if run.backend:
        assert len(f.entries) == 1


@side_by_side()
def test_rates_are_given_back_as_they_are_then(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1, momentum=0.9)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def rate():
        return optimizer.param_groups[0]["lr"]

    f = run.compile(step_of(p, optimizer, lambda: (rate(), schedule.step(), rate())))
    g = run.compile(step_of(p, optimizer, lambda: (rate(), optimizer.state_dict())))
    for _ in range(5):
        run.call(f, torch.randn(4))
        run.call(g, torch.randn(4))


@side_by_side(programs=None)
def test_what_is_read_of_a_schedule(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    f = run.compile(lambda x: x * schedule.get_last_lr()[0])
    g = run.compile(lambda x: (x + schedule.last_epoch, schedule.gamma))
    h = run.compile(step_of(p, optimizer, lambda: (schedule.step(), schedule.get_last_lr())))
    k = run.compile(lambda x: x * math.sqrt(optimizer.param_groups[0]["lr"]))
    for i in range(5):
        for each in (f, g, k):
            run.call(each, torch.ones(2))
        if i > 2:
            run.call(h, torch.randn(4))
            schedule.gamma = 0.75


@side_by_side(programs=False)
def test_rates_that_a_call_changes(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1)

    def step(x):
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
        return x * optimizer.param_groups[0]["lr"]

    f = run.compile(step)
    for _ in range(4):
        run.call(f, torch.ones(2))
        run.look(optimizer)


@side_by_side("numpy", "c")
def test_roots_of_other_numbers_than_options(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1)

    def scaled(x):
        return x / math.sqrt(len(x))

    def step(x):
        optimizer.zero_grad()
        scaled(p * x).sum().backward()
        norm = [nn.utils.clip_grad_norm_(group["params"], 0.1) for group in optimizer.param_groups]
        optimizer.step()
        return norm

    f = run.compile(step, fullgraph=True)
    for i in range(4):
        optimizer.param_groups[0]["lr"] = 0.1 * i
        run.call(f, torch.randn(4))
        run.look(p)
