"""What `import tapegrad` loads at once and on first use, and what the package says it has."""

import importlib
import json

import pytest

import tapegrad as torch
from tests.command import run_code


def loaded_by(code):
    printed = run_code(f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))")
    return set(json.loads(printed))


def test_import_loads_numpy_and_nothing_else_that_is_heavy():
    names = loaded_by("import tapegrad")
    heavy = "scipy matplotlib torch ml_dtypes optree rich dataclasses logging concurrent.futures"
    assert "numpy" in names
    assert not names & {*heavy.split(), "multiprocessing", "unittest", "asyncio", "numpy.random"}
    assert not {name for name in names if name.startswith(("tapegrad.nn", "tapegrad.optim"))}


def test_packages_are_loaded_when_they_are_asked_for():
    names = loaded_by("import tapegrad\ntapegrad.nn, tapegrad.optim, tapegrad.cuda")
    assert {"tapegrad.nn", "tapegrad.optim", "tapegrad.cuda"} <= names
    assert "scipy" not in names


def test_names_that_are_modules_and_functions_are_functions():
    assert callable(torch.tensor) and isinstance(torch.float32, torch.dtype)
    assert torch.device("cpu").type == "cpu"


def test_dtypes_have_pytorchs_names():
    pairs = [
        (torch.half, torch.float16),
        (torch.float, torch.float32),
        (torch.double, torch.float64),
        (torch.short, torch.int16),
        (torch.int, torch.int32),
        (torch.long, torch.int64),
        (torch.cfloat, torch.complex64),
        (torch.cdouble, torch.complex128),
    ]
    assert all(a is b for a, b in pairs)
    assert repr(torch.bool) == "torch.bool" and torch.newaxis is None
    assert (torch.inf, torch.pi) == (float("inf"), 3.141592653589793)


def test_what_is_missing_says_so():
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'bouquet'"):
        torch.bouquet  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'bouquet' from 'torch'"):
        from tapegrad import bouquet  # noqa: F401
    with pytest.raises(AttributeError, match=r"module 'torch\.autograd' has no attribute 'nope'"):
        torch.autograd.nope  # noqa: B018


def test_inf_and_nan_are_answers_without_warnings():
    code = """
import warnings, tapegrad as torch
with warnings.catch_warnings(record=True) as caught:
    x = torch.tensor([1.0, 0.0])
    print((x / 0).tolist(), x.log().tolist(), torch.tensor(300.5).byte().item())
print(len(caught))
"""
    assert run_code(code) == "[inf, nan] [0.0, -inf] 44\n0\n"


@pytest.mark.parametrize(
    "module",
    "autograd autograd.graph autograd.grad_mode autograd.function autograd.functional "
    "autograd.forward_ad autograd.variable utils.checkpoint".split(),
)
def test_all_public_names_come_with_a_star(module):
    found = {}
    exec(f"from tapegrad.{module} import *", found)
    owner = importlib.import_module(f"tapegrad.{module}")
    assert set(owner.__all__) <= set(found)
    assert len(owner.__all__) > 1


CODE = """
import sys
import tapegrad
assert not [name for name in sys.modules if name.startswith(("tapegrad.nn", "tapegrad.optim"))]
tapegrad.nn.Linear, tapegrad.optim.SGD, tapegrad.nn.functional.relu, tapegrad.nn.init.zeros_
from tapegrad.nn.utils import clip_grad_norm_
assert "scipy" not in sys.modules
print("lazy")
"""


def test_nn_and_optim_are_loaded_on_demand():
    assert run_code(CODE) == "lazy\n"


def test_classes_of_packages_are_names_of_torch_too():
    assert torch.GradScaler is torch.amp.GradScaler
    assert torch.DispatchKey is torch._C.DispatchKey
    assert torch.DisableTorchFunctionSubclass is torch._C.DisableTorchFunctionSubclass


def test_dir_has_the_public_names():
    names = dir(torch)
    assert {"Tensor", "tensor", "tanh", "float32", "nn", "unique"} <= {*names}
    assert [name for name in names if name[0] == "_" and name[:2] != "__"] == []
    assert torch._foreach_add is not None  # which is there all the same
