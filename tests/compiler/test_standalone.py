"""Programs that are saved as Python run alone, and give what they gave."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.arrays.numpy.blas_threads import one_blas_thread


def image_net():
    layers = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)
    return nn.Sequential(*layers, nn.Conv2d(8, 8, 3, groups=2), nn.GELU(), nn.AvgPool2d(2))


def upward():
    return nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.ConvTranspose2d(3, 4, 3))


MODELS = {
    "images": (image_net, (2, 3, 12, 12)),
    "upward": (upward, (2, 3, 5, 5)),
    "signal": (lambda: nn.Sequential(nn.Conv1d(3, 4, 3), nn.AdaptiveAvgPool1d(2)), (2, 3, 15)),
    "volume": (lambda: nn.Sequential(nn.Conv3d(3, 4, 3), nn.MaxPool3d(2)), (2, 3, 8, 8, 8)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu"), (2, 7, 8)),
    "gru": (lambda: nn.GRU(4, 5, 2), (7, 2, 4)),
    "large lstm": (lambda: nn.LSTM(64, 128), (40, 32, 64)),
    "norms": (lambda: nn.Sequential(nn.LayerNorm(256), nn.Softmax(-1), nn.GELU()), (512, 256)),
}


def step_of(model, x, trains):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        found = model(x)
        loss = (found[0] if isinstance(found, tuple) else found).square().mean()
        if trains:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss

    compiled = torch.compile(step, backend="numpy")
    with torch.set_grad_enabled(trains):
        for _ in range(3):
            compiled(x)
    return compiled


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_file_gives_what_the_program_gives(name, trains, tmp_path):
    make, shape = MODELS[name]
    torch.manual_seed(0)
    step = step_of(make().train(trains), torch.randn(shape), trains)
    step.save(tmp_path / "saved.py")
    spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
    saved = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(saved)
    with np.errstate(all="ignore"), one_blas_thread():  # several round otherwise
        found = saved.program(*saved.inputs())
        want = step.entries[0].runner(*saved.inputs())
    assert len(found) == len(want) > 0
    for a, b in zip(found, want, strict=True):
        assert a.shape == b.shape and a.tobytes() == b.tobytes()


def test_it_needs_nothing_but_numpy(tmp_path):
    model, shape = MODELS["images"]
    step_of(model(), torch.randn(shape), True).save(tmp_path / "saved.py")
    assert "import tapegrad" not in (tmp_path / "saved.py").read_text()
    command = [sys.executable, "-I", str(tmp_path / "saved.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "us a call" in done.stdout and "(8, 3, 3, 3) float32" in done.stdout


def test_a_program_that_draws_numbers_is_not_saved(tmp_path):
    step = step_of(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), torch.ones(4), False)
    with pytest.raises(RuntimeError, match="draws random numbers"):
        step.save(tmp_path / "saved.py")
    assert not (tmp_path / "saved.py").exists()
