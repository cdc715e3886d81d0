"""`torch.compile` gives back what it is given, and says so."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.command import run_code

quiet = pytest.mark.filterwarnings("ignore:torch.compile:UserWarning")


def test_it_warns_once():
    code = """
import warnings, tapegrad as torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.compile(len, disable=True)
    print(len(caught))
    torch.compile(len), torch.compile(len)
print(len(caught), caught[0].category.__name__, caught[0].filename, str(caught[0].message)[:36])
"""
    expected = "0\n1 UserWarning <string> torch.compile: tapegrad has no compi\n"
    assert run_code(code) == expected


@quiet
def test_a_function_is_itself_in_every_form():
    def f(x):
        return x

    assert torch.compile(f) is f
    assert torch.compile(f, fullgraph=True, dynamic=False, mode="max-autotune") is f
    assert torch.compile(backend="eager", fullgraph=True)(f) is f
    assert torch.compile()(f) is f
    assert torch.compile(f, options={"triton.cudagraphs": True, "max_autotune": True}) is f


@quiet
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


@quiet
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


@quiet
def test_hooks_run_on_both_sides_of_the_wrapping():
    model = nn.ReLU()
    compiled = torch.compile(model)
    seen = []
    model.register_forward_hook(lambda *_: seen.append("inner"))
    compiled.register_forward_hook(lambda *_: seen.append("outer"))
    compiled(torch.ones(1))
    assert seen == ["inner", "outer"]


@quiet
def test_copies_and_pickles_are_wrapped_too():
    compiled = torch.compile(nn.Linear(2, 1))
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert torch.equal(other.weight, compiled.weight) and other.weight is not compiled.weight
        assert isinstance(other, torch._dynamo.OptimizedModule)


@quiet
def test_training_a_wrapped_module_trains_the_module():
    model = nn.Linear(2, 1)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    before = model.weight.clone()
    compiled(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    assert not torch.equal(before, model.weight)


@quiet
def test_a_module_compiles_itself_to_itself():
    model = nn.Linear(2, 1)
    assert model.compile(backend="eager") is None
    assert list(model.state_dict()) == ["weight", "bias"] and model(torch.ones(2)).shape == (1,)
    with pytest.raises(RuntimeError, match="Unrecognized mode=bla"):
        model.compile(mode="bla")
