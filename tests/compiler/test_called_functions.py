"""Programs of calls that lead to more functions than can be watched, as in large libraries."""

import sys
import types

import tapegrad as torch
from tests.compiler.side_by_side import side_by_side


def library(n=600):
    """A module of many functions that name each other, of which a call of `run` needs a few."""
    found = types.ModuleType("library_of_many")
    lines = ["import torch" if "torch" in sys.modules else "import tapegrad as torch"]
    lines += ["SCALE = 2.0", "ODD = False"]
    for i in range(n):
        lines += [f"def f{i}(x):", "    return g(x)"]
    lines += ["def others(x):", "    return " + "".join(f"f{i}," for i in range(n))]
    lines += ["def g(x):", "    return seldom(x) if ODD else x * SCALE"]
    lines += ["def seldom(x):", "    return (x * OTHER).tanh()", "OTHER = 3.0"]
    lines += ["class Model(torch.nn.Module):", "    def __init__(self):"]
    lines += ["        super().__init__()", "        self.linear = torch.nn.Linear(3, 3)"]
    lines += ["    def forward(self, x):", "        return f0(self.linear(x))"]
    lines += ["    def export(self):", "        return others(self)"]
    exec(compile("\n".join(lines), "library_of_many.py", "exec"), found.__dict__)
    return found


@side_by_side("numpy", "c")
def test_a_global_of_a_function_that_runs(run):
    many = library()
    model = many.Model()
    f = run.compile(model)
    for scale in (2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 2.0):
        many.SCALE = scale
        y = f(torch.ones(2, 3))
        model.zero_grad()
        y.sum().backward()
        run.look(y, model)


@side_by_side("numpy")
def test_a_function_that_runs_later(run):
    many = library()
    model = many.Model()
    f = run.compile(model)
    for odd, other in [(False, 3.0)] * 5 + [(True, 3.0)] * 5 + [(True, 5.0)] * 3 + [(False, 5.0)]:
        many.ODD, many.OTHER = odd, other
        run.look(f(torch.ones(2, 3)))


@side_by_side("numpy")
def test_a_method_that_is_replaced(run):
    many = library()
    model = many.Model()
    f = run.compile(model)
    for _ in range(5):
        run.look(f(torch.ones(2, 3)))
    many.g = lambda x: x - 1
    for _ in range(3):
        run.look(f(torch.ones(2, 3)))
    many.Model.forward = lambda self, x: self.linear(x) * 7
    for _ in range(5):
        run.look(f(torch.ones(2, 3)))


def test_the_third_call_is_recorded():
    many = library()
    f = torch.compile(many.Model(), backend="numpy", fullgraph=True)
    for n_entries in (0, 0, 1, 1):
        f(torch.ones(2, 3))
        assert len(f.dynamo_ctx.entries) == n_entries


@side_by_side("numpy", programs=False)
def test_functions_that_are_made_anew_in_each_call(run):
    many = library()

    def f(x):
        scope = {}
        exec("def g(x):\n    return x * 2", scope)
        return many.f0(scope["g"](x))

    f = run.compile(f)
    for _ in range(14):
        run.look(f(torch.ones(3)))


@side_by_side("numpy")
def test_functions_that_name_each_other_in_a_long_chain(run):
    lines = [f"def f{i}(x):\n    return f{i + 1}(x) if x is None else x * 2" for i in range(700)]
    scope = {"f700": None}
    exec("\n".join(lines), scope)
    f = run.compile(scope["f0"])
    for _ in range(5):
        run.look(f(torch.ones(3)))


def test_a_profiler_in_c_goes_on_watching():
    import cProfile

    many = library()
    f = torch.compile(many.Model(), backend="numpy")
    profile = cProfile.Profile()
    for _ in range(2):
        profile.runcall(f, torch.ones(2, 3))
    assert any(entry.code for entry in profile.getstats() if "forward" in str(entry.code))
