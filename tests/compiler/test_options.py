"""Learning rates and other options that the user's code reads: never what they were."""

import math
import threading
import warnings

import pytest

import tapegrad as torch
from tapegrad import nn, optim
from tests.compiler.side_by_side import compare, side_by_side


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


@side_by_side("numpy", "c")
def test_rates_that_a_call_changes(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1)

    def step(x):
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
        return x * optimizer.param_groups[0]["lr"]

    f = run.compile(step)
    for _ in range(6):
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


def steps_of(body, n=24, counted=3):
    """A scenario: steps of an optimizer that does `body(group, p)` and counts in `group["k"]`."""

    class Counting(optim.Optimizer):
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    body(group, p)
                group["k"] += 1

    def scenario(run):
        p = nn.Parameter(torch.randn(4))
        optimizer = Counting([p], {"lr": 0.1, "k": counted, "sum": 1.0})
        f = run.compile(step_of(p, optimizer))
        for _ in range(n):
            run.call(f, torch.randn(4))
            run.look(p, optimizer)

    return scenario


TABLE = [0.1] * 7 + [0.5] * 3 + [0.7] * 30


def of_its_class(group, p):
    p.mul_(0.9 if isinstance(group["k"], int) else 0.8)


def as_text(group, p):
    p.mul_(len(f"{group['k']:03d}{group['k']}") / 6)


def of_a_table(group, p):
    p.mul_(TABLE[group["k"]])


def of_bits(group, p):
    p.mul_(0.9 if group["k"] & 4 else 0.8 + 0.01 * group["k"].bit_length())


def of_tensors_of_ints(group, p):
    p.mul_(((torch.arange(4) * group["k"] + group["k"]) // 5 % 3).float())


def as_a_tensor(group, p):
    p.mul_(torch.tensor(group["k"]) // 4 * torch.full((4,), group["k"]) // 7)


def of_another_schedule(group, p):
    p.mul_(0.9 if group["k"] < 15 else 0.8)


def as_a_logarithm(group, p):
    p.mul_(1 / math.log(group["k"]))


def of_a_large_int(group, p):
    group["k"] = (group["k"] * 1103515245 + 12345) % 2**31
    p.mul_(group["k"] % 100 / 100)


def with_a_power_of_another_sign(group, p):
    p.mul_(1 + 0.1 * (-1.0) ** group["k"])


def with_quotients(group, p):
    p.mul_(1 - 0.01 * (group["k"] // 4) - 0.01 * ((10 - group["k"]) % 3))


def with_a_root(group, p):
    group["sum"] = group["sum"] + math.sqrt(group["k"]) + math.pow(group["lr"], group["k"])
    p.addcdiv_(p.grad, p.abs() + 1, value=-group["lr"] / group["sum"])


def until_an_error(group, p):
    p.mul_(1 / (12 - group["k"]))


def with_two_that_change_places(group, p):
    group["sum"], group["lr"] = group["lr"] + 0.001, group["sum"]
    p.mul_(group["sum"])


@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize(
    "body",
    [
        of_its_class, as_text, of_a_table, of_bits, of_tensors_of_ints, as_a_tensor,
        of_another_schedule, as_a_logarithm, of_a_large_int, with_a_power_of_another_sign,
        with_quotients, with_a_root, until_an_error, with_two_that_change_places,
    ],
)  # fmt: skip
def test_whatever_is_done_with_a_count_is_done_with_an_int(body, backend):
    compare(steps_of(body), backend, programs=None)


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize(
    "body", [with_a_power_of_another_sign, with_quotients, with_a_root, with_two_that_change_places]
)
def test_arithmetic_with_counts_is_one_program(body, backend):
    compare(steps_of(body), backend)


@side_by_side(programs=False)
@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
def test_rates_that_functions_give_to_functions_of_c(run):
    optimizer = optim.SGD([nn.Parameter(torch.ones(2))], 0.1)
    name = "lr"

    def rate():
        return optimizer.param_groups[0]["lr"]

    def rates():
        return [rate()]

    given = [
        run.compile(lambda x: x * math.log(rate())),
        run.compile(lambda x: x * math.log(sum(rates()))),
        run.compile(lambda x: x * math.log(optimizer.param_groups[0][name])),
    ]
    for _ in range(5):
        for f in given:
            run.call(f, torch.ones(2))
        optimizer.param_groups[0]["lr"] *= 0.5


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_rate_that_the_state_keeps_is_put_there_each_time(backend):
    def keeping(group, p):
        group["old"] = group.get("old", 0.1)
        p.mul_(1 - group["old"])
        group["old"] = group["lr"]

    compare(steps_of(keeping), backend)


@side_by_side("numpy", "c")
def test_counts_and_schedules_in_one_call(run):
    class Counting(optim.Optimizer):
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                group["k"] += 1
                for p in group["params"]:
                    state = self.state[p]
                    state["n"] = state.get("n", 0) + 2
                    p.sub_(p.grad, alpha=group["lr"] / (group["k"] + state["n"]))

    p = nn.Parameter(torch.randn(4))
    optimizer = Counting([p], {"lr": 0.1, "k": 0})
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    f = run.compile(step_of(p, optimizer, schedule.step))
    for _ in range(8):
        run.call(f, torch.randn(4))
        run.look(p, optimizer, [each["n"] for each in optimizer.state.values()])


@side_by_side(programs=None)
@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
def test_counts_that_are_changed_after_a_schedule(run):
    p = nn.Parameter(torch.randn(4))
    optimizer = optim.SGD([p], 0.1)
    optimizer.param_groups[0]["k"] = 0
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def after():
        optimizer.param_groups[0]["k"] += 1
        schedule.step()
        optimizer.param_groups[0]["k"] += 1
        return optimizer.param_groups[0]["k"]

    f = run.compile(step_of(p, optimizer, after))
    for _ in range(14):
        run.call(f, torch.randn(4))
        run.look(p, optimizer)


def test_roots_are_those_of_math_again_after_a_recorded_call():
    before = math.sqrt, math.pow
    optimizer = optim.SGD([nn.Parameter(torch.ones(2))], 0.1)
    seen = []

    @torch.compile(backend="numpy")
    def rooted(x):
        thread = threading.Thread(target=lambda: seen.append((math.sqrt(4.0), math.pow(2, 3))))
        thread.start()
        thread.join()
        return x * math.sqrt(optimizer.param_groups[0]["lr"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            rooted(torch.ones(2))
    assert (math.sqrt, math.pow) == before
    assert seen == [(2.0, 8.0)] * 3


@side_by_side("numpy", "c")
def test_what_is_read_of_an_optimizer_that_takes_no_step(run):
    optimizer = optim.SGD([nn.Parameter(torch.ones(2))], 0.1)
    optimizer.param_groups[0].update(k=2, how="twice")

    def scaled(x):
        group = optimizer.param_groups[0]
        return x * group["k"] if group["how"] == "twice" else x - group["k"]

    f = run.compile(scaled)
    for k, how in (
        (2, "twice"),
        (2, "twice"),
        (5, "twice"),
        (5, "less"),
        (7, "less"),
        (2, "twice"),
    ):
        optimizer.param_groups[0].update(k=k, how=how)
        for _ in range(2):
            run.call(f, torch.arange(3.0))
