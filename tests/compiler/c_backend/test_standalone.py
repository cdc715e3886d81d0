"""Programs as C files with a `main` of their own: compiled by a C compiler, and run."""

import subprocess

import numpy as np
import pytest

from tapegrad.arrays.traced import namespace as xp
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend.standalone import standalone
from tapegrad.compiler.c_backend.toolchain import compiler
from tests.command import run_code
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()


def printed(source, folder, runs=2):
    """What a file prints, less the time, as lists of words."""
    file = folder / "step.c"
    if source is not None:
        file.write_text(source)
    command = [*compiler().command, "-std=gnu11", "-O1", "-o", folder / "step", file, "-lm"]
    subprocess.run([str(x) for x in command], check=True, capture_output=True)
    command = [str(folder / "step"), str(runs)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    time, *lines = found.splitlines()
    assert time.endswith(" us a call")
    return [line.split() for line in lines]


def like_main(*shape):
    """The first numbers that `main` makes."""
    state, found = 1, []
    for _ in range(int(np.prod(shape))):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 11) / 2.0**53)
    return np.array(found, np.float32).reshape(shape)


def test_results_are_those_of_the_program(tmp_path):
    table = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    with Program() as program:
        x = program.input(np.ones((5, 3), np.float32))
        lr = program.number(0.5)
        y = xp.exp(-(x @ table)) * lr
        total, flags = y.sum(axis=0), y > 0.1
    places = [z.place for z in (y, total, flags)]
    source = standalone(program, places, {x.place.number: "points"}, {lr.place.number: 0.25})
    found = printed(source, tmp_path)
    x = like_main(5, 3)
    y = np.exp(-(x @ table)) * np.float32(0.25)
    assert [line[:-1] for line in found] == [
        ["0:", "(5,", "4)", "float32"], ["1:", "(4,)", "float32"], ["2:", "(5,", "4)", "bool"],
    ]  # fmt: skip
    assert "points" in source
    numbers = [float(line[-1]) for line in found]
    np.testing.assert_allclose(numbers, [y[0, 0], y.sum(axis=0)[0], y[0, 0] > 0.1], rtol=1e-5)


def test_writes_add_up_from_run_to_run(tmp_path):
    with Program() as program:
        x = program.input(np.ones(4, np.float32))
        x += 1.0
    found = printed(standalone(program, [x.place]), tmp_path, runs=3)
    assert float(found[0][-1]) == pytest.approx(like_main(1)[0] + 4)


_STEP = """
import tapegrad as torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

@torch.compile(backend="numpy")
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss

for _ in range(3):
    step(torch.ones(4, 3))
step.save({path!r})
"""


def test_a_training_step_is_saved_as_c(tmp_path):
    run_code(_STEP.format(path=str(tmp_path / "step.c")))
    first, later = (printed(None, tmp_path, runs=n) for n in (1, 200))
    assert float(first[0][-1]) > 10 * float(later[0][-1]) > 0


def test_a_program_that_calls_python_is_refused():
    with Program() as program:
        x = program.input(np.ones((3, 3)))
        y = np.linalg.inv(x + np.eye(3)) * 2.0
    with pytest.raises(RuntimeError, match=r"The program calls np\.linalg\.inv"):
        standalone(program, [y.place])
