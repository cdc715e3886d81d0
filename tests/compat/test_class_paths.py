"""Classes have PyTorch's paths where `import torch` is tapegrad."""

import json
import pickle
import subprocess
import sys

import pytest

from tests.command import run_code

INSTALL = "from tapegrad import compat; compat.install()\n"

MODULES = """
torch torch.autograd torch.autograd.function torch.autograd.profiler torch.distributions torch.fx
torch.distributions.transforms torch.jit torch.nn torch.nn.parallel torch.nn.parameter torch.optim
torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn torch.optim.lr_scheduler
torch.optim.swa_utils torch.return_types torch.serialization torch.utils.checkpoint
torch.utils.data torch.utils.hooks torch.utils._pytree torch.library torch._dynamo torch.quasirandom
""".split()

LIST = f"""
import importlib, json, sys, torch
found = {{}}
for home in {MODULES}:
    module = importlib.import_module(home)
    for name in dir(module):
        each = getattr(module, name)
        if name[0] != "_" and isinstance(each, type):
            found[home + "." + name] = each.__module__ + "." + each.__qualname__
print(json.dumps(found))
"""

ELSEWHERE = {
    # of C++ there
    "torch.Future": "torch.jit.Future",
    "torch.ScriptModule": "torch.jit._script.ScriptModule",
    "torch.jit.ScriptFunction": "torch.jit.ScriptFunction",
}


def test_paths_are_pytorchs(pytorch):
    ours = json.loads(run_code(INSTALL + LIST))
    command = [sys.executable, "-W", "ignore", "-c", LIST]
    theirs = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    theirs = {k: v for k, v in theirs.items() if v.startswith("torch.")}
    both = ours.keys() & theirs.keys()
    assert len(both) > 400
    differing = {k: ours[k] for k in both if ours[k] != theirs[k]}
    assert differing == ELSEWHERE


def test_a_class_is_found_by_its_path():
    code = """
import pickle
for path in found.values():
    home, _, name = path.rpartition(".")
    if home.startswith("torch"):
        assert isinstance(getattr(importlib.import_module(home), name), type), path
        assert not home.startswith("tapegrad"), path
assert pickle.loads(pickle.dumps(torch.nn.LSTM)) is torch.nn.LSTM
"""
    run_code(INSTALL + LIST + code)


def test_the_package_is_called_torch_until_it_is_uninstalled():
    code = """
import pickle, sys, tapegrad
linear = pickle.dumps(tapegrad.nn.Linear)
compat.install()
import torch
assert torch.__name__ == "torch" and torch.nn.Linear.__module__ == "torch.nn.modules.linear"
assert torch.distributions.Normal.__module__ == "torch.distributions.normal"  # imported later
assert pickle.loads(linear) is torch.nn.Linear
try:
    torch.no_such_name
except AttributeError as error:
    print(error)
compat.uninstall()
assert tapegrad.__name__ == "tapegrad"
assert tapegrad.nn.Linear.__module__ == "tapegrad.nn.modules.linear"
assert tapegrad.distributions.Normal.__module__ == "tapegrad.distributions.normal"
assert not [name for name in sys.modules if name.startswith("torch")]
"""
    printed = run_code("from tapegrad import compat\n" + code)
    assert printed.startswith("module 'torch' has no attribute 'no_such_name'")


def test_a_module_runs_once_under_its_two_names():
    code = """
import sys
import torch.utils._contextlib, torch.nn.modules.linear, torch.distributions.normal
for name, module in list(sys.modules.items()):
    if name.startswith("torch."):
        ours = sys.modules.get("tapegrad" + name[5:])
        assert ours is None or module is ours, name
        home, _, last = name.rpartition(".")
        if home in sys.modules:
            assert last in vars(sys.modules[home]), name
assert torch.nn is sys.modules["tapegrad.nn"] and torch.utils is sys.modules["torch.utils"]
"""
    run_code(INSTALL + code)


def test_optimizers_are_in_the_variables_of_their_package():
    code = "import torch; print(sorted(n for n in vars(torch.optim) if n[:2] == 'Ad'))"
    expected = "['Adadelta', 'Adafactor', 'Adagrad', 'Adam', 'AdamW', 'Adamax']\n"
    assert run_code(INSTALL + code) == expected


@pytest.mark.parametrize("install", ["", INSTALL])
def test_hints_of_modules_are_found(install):
    code = """
import typing
import tapegrad
for home in (tapegrad.nn, tapegrad.distributions):
    for name in dir(home):
        each = getattr(home, name)
        if isinstance(each, type):
            typing.get_type_hints(each)
print(typing.get_type_hints(tapegrad.nn.Linear)["in_features"])
"""
    assert run_code(install + code) == "<class 'int'>\n"


def test_the_source_of_a_class_is_found():
    code = """
import inspect, torch
for each in (torch.nn.Linear, torch.optim.AdamW, torch.distributions.Normal):
    assert inspect.getsource(each).startswith("class " + each.__name__)
    assert inspect.getmodule(each).__file__ == inspect.getfile(each)
"""
    run_code(INSTALL + code)


def test_models_are_read_by_pytorch_and_here(pytorch, tmp_path):
    code = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"))
"""
    path = tmp_path / "ours.pt"
    run_code(f"{INSTALL}{code}torch.save(model, {str(path)!r})")
    scope = {}
    exec(code, scope)
    theirs = pytorch.load(path, weights_only=False)
    x = pytorch.ones(3, 4)
    assert pytorch.equal(theirs.eval()(x), scope["model"].eval()(x))

    path = tmp_path / "theirs.pt"
    pytorch.save(scope["model"], path)
    with open(tmp_path / "theirs.pickle", "wb") as file:
        pickle.dump([scope["model"], pytorch.arange(3)], file)
    read = f"""
import pickle, torch
a = torch.load({str(path)!r}, weights_only=False).eval()
with open({str(tmp_path / "theirs.pickle")!r}, "rb") as file:
    b, numbers = pickle.load(file)
x = torch.ones(3, 4)
assert torch.equal(a(x), b.eval()(x)) and numbers.tolist() == [0, 1, 2]
print(a(x).sum().item())
"""
    printed = float(run_code(INSTALL + read))
    assert abs(printed - theirs(x).sum().item()) < 1e-5


def test_a_scripted_module_saved_here_is_read_without_compat(tmp_path):
    path = str(tmp_path / "scripted.pt")
    run_code(f"""{INSTALL}
import torch
torch.jit.save(torch.jit.script(torch.nn.Linear(2, 1)), {path!r})""")
    shape = run_code(f"import tapegrad as t; print(*t.jit.load({path!r})(t.ones(3, 2)).shape)")
    assert shape == "3 1\n"


def test_script_modules_have_their_name_in_torch():
    code = """
import torch
assert torch.ScriptModule is torch._C.ScriptModule
assert isinstance(torch.jit.script(torch.nn.Linear(2, 1)), torch.ScriptModule)
"""
    run_code(INSTALL + code)
