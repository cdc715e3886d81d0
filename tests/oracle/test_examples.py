"""The examples with `import torch` in place of `import tapegrad as torch` have the same losses.

Skipped where PyTorch is not installed (the extra `oracle` brings it).
"""

import re
from types import ModuleType

import pytest

from tests.repository.pages import ROOT

OURS = re.compile(
    r"^(import|from) tapegrad(?!\.data|\.inspect\.terminal_picture)( as torch)?", re.MULTILINE
)

# What gives the losses of an example, and for how many steps they are compared: as long as what is
# rounded otherwise has not grown.
LOSSES = {
    "digits": ("train(epochs=1)[1]", 20),
    "vae": ("train(epochs=1)[2]", 45),
    "reinforce": ("train(rounds=5)[1]", 5),
    "transfer": ("compare(draws=1)[1]", 10),
    "gpt": ("train(steps=4)[2]", 4),
    "series": ("train(steps=8)[1]", 8),
    "pinn": ("train(steps=3)[1]", 3),
    "ode": ("train(steps=20)[1]", 20),
}
SIZES = {  # smaller than the example's
    "gpt": {"SAMPLE": 1, "HELD_BACK": 1},
    "pinn": {"ITERATIONS": 4, "POINTS": 500},
    "ode": {"POINTS": 100},
}


@pytest.fixture(scope="module")
def pytorch(pytorch):
    state, n_threads = pytorch.get_rng_state(), pytorch.get_num_threads()
    pytorch.set_num_threads(1)
    yield pytorch
    pytorch.set_num_threads(n_threads)
    pytorch.set_rng_state(state)


def losses(name, source):
    path = ROOT / "examples" / f"{name}.py"
    module = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(source, path, "exec"), module.__dict__)
    module.__dict__.update(SIZES.get(name, {}))
    expression, n_steps = LOSSES[name]
    return module, eval(expression, module.__dict__)[:n_steps]


@pytest.mark.parametrize("name", LOSSES)
def test_the_first_losses_are_pytorchs(name, pytorch, seed):
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    _, ours = losses(name, source)
    module, theirs = losses(name, OURS.sub(r"\1 torch", source))
    assert module.torch is pytorch
    assert len(ours) == LOSSES[name][1]
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)
