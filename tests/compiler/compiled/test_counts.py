"""Counts that a compiled function keeps in attributes and globals: they go on as uncompiled."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side

CALLS = 0


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.steps, self.left = 0, 100

    def forward(self, x):
        self.steps += 1
        self.left = self.left - 2
        return self.linear(x).tanh()


class Holder:
    def __init__(self):
        self.n = 0


@side_by_side("numpy", "c")
def test_attributes_of_a_module(run):
    model = Counting()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    f = run.compile(model)
    for _ in range(6):
        optimizer.zero_grad()
        f(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        run.look(model, model.steps, model.left)
    model.steps = 50  # anybody may set it
    run.call(f, torch.ones(2, 3))
    run.look(model.steps, model.left)


@side_by_side("numpy")
def test_globals_and_objects_in_a_loop(run):
    globals()["CALLS"] = 0
    holder = Holder()

    def f(x):
        global CALLS
        CALLS += 3
        for _ in range(2):
            holder.n += 1
        return x * 2

    f = run.compile(f)
    for _ in range(5):
        run.call(f, torch.ones(2))
        run.look(CALLS, holder.n)


@side_by_side("numpy")
def test_a_second_derivative_does_not_count_again(run):
    model = Counting()
    f = run.compile(model)
    for _ in range(4):
        x = torch.ones(2, 3, requires_grad=True)
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        g.pow(2).sum().backward()
        run.look(x, model.steps, model.left)


class Reading(Counting):
    def forward(self, x):
        self.steps += 1
        return self.linear(x) * self.steps


class Resetting(Counting):
    def forward(self, x):
        self.steps += 1
        if self.left:
            self.steps = 0
        return self.linear(x)


class Looking(Counting):
    def forward(self, x):
        self.steps += 1
        return self.linear(x) * getattr(self, "st" + "eps")


class Varying(Counting):
    def forward(self, x):
        self.steps += x.shape[0]
        return self.linear(x)


class Copying(Counting):
    def __init__(self):
        super().__init__()
        self.other = Holder()

    def forward(self, x):
        self.other.n = self.steps + 1
        return self.linear(x)


class Modulo(Counting):
    def forward(self, x):
        self.steps += 1
        return self.linear(x) if self.steps % 2 else x


@pytest.mark.parametrize("kind", [Reading, Resetting, Looking, Varying, Modulo])
@pytest.mark.filterwarnings("ignore:.*runs as it is")
def test_ints_that_do_more_than_count_are_conditions(kind):
    torch.manual_seed(0)
    model, plain = kind(), kind()
    plain.load_state_dict(model.state_dict())
    compiled = torch.compile(model, backend="numpy")
    for n in (2, 2, 2, 4, 2, 2, 4):
        x = torch.ones(n, 3)
        assert torch.equal(compiled(x), plain(x))
        assert (model.steps, model.left) == (plain.steps, plain.left)


@pytest.mark.filterwarnings("ignore:.*runs as it is")
def test_a_number_that_another_one_makes_is_no_count():
    model = Copying()
    compiled = torch.compile(model, backend="numpy", example_inputs=())
    for n in (0, 0, 0, 5, 5, 5, 7):
        model.steps = n
        compiled(torch.ones(2, 3))
        assert model.other.n == n + 1


@side_by_side("numpy")
def test_variables_of_a_function_around(run):
    def training():
        n, left = 0, 10
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)

        def counted():
            nonlocal left
            left = left - 2

        def step(x):
            nonlocal n
            n += 1
            optimizer.zero_grad()
            (w * x).square().sum().backward()
            optimizer.step()
            counted()

        step = run.compile(step)
        for i in range(6):
            step(torch.ones(3))
            run.look(n, left, w)
            if i == 4:
                n = 50

    training()


@pytest.mark.parametrize("how", ["reads", "branches", "sets", "gives"])
@pytest.mark.filterwarnings("ignore:.*runs as it is")
def test_variables_that_do_more_than_count_are_conditions(how):
    def both():
        n = 0

        def read():
            return n

        def f(x):
            nonlocal n
            n += 1
            if how == "reads":
                return x * n
            if how == "branches" and n % 2:
                return x * 3
            if how == "sets" and x.shape[0] == 3:
                n = 0
            return x * read() if how == "gives" else x * 2

        return f, read

    (plain, n_plain), (f, n) = both(), both()
    f = torch.compile(f, backend="numpy")
    for size in (2, 2, 2, 3, 2, 2, 3):
        x = torch.ones(size)
        assert torch.equal(f(x), plain(x))
        assert n() == n_plain()
