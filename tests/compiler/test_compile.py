"""`torch.compile`: what it takes, what it gives back, and what that tells of itself."""

import copy
import pickle
import subprocess
import sys
import warnings

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.c_backend import toolchain
from tests.command import run_code
from tests.compiler.c_backend.c_compiler import compiler

F = nn.functional


def trained(backend, n=5):
    """A small model after some steps, its losses, and the step function."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    if backend is not None:
        step = torch.compile(step, backend=backend)
    torch.manual_seed(1)
    losses = [step(torch.randn(6, 4), torch.arange(6) % 3).item() for _ in range(n)]
    return model, losses, step


def test_a_step_trains_as_it_does_by_itself():
    model, losses, _ = trained(None)
    compiled, same, step = trained("numpy")
    assert losses == same and len(step.entries) == 1 and not step.why_not
    for p, q in zip(model.parameters(), compiled.parameters(), strict=True):
        assert torch.equal(p, q) and torch.equal(p.grad, q.grad) and p._version == q._version


def test_forms():
    def f(x):
        return x * 2

    compiled = torch.compile(f, backend="numpy")
    assert compiled.__name__ == "f" and compiled.compiled_function is f
    assert torch.compile(compiled) is compiled and torch.compile(f, disable=True) is f
    assert torch.compile(f, backend="eager") is f
    for each in (
        torch.compile(f, fullgraph=True, dynamic=False, mode="max-autotune"),
        torch.compile(backend="numpy", fullgraph=True)(f),
        torch.compile()(f),
        torch.compile(f, options={"triton.cudagraphs": True, "max_autotune": True}),
    ):
        assert [each(torch.ones(2)).tolist() for _ in range(3)] == [[2.0, 2.0]] * 3


def test_it_can_be_recorded_at_once():
    f = torch.compile(lambda x: x + 1, backend="numpy", example_inputs=(torch.ones(2),))
    assert len(f.entries) == 1 and f(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_method_is_compiled_for_each_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @torch.compile(backend="numpy")
        def of(self, x):
            return x * self.factor

    a, b = Scale(2), Scale(3)
    for _ in range(3):
        assert (a.of(torch.ones(1)).item(), b.of(torch.ones(1)).item()) == (2, 3)


def test_a_call_that_cannot_be_compiled_runs_and_says_why():
    seen = []

    def f(x):
        seen.append(1)
        return x * 2

    g = torch.compile(f, backend="numpy")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [g(torch.ones(1)).item() for _ in range(5)] == [2.0] * 5
    assert len(seen) == 5 and len(caught) == 1
    assert "list.append() is called in line" in str(caught[0].message)
    strict = torch.compile(f, backend="numpy", fullgraph=True)
    strict(torch.ones(1))
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"list.append\(\) is called in line"):
        strict(torch.ones(1))


def test_reasons_name_what_changed_as_the_user_does():
    net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.0))
    space = {"net": net, "table": {"k": [1, 2]}, "torch": torch}
    exec("def f(x):\n    return net(x) * table['k'][1]", space)
    f = torch.compile(space["f"], backend="numpy", recompile_limit=20)

    def reason(change):
        for _ in range(2):
            f(torch.ones(2))
        change()
        return f.explain().programs[0]["why_again"]

    assert reason(lambda: space["table"]["k"].__setitem__(1, 5)) == "table['k'][1] was 2"
    assert reason(net.eval) == "net[0].training was True"
    assert reason(net[1].train) == "net[1].training was False"
    assert reason(lambda: setattr(net[0], "bias", None)) == "net[0].bias was another object"
    hook = "net[1]._forward_hooks had 0 entries"
    assert reason(lambda: net[1].register_forward_hook(lambda *_: None)) == hook
    assert reason(lambda: space.__setitem__("table", {})) == "table was another object"


def test_limits():
    f = torch.compile(lambda x: x * 2, backend="numpy", recompile_limit=2, dynamic=False)
    with pytest.warns(UserWarning, match="it was recorded 2 times; last, its arguments are others"):
        for n in range(1, 6):
            f(torch.ones(n))
    assert len(f.entries) == 2
    torch.compiler.reset()
    assert not f.entries


def test_stances():
    f = torch.compile(lambda x: x * 2, backend="numpy")
    for _ in range(3):
        f(torch.ones(2))
    with torch.compiler.set_stance("fail_on_recompile"):
        assert f(torch.ones(2)).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match=r"Detected recompile when torch.compile stance"):
            f(torch.ones(3))
    with torch.compiler.set_stance("eager_on_recompile"):
        assert f(torch.ones(3)).shape == (3,)
    with torch.compiler.set_stance("force_eager"):
        assert f(torch.ones(4)).shape == (4,)
    assert len(f.entries) == 1


def test_is_compiling_while_it_is_recorded():
    seen = []

    def f(x):
        seen.append(torch.compiler.is_compiling())
        return x

    g = torch.compile(f, backend="numpy")
    with pytest.warns(UserWarning, match="not compiled"):
        g(torch.ones(1)), g(torch.ones(1))
    assert seen == [False, True] and not torch.compiler.is_compiling()


def test_a_function_that_is_disabled_is_left_alone():
    @torch.compiler.disable
    def inner(x):
        return x * 2

    f = torch.compile(lambda x: inner(x) + 1, backend="numpy")
    with pytest.warns(UserWarning, match="inner is not to be compiled"):
        assert [f(torch.ones(1)).item() for _ in range(3)] == [3.0] * 3


def test_what_it_tells_of_itself():
    _, _, step = trained("numpy")
    assert "tanh(" in step.source and "model_0_weight" in step.source
    text = str(step.explain())
    assert text.startswith("trained.<locals>.step: 1 program")
    assert "writes to model_0_weight" in text and "numbers that Python has read" in text
    fresh = torch.compile(lambda x: x, backend="numpy")
    with pytest.raises(RuntimeError, match="<lambda> is not compiled yet"):
        fresh.source  # noqa: B018


def test_a_program_is_saved_as_a_file_that_runs_alone(tmp_path):
    torch.ones(2).to(
        torch.float8_e4m3fn
    )  # of which a file without NumPy's extensions knows nothing
    _, _, step = trained("numpy")
    step.save(tmp_path / "step.py")
    command = [sys.executable, "-I", str(tmp_path / "step.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "us a call" in done.stdout and "(8, 4) float32" in done.stdout
    assert "import tapegrad" not in (tmp_path / "step.py").read_text()
    with pytest.raises(RuntimeError, match=r"save\(\) writes .py or .c files, not '.txt'"):
        step.save(tmp_path / "step.txt")


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_profile_has_it_as_one_event_with_its_parts(backend):
    if backend == "c":
        compiler()
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    f = torch.compile(model, backend=backend)
    for _ in range(3):
        f(torch.ones(2, 3)).sum().backward()
    runners = [f.dynamo_ctx.entries[0].runner, f.dynamo_ctx.entries[0].joint.runner]
    with torch.profiler.profile(with_flops=True, record_shapes=True) as prof:
        f(torch.ones(2, 3)).sum().backward()
    events = {event.name: event for event in prof.events()}
    region, node = events["Torch-Compiled Region: Sequential"], events["CompiledFunctionBackward"]
    loop = "loop: add, tanh" if backend == "c" else "loop: tanh"
    assert {"product: matmul", loop} <= {event.name for event in region.cpu_children}
    assert "product: matmul" in [event.name for event in node.cpu_children]
    assert events[loop].input_shapes[0] == [2, 4] and events["product: matmul"].flops == 48
    f(torch.ones(2, 3)).sum().backward()  # no profile listens: the programs are the plain ones
    assert runners == [f.dynamo_ctx.entries[0].runner, f.dynamo_ctx.entries[0].joint.runner]


def test_a_profile_without_a_compiler_has_the_region_alone(monkeypatch, tmp_path):
    compiler()
    f = torch.compile(lambda x: x.tanh() * 3.25, backend="c")
    for _ in range(3):
        f(torch.ones(2))
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path))

    def missing(self, source, target):
        raise toolchain.CompilerMissing("it is gone")

    monkeypatch.setattr(toolchain.Compiler, "compile", missing)
    x = torch.ones(2)
    with torch.profiler.profile() as prof:
        with pytest.warns(UserWarning, match="a profile does not show the parts .*: it is gone"):
            f(x)
        y = f(x)
    assert torch.allclose(y, x.tanh() * 3.25) and len(f.entries) == 1
    assert {event.name.partition(":")[0] for event in prof.events()} == {"Torch-Compiled Region"}


def test_a_program_that_fails_where_the_function_does_not_is_dropped():
    f = torch.compile(lambda x: x * 2, backend="numpy")
    for _ in range(3):
        f(torch.ones(2))

    def fails(*inputs):
        raise ValueError("a fault of the compiler")

    f.entries[0].runner = fails
    with pytest.warns(UserWarning, match="its program raised ValueError: a fault of the compiler"):
        assert f(torch.ones(2)).tolist() == [2.0, 2.0]
    assert not f.entries


def test_a_script_is_compiled_from_the_command_line(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w], lr=0.1)\n"
        "def step(x):\n"
        "    optimizer.zero_grad()\n"
        "    loss = (w * x).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "for i in range(8):\n"
        "    step(torch.ones(3))\n"
    )
    code = f"from tapegrad.__main__ import main; print(main(['compile', {str(script)!r}]))"
    text = run_code(code)
    assert "step(), 8 calls" in text and "times as fast" in text and text.endswith("0\n")


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"mode": "default", "options": {}}, RuntimeError, "Either mode or options can be"),
        ({"mode": "bla"}, RuntimeError, "Unrecognized mode=bla, should be one of: default, lite"),
        ({"options": {"bla": 1}}, RuntimeError, "Unexpected optimization option bla, known"),
        ({"options": {"max_autotune": 3}}, RuntimeError, "got int should be bool"),
        ({"backend": "bla"}, torch._dynamo.exc.InvalidBackend, "Invalid backend: 'bla', see"),
    ],
)
def test_wrong_options(options, kind, text):
    with pytest.raises(kind, match=text):
        torch.compile(len, **options)


def test_what_cannot_be_called():
    with pytest.raises(AssertionError, match="A callable function is expected, but <class 'int'>"):
        torch.compile(3)


def test_a_module_is_wrapped():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    compiled = torch.compile(model)
    assert type(compiled) is torch._dynamo.OptimizedModule and compiled._orig_mod is model
    assert [name for name, _ in compiled.named_modules()] == [
        "",
        "_orig_mod",
        "_orig_mod.0",
        "_orig_mod.1",
    ]
    assert next(iter(compiled.state_dict())) == "_orig_mod.0.weight"
    compiled.load_state_dict(compiled.state_dict())
    compiled.note = 3
    assert model.note == compiled.note == 3 and len(compiled) == 2
    del compiled.note
    assert not hasattr(model, "note")
    compiled.eval()
    assert model.training is compiled.training is model[1].training is False
    assert torch.compile(compiled) is compiled
    assert torch.compile(model, disable=True) is model


def test_hooks_run_on_both_sides_of_the_wrapping():
    model = nn.ReLU()
    compiled = torch.compile(model)
    seen = []
    model.register_forward_hook(lambda *_: seen.append("inner"))
    compiled.register_forward_hook(lambda *_: seen.append("outer"))
    compiled(torch.ones(1))
    assert seen == ["inner", "outer"]


def test_copies_and_pickles_are_wrapped_too():
    compiled = torch.compile(nn.Linear(2, 1))
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert torch.equal(other.weight, compiled.weight) and other.weight is not compiled.weight
        assert isinstance(other, torch._dynamo.OptimizedModule)


def test_training_a_wrapped_module_trains_the_module():
    model = nn.Linear(2, 1)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    before = model.weight.clone()
    compiled(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    assert not torch.equal(before, model.weight)


def test_a_module_compiles_itself_to_itself():
    model = nn.Linear(2, 1)
    assert model.compile(backend="eager") is None
    assert list(model.state_dict()) == ["weight", "bias"] and model(torch.ones(2)).shape == (1,)
    with pytest.raises(RuntimeError, match="Unrecognized mode=bla"):
        model.compile(mode="bla")
