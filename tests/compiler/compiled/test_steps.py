"""Steps of training, compiled: optimizers, schedules, clipping, and changes between the steps."""

import copy

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import compare, side_by_side

F = nn.functional
optim, schedules = torch.optim, torch.optim.lr_scheduler

OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, 0.1),
    "SGD with momentum": lambda p: optim.SGD(p, 0.1, 0.9, nesterov=True, weight_decay=0.01),
    "SGD with dampening": lambda p: optim.SGD(p, 0.01, momentum=0.9, dampening=0.1),
    "Adam": lambda p: optim.Adam(p, 0.01),
    "Adam with amsgrad": lambda p: optim.Adam(p, 0.01, amsgrad=True, weight_decay=0.1),
    "Adam one by one": lambda p: optim.Adam(p, 0.01, foreach=False),
    "AdamW": lambda p: optim.AdamW(p, 0.01),
    "Adamax": optim.Adamax,
    "NAdam": optim.NAdam,
    "RAdam": optim.RAdam,
    "Adagrad": optim.Adagrad,
    "Adadelta": optim.Adadelta,
    "RMSprop": optim.RMSprop,
    "RMSprop, centered": lambda p: optim.RMSprop(p, centered=True, momentum=0.9),
    "Rprop": optim.Rprop,
    "ASGD": optim.ASGD,
}

SCHEDULES = {
    "StepLR": lambda o: schedules.StepLR(o, 2, 0.5),
    "MultiStepLR": lambda o: schedules.MultiStepLR(o, [2, 4]),
    "ExponentialLR": lambda o: schedules.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: schedules.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 3),
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=3, cycle_momentum=False),
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=30),
    "LinearLR": schedules.LinearLR,
    "LambdaLR": lambda o: schedules.LambdaLR(o, lambda epoch: 0.9**epoch),
    "PolynomialLR": lambda o: schedules.PolynomialLR(o, 8),
    "SequentialLR": lambda o: schedules.SequentialLR(
        o, [schedules.ConstantLR(o), schedules.ExponentialLR(o, 0.9)], [3]
    ),
}


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def batch(n=5):
    return torch.randn(n, 3), torch.randn(n, 1)


def step_of(model, optimizer, after=lambda: None):
    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        after()
        return loss.detach()

    return step


def trained(make, changes=True):
    """A scenario: steps with an optimizer, whose options and state change in between."""

    def scenario(run):
        model = network()
        optimizer = make(model.parameters())
        step = run.compile(step_of(model, optimizer), recompile_limit=20)
        (group,) = optimizer.param_groups

        def go(n, size=5):
            for _ in range(n):
                run.call(step, *batch(size))
                run.look(model, optimizer)

        go(3)
        group["lr"] *= 0.5
        go(2)
        if not changes:
            return
        for name in ("weight_decay", "momentum", "alpha", "rho"):
            if name in group:
                group[name] = 0.3
        if "betas" in group:
            group["betas"] = tuple(beta * 0.9 for beta in group["betas"])
        go(3)
        state, values = copy.deepcopy((optimizer.state_dict(), model.state_dict()))
        go(2)
        optimizer.load_state_dict(state)
        model.load_state_dict(values)
        go(3)
        go(2, size=7)
        optimizer.state.clear()
        go(3)
        extra = nn.Parameter(torch.ones(1))
        optimizer.add_param_group({"params": [extra]})
        extra.grad = torch.ones(1)
        go(3)
        run.look(extra)

    return scenario


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    compare(trained(OPTIMIZERS[name]))


@pytest.mark.parametrize("name", ["SGD with momentum", "Adam", "RAdam", "RMSprop, centered"])
def test_optimizers_in_c(name):
    compare(trained(OPTIMIZERS[name], changes=False), "c")


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    def scenario(run):
        inside, outside = network(), network()
        one = optim.Adam(inside.parameters(), 0.05)
        two = optim.SGD(outside.parameters(), 0.05, momentum=0.9)
        with_schedule, schedule = SCHEDULES[name](one), SCHEDULES[name](two)
        f = run.compile(step_of(inside, one, with_schedule.step))
        g = run.compile(step_of(outside, two))
        for _ in range(6):
            run.call(f, *batch())
            run.call(g, *batch())
            schedule.step()
            run.look(inside, one, outside, two, with_schedule.get_last_lr())

    compare(scenario)


@side_by_side("numpy", "c")
def test_clipping(run):
    for clip in (
        lambda p: nn.utils.clip_grad_norm_(p, 0.1),
        lambda p: nn.utils.clip_grad_value_(p, 0.1),
    ):
        model = network()
        optimizer = optim.SGD(model.parameters(), 0.1)

        def step(x, y, model=model, optimizer=optimizer, clip=clip):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            norm = clip(model.parameters())
            optimizer.step()
            return norm

        f = run.compile(step)
        for _ in range(5):
            run.call(f, *batch())
            run.look(model, optimizer)


@side_by_side()
def test_gradients_that_add_up(run):
    model = network()
    optimizer = optim.Adam(model.parameters(), 0.1)

    def add(x, y, last):
        loss = F.mse_loss(model(x), y) / 3
        loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()

    def kept(x, y):
        optimizer.zero_grad(set_to_none=False)
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    f, g = run.compile(add), run.compile(kept)
    for i in range(9):
        run.call(f, *batch(), i % 3 == 2)
        run.look(model, optimizer)
    for _ in range(4):
        grad = model[0].weight.grad
        run.call(g, *batch())
        run.look(model, optimizer, grad, grad is model[0].weight.grad)


@side_by_side(programs=None)
def test_gradients_changed_between_steps(run):
    model = nn.Linear(3, 2)
    optimizer = optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(x):
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    f, p = run.compile(step, recompile_limit=30), model.weight

    def set_grad(value):
        p.grad = value

    for change in (
        lambda: None,
        lambda: optimizer.zero_grad(set_to_none=False),
        lambda: optimizer.zero_grad(),
        lambda: set_grad(torch.ones(2, 3)),
        lambda: set_grad(torch.ones(3, 2).t()),
        lambda: p.grad.zero_(),
        lambda: setattr(model.bias, "grad", None),
        lambda: setattr(model.bias, "grad", p.grad[:, 0]),
    ):
        change()
        for _ in range(3):
            grad = p.grad
            run.call(f, torch.randn(4, 3))
            run.look(model, optimizer, grad, grad is p.grad)


@side_by_side()
def test_state_changed_between_steps(run):
    model = network()
    optimizer = optim.Adam(model.parameters(), 0.01)
    f, p, q = run.compile(step_of(model, optimizer), recompile_limit=30), *model[0].parameters()

    def go(n=3):
        for _ in range(n):
            run.call(f, *batch())
            run.look(model, optimizer)

    go()
    state = optimizer.state
    for change in (
        lambda: state[p]["exp_avg"].zero_(),
        lambda: state[p].update(exp_avg=torch.ones_like(p)),
        lambda: state[p]["step"].add_(5),
        lambda: state[p].update(step=torch.tensor(3.0)),
        lambda: state[q]["step"].detach().numpy().fill(77),
        lambda: setattr(state[p]["exp_avg_sq"], "data", torch.ones(4, 3)),
        lambda: state.pop(q),
        lambda: p.data.mul_(2),
    ):
        change()
        go()


@side_by_side()
def test_groups(run):
    model = network()
    first, second = model[0].parameters(), model[2].parameters()
    optimizer = optim.Adam([{"params": first, "lr": 0.1}, {"params": second}], 0.01)
    f = run.compile(step_of(model, optimizer), recompile_limit=30)
    one, two = optimizer.param_groups
    for change in (
        lambda: None,
        lambda: one.update(lr=0.3),
        lambda: two.update(betas=(0.5, 0.6)),
        lambda: two.update(lr=torch.tensor(0.3)),
        lambda: two.update(lr=1),
        lambda: one.update(maximize=True),
        lambda: model[0].weight.requires_grad_(False),
        lambda: model[0].weight.requires_grad_(True),
    ):
        change()
        for _ in range(3):
            run.call(f, *batch())
            run.look(model, optimizer)


@side_by_side()
def test_steps_by_hand(run):
    w, b, rate = torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True), 0.1

    def backward(x, y):
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= rate * p.grad
                p.grad = None
        return loss.item()

    def gradients(x, y):
        loss = ((x @ w + b - y) ** 2).mean()
        found = torch.autograd.grad(loss, (w, b))
        with torch.no_grad():
            for p, g in zip((w, b), found, strict=True):
                p.sub_(rate * g)
        return loss, found

    def data(x, y):
        ((x @ w + b - y) ** 2).mean().backward()
        w.data -= rate * w.grad
        b.data = b.data - rate * b.grad
        w.grad.zero_()
        b.grad.zero_()

    def functional(p, x, y):
        loss = ((x @ p["w"] + p["b"] - y) ** 2).mean()
        found = torch.autograd.grad(loss, list(p.values()))
        pairs = zip(p.items(), found, strict=True)
        return {k: (v - rate * g).detach().requires_grad_() for (k, v), g in pairs}

    for f in [run.compile(f) for f in (backward, gradients, data)]:
        for i in range(6):
            rate = 0.1 if i < 4 else 0.3
            run.call(f, *batch())
            run.look(w, b)
    f, p = run.compile(functional), {"w": w, "b": b}
    for _ in range(5):
        p = run.call(f, p, *batch())


@side_by_side()
def test_two_optimizers(run):
    makes, judges = network(), network()
    one, two = optim.Adam(makes.parameters(), 0.01), optim.SGD(judges.parameters(), 0.1)

    def step(x):
        made = torch.cat([makes(x), x[:, :2]], 1)
        two.zero_grad()
        (judges(x).mean() - judges(made.detach()).mean()).backward()
        two.step()
        one.zero_grad()
        loss = judges(made).mean()
        loss.backward()
        one.step()
        return loss.item()

    f = run.compile(step)
    for _ in range(5):
        run.call(f, torch.randn(5, 3))
        run.look(makes, judges, one, two)


@side_by_side()
def test_shared_and_replaced_parameters(run):
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    b.weight = a.weight
    optimizer = optim.SGD([*a.parameters(), b.bias], 0.1)

    def step(x):
        optimizer.zero_grad()
        loss = b(a(x).tanh()).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    f = run.compile(step)
    for i in range(8):
        if i == 4:
            b.weight = nn.Parameter(torch.randn(3, 3))
        run.call(f, torch.randn(4, 3))
        run.look(a, b, optimizer)


@side_by_side(programs=None)
def test_averages_scalers_and_autocast(run):
    model = network()
    optimizer = optim.SGD(model.parameters(), 0.1)
    average = optim.swa_utils.AveragedModel(model)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)

    def scaled(x, y):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.mse_loss(model(x).float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    f = run.compile(step_of(model, optimizer, lambda: average.update_parameters(model)))
    g, h = run.compile(scaled), run.compile(average)
    for i in range(5):
        x, y = batch()
        run.call(f, x, y)
        run.call(g, x * float("inf") if i == 3 else x, y)
        run.call(h, x)
        run.look(model, optimizer, average, scaler.get_scale())


@side_by_side(programs=None)
def test_hooks_of_optimizers(run):
    model = network()
    optimizer = optim.SGD(model.parameters(), 0.1)
    f, seen = run.compile(step_of(model, optimizer)), []
    for register in (
        lambda: optimizer.register_step_pre_hook(lambda *_: seen.append("before")),
        lambda: optimizer.register_step_post_hook(lambda *_: seen.append("after")),
        lambda: optim.optimizer.register_optimizer_step_post_hook(lambda *_: seen.append("all")),
    ):
        for _ in range(3):
            run.call(f, *batch())
        handle = register()
        for _ in range(3):
            run.call(f, *batch())
        handle.remove()
        for _ in range(3):
            run.call(f, *batch())
        run.look(model, seen)


@side_by_side("numpy", "c")
def test_gradients_that_nobody_sets_to_zero_add_up(run):
    model = nn.Linear(3, 3)

    def step(x):
        loss = model(x).tanh().sum()
        loss.backward()
        return loss

    step = run.compile(step)
    for n in range(6):
        if n == 4:
            model.zero_grad()
        run.call(step, torch.ones(2, 3) * n)
        run.look(model)
