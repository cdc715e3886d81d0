"""`import torch` served by tapegrad; each test in a process that has not seen `torch` yet."""

import pytest

from tests.command import python, run_code

INSTALL = "from tapegrad import compat; compat.install()\n"


def test_modules_of_torch_are_those_of_tapegrad():
    code = """
import tapegrad, torch
import torch.nn as nn
import torch.nn.functional as F
import torch.autograd.profiler as profiler
from torch import optim
from torch.autograd import Variable
assert torch is tapegrad
assert nn is tapegrad.nn and F is tapegrad.nn.functional and optim is tapegrad.optim
assert profiler is tapegrad.autograd.profiler and Variable is tapegrad.autograd.Variable
assert isinstance(Variable(torch.ones(2)), tapegrad.Tensor)
print(torch.tensor([1.0, 2.0]))
"""
    assert run_code(INSTALL + code) == "tensor([1., 2.])\n"


def test_a_module_that_is_imported_first_as_torch_is_the_same_later():
    code = """
import torch.nn.functional, tapegrad.nn.functional
assert torch.nn.functional is tapegrad.nn.functional
assert torch.nn.functional.__spec__.name == "tapegrad.nn.functional"
assert torch.__spec__.name == "tapegrad"
"""
    run_code(INSTALL + code)


def test_gradcheck_is_a_function_and_a_module_in_any_order():
    code = """
from torch.autograd import gradcheck
import torch
torch.autograd.gradcheck
from torch.autograd.gradcheck import GradcheckError
import torch.autograd.gradcheck
x = torch.ones(1, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(torch.sin, x) and gradcheck(torch.sin, x)
try:
    import torch.dtype
except ModuleNotFoundError:
    print("no module")
"""
    assert run_code(INSTALL + code) == "no module\n"


def test_torchsummary_is_served_too():
    code = """
from torchsummary import summary
import torch
summary(torch.nn.Linear(3, 4), (3,), device="cpu")
"""
    assert "Linear-1" in run_code(INSTALL + code)


def test_torchinfo_is_served_where_it_is_not_installed():
    code = """
import tapegrad.inspect.torchinfo, sys
sys.path[:] = [p for p in sys.path if "site-packages" not in p]
import torch, torchinfo
from torchinfo import ColumnSettings, ModelStatistics, summary
result = summary(torch.nn.Linear(3, 4), (2, 3), verbose=0)
assert isinstance(result, torchinfo.ModelStatistics)
print(result.total_params, torchinfo.__version__)
"""
    assert run_code(INSTALL + code) == "16 1.8.0\n"


def test_the_version_is_that_of_pytorch_while_installed():
    code = """
import tapegrad
own = tapegrad.__version__
compat.install()
import torch
print(torch.__version__, torch.__version__ >= "2.4", torch.__version__ < (2, 14))
compat.uninstall()
assert tapegrad.__version__ == own
"""
    printed = run_code(INSTALL.replace("compat.install()", "") + code)
    assert printed == "2.13.0+tapegrad.0.2.0 True True\n"


def test_uninstall_forgets_every_served_module():
    code = """
import sys, torch.nn, torchsummary
compat.uninstall()
compat.uninstall()
left = [name for name in sys.modules if name.partition(".")[0] in ("torch", "torchsummary")]
assert left == [], left
import tapegrad.nn
assert tapegrad.nn.Module
"""
    run_code(INSTALL + code)


def test_install_refuses_after_the_real_torch(tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "script.py").write_text("import torch\n" + INSTALL)
    result = python(tmp_path / "script.py")
    assert result.returncode == 1
    assert "ImportError: tapegrad cannot serve 'torch': PyTorch itself is already" in result.stderr
    assert str(tmp_path / "torch.py") in result.stderr
    assert "before anything imports torch" in result.stderr


def test_serving_takes_precedence_over_a_real_torch(tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "script.py").write_text(INSTALL + "import torch; print(torch.__spec__.name)")
    assert python(tmp_path / "script.py").stdout == "tapegrad\n"


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("import torch.bouquet", "ModuleNotFoundError", "No module named 'torch.bouquet'"),
        ("from torch.bouquet import x", "ModuleNotFoundError", "No module named 'torch.bouquet'"),
        ("import torch.nn.bouquet", "ModuleNotFoundError", "No module named 'torch.nn.bouquet'"),
        ("import torch.dtype", "ModuleNotFoundError", "No module named 'torch.dtype'"),
        ("import torch.ones", "ModuleNotFoundError", "No module named 'torch.ones'"),
        ("from torch import bouquet", "ImportError", "cannot import name 'bouquet' from 'torch' ("),
        ("from torch.nn import X", "ImportError", "cannot import name 'X' from 'torch.nn' ("),
        (
            "from torch.nn.functional import bouquet",
            "ImportError",
            "cannot import name 'bouquet' from 'torch.nn.functional' (",
        ),
        ("torch.bouquet", "AttributeError", "module 'torch' has no attribute 'bouquet'"),
        ("torch.nn.Bouquet", "AttributeError", "module 'torch.nn' has no attribute 'Bouquet'"),
        ("torch.optim.X", "AttributeError", "module 'torch.optim' has no attribute 'X'"),
        ("torch.autograd.x", "AttributeError", "module 'torch.autograd' has no attribute 'x'"),
        (
            "torch.nn.functional.bouquet",
            "AttributeError",
            "module 'torch.nn.functional' has no attribute 'bouquet'",
        ),
        (
            "torch.ones(2).slice_inverse",
            "AttributeError",
            "'Tensor' object has no attribute 'slice_inverse'",
        ),
    ],
)
def test_what_tapegrad_lacks_is_named_in_an_error(code, kind, message):
    program = f"""
import torch, torch.nn.functional
try:
    {code}
except Exception as error:
    print(type(error).__name__)
    print(error, *error.__notes__, sep="\\n")
"""
    printed = run_code(INSTALL + program).splitlines()
    assert printed[0] == kind
    assert printed[1].startswith(message)
    assert printed[2].startswith("tapegrad has no ")


def test_hasattr_and_defaults_work_for_what_is_missing():
    code = """
import torch
assert not hasattr(torch, "bouquet")
assert not hasattr(torch.ones(2), "bouquet") and not hasattr(torch.ones(2), "slice_inverse")
assert getattr(torch.nn, "Bouquet", 3) == 3
"""
    run_code(INSTALL + code)


def test_a_module_that_fails_to_import_says_why_itself(tmp_path):
    code = """
import tapegrad
tapegrad.__path__.append({!r})
try:
    import torch.broken
except ModuleNotFoundError as error:
    print(error)
"""
    (tmp_path / "broken.py").write_text("import no_such_package")
    printed = run_code(INSTALL + code.format(str(tmp_path)))
    assert printed == "No module named 'no_such_package'\n"


def test_who_asks_whether_there_is_a_module_gets_none_for_what_is_missing():
    code = """
from importlib.util import find_spec
assert find_spec("torch.nn.functional").name == "torch.nn.functional"
assert find_spec("torch.nonexistent") is None and find_spec("torch.nn.nonexistent") is None
try:
    import torch.nonexistent
except ModuleNotFoundError as error:
    print(*error.__notes__)
"""
    text = "tapegrad has no module torch.nonexistent: dir(torch) lists what there is\n"
    assert run_code(INSTALL + code) == text


def test_the_version_is_that_of_pytorch_wherever_it_is_read():
    code = """
import torch, tapegrad
assert torch.version.__version__ == torch.__version__ and torch.__version__ >= "2.13"
compat.uninstall()
print(tapegrad.version.__version__ == tapegrad.__version__ == tapegrad.version.tapegrad)
"""
    assert run_code(INSTALL + code) == "True\n"
