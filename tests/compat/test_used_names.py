"""The names of `torch` that a program uses: through imports, aliases and scopes."""

import pytest

from tapegrad.compat.used_names import Use, read


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("import torch.nn.functional as F\nF.relu", "nn.functional nn.functional.relu"),
        ("import torch.nn\ntorch.nn.Linear", "nn nn.Linear"),
        ("import tapegrad as torch\ntorch.ones(2).sum()", "torch ones"),
        ("from torch.nn import Linear as L\nL(2, 3)", "nn.Linear nn.Linear"),
        ("from torch import *", "torch"),
        ("import torch\nF = torch.fft\nF.ifft(F.fft(x))", "torch fft fft.ifft fft.fft"),
        ("import torch\ndef f(torch): torch.a\ntorch.b", "torch b"),
        ("import torch\ndef f():\n import json as torch\n torch.a\ntorch.b", "torch b"),
        ("import torch\nlambda torch, x=torch.a: torch.b", "torch a"),
        ("import torch\ntry: torch.a\nexcept AttributeError: torch.b", "torch b"),
        ("import torch\ntry: torch.a\nexcept ValueError: torch.b", "torch a b"),
        ("import torch\nif TYPE_CHECKING: torch.a\nelse: torch.b", "torch b"),
        ("import torch\n@torch.a\ndef f(x: torch.b) -> None: ...", "torch a b"),
        ("import torch\nfor torch in x: torch.a", "torch"),
        ("import torchvision\ntorchvision.a", ""),
    ],
)  # fmt: skip
def test_names_are_followed(tmp_path, program, names):
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    assert [use.name.removeprefix("torch.") for use in read(path).uses] == names.split()


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ('x.to("cuda:1")', "cuda:1"),
        ("model.cuda()", "cuda"),
        ('torch.ones(2, device="mps")', "mps"),
        ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', ""),
        ('if torch.cuda.is_available(): x.to("cuda")', ""),
        ('x.to("cpu")', ""),
        ('path.to("elsewhere")', ""),
    ],
)
def test_devices_are_those_of_literals(tmp_path, line, device):
    path = tmp_path / "program.py"
    path.write_text(f"import torch\n{line}", encoding="utf-8")
    assert "".join(use.device for use in read(path).uses) == device


def test_keywords_that_are_off_are_none(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import torch\ntorch.f(a=1, b=False, c=None, **d)", encoding="utf-8")
    assert read(path).uses[1] == Use("torch.f", 2, ("a",))
