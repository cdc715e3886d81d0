"""What importing costs: nn and optim are loaded when they are first asked for."""

from tests.command import run_code

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
