"""Programs as C files with a `main` of their own: compiled by a C compiler, and run."""

import importlib.util
import shutil
import subprocess
import sys

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


_MODELS = {
    "perceptron": """
model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 3))
x = torch.randn(32, 20)
""",
    "transformer": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.up = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 3)
    def forward(self, x):
        q, k, v = (y.view(4, 16, 4, 8).transpose(1, 2) for y in self.qkv(self.norm(x)).split(32, 2))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.up(x + y.transpose(1, 2).reshape(4, 16, 32))
model = nn.Sequential(nn.Embedding(17, 32), Block())
x = torch.randint(0, 17, (4, 16))
""",
    "convolution": """
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 3),
)
x = torch.randn(4, 1, 14, 14)
""",
    "LSTM": """
class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(12, 24, batch_first=True), nn.Linear(24, 3)
    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])
model = Last()
x = torch.randn(6, 9, 12)
""",
}
_TRAINING = """
import tapegrad as torch
from tapegrad import nn
torch.manual_seed(0)
{model}
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

@torch.compile(backend="numpy")
def step(x):
    optimizer.zero_grad()
    loss = model(x).tanh().mean()
    loss.backward()
    optimizer.step()
    return loss

for _ in range(3):
    step(x)
step.save({path!r})
"""
_OPTIONS = "-std=gnu11 -O2 -fopenmp-simd -fno-math-errno -fno-trapping-math".split()


def _zig():
    """The command of the package ziglang, which compiles for every system."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("no ziglang")
    return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined", "-target"]


@pytest.mark.parametrize("name", _MODELS)
def test_a_processor_of_another_kind_has_the_same_numbers(name, tmp_path):
    emulator = shutil.which("qemu-aarch64")
    if emulator is None:
        pytest.skip("no qemu-aarch64")
    compile_for_arm = [*_zig(), "aarch64-linux-musl"]
    run_code(_TRAINING.format(model=_MODELS[name], path=str(tmp_path / "step.c")))
    want = printed(None, tmp_path)
    file, program = str(tmp_path / "step.c"), str(tmp_path / "arm")
    subprocess.run([*compile_for_arm, *_OPTIONS, "-o", program, file, "-lm"], check=True)
    found = subprocess.check_output([emulator, program, "2"], text=True).splitlines()[1:]
    for line, other in zip(found, want, strict=True):
        *words, number = line.split()
        assert words == other[:-1]
        assert float(number) == pytest.approx(float(other[-1]), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("target", ["x86_64-windows-gnu", "aarch64-macos"])
@pytest.mark.parametrize("name", _MODELS)
def test_c_is_compiled_for_other_systems(name, target, tmp_path):
    command = [*_zig(), target, *_OPTIONS, "-c", "-o", "step.o", "step.c"]
    run_code(_TRAINING.format(model=_MODELS[name], path=str(tmp_path / "step.c")))
    subprocess.run(command, check=True, cwd=tmp_path)


def test_a_program_that_calls_python_is_refused():
    with Program() as program:
        x = program.input(np.ones((3, 3)))
        y = np.linalg.inv(x + np.eye(3)) * 2.0
    with pytest.raises(RuntimeError, match=r"The program calls np\.linalg\.inv"):
        standalone(program, [y.place])
