"""Environments whose `import torch` is tapegrad: made without pip, beside NumPy and SciPy alone."""

import os
import subprocess
import venv
from pathlib import Path

import numpy as np
import pytest

import tapegrad
from tapegrad.compat import environment

NEEDED = "numpy numpy.libs scipy scipy.libs ml_dtypes"


class Environment:
    """A virtual environment with tapegrad, and its Python."""

    def __init__(self, folder):
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        home = folder / ("Scripts" if os.name == "nt" else "bin")
        self.executable = home / "python"
        self.packages = Path(self.run("import sysconfig; print(sysconfig.get_path('purelib'))"))
        installed = Path(np.__file__).parents[1]
        for name in NEEDED.split():
            if (installed / name).exists():
                (self.packages / name).symlink_to(installed / name, target_is_directory=True)
        source = str(Path(tapegrad.__file__).parents[1])
        (self.packages / "source.pth").write_text(source + "\n")

    def call(self, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        command = [str(self.executable), *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)

    def run(self, code):
        result = self.call("-c", code)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def tapegrad(self, *words, status=0):
        result = self.call("-m", "tapegrad", *words)
        assert result.returncode == status, result.stderr
        return result.stdout + result.stderr

    def files(self):
        paths = (p.relative_to(self.packages) for p in self.packages.rglob("*"))
        return sorted(str(p) for p in paths if p.name != "__pycache__")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("environment"))


def installed(packages, version):
    """The metadata of a PyTorch that pip has installed."""
    info = packages / f"torch-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    (info / "INSTALLER").write_text("pip\n")
    return info


def test_enabled_every_process_imports_tapegrad_as_torch_and_disabled_none(fresh):
    before = fresh.files()
    assert "import torch fails" in fresh.tapegrad("status")
    assert "import torch is tapegrad" in fresh.tapegrad("enable")
    assert fresh.tapegrad("enable") == fresh.tapegrad("status")  # a second time changes nothing
    version = f"2.13.0+tapegrad.{tapegrad.__version__}"
    code = "import torch; from torch import nn; print(torch.__version__, nn.Linear(1, 1))"
    assert fresh.run(code) == f"{version} Linear(in_features=1, out_features=1, bias=True)"
    assert fresh.run("import importlib.metadata as m; print(m.version('torch'))") == version
    assert fresh.run("import importlib.util as u; print(u.find_spec('torch').name)") == "torch"
    code = "import sys; print([n for n in ('torch', 'tapegrad', 'numpy') if n in sys.modules])"
    assert fresh.run(code) == "[]"
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import torchviz'])"
    assert fresh.run(code) == ""
    assert "import torch fails" in fresh.tapegrad("disable")
    assert fresh.files() == before
    assert fresh.call("-c", "import torch").returncode == 1
    assert "nothing to undo" in fresh.tapegrad("disable")


def test_what_pip_reads_names_every_file(fresh):
    fresh.tapegrad("enable")
    code = "import importlib.metadata as m; d = m.distribution('torch')"
    code += "\nfor f in d.files: print(f.name, f.locate().exists())"
    rows = fresh.run(code).splitlines()
    names = "METADATA INSTALLER top_level.txt WHEEL _tapegrad_torch.py tapegrad_torch.pth RECORD"
    assert rows == [f"{name} True" for name in names.split()]
    fresh.tapegrad("disable")


def test_pytorch_itself_is_left_alone_unless_told(fresh):
    info = installed(fresh.packages, "2.12.1")
    before = fresh.files()
    try:
        assert "PyTorch 2.12.1 is installed" in fresh.tapegrad("enable", status=1)
        assert fresh.files() == before
        assert "import torch is PyTorch 2.12.1" in fresh.tapegrad("status")
        assert "it hides PyTorch 2.12.1" in fresh.tapegrad("enable", "--force")
        assert fresh.run("import torch; print(torch.nn.__name__)").endswith("nn")
        assert fresh.run("import importlib.metadata as m; print(m.version('torch'))") == "2.12.1"
        fresh.tapegrad("disable")
        assert fresh.files() == before
    finally:
        for path in info.iterdir():
            path.unlink()
        info.rmdir()


def test_an_installed_torchviz_wins(fresh):
    package = fresh.packages / "torchviz.py"
    package.write_text("import torch\nmine = True\n")
    fresh.tapegrad("enable")
    try:
        assert fresh.run("import torchviz; print(torchviz.mine)") == "True"
        assert fresh.run("import torch, torchviz; print(torchviz.mine)") == "True"
    finally:
        package.unlink()
        fresh.tapegrad("disable")


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(environment, "_packages", lambda: tmp_path / "missing/here")
    monkeypatch.setattr(environment, "installed_pytorch", lambda: None)
    assert environment.command("enable") == 1
    assert "missing" in capsys.readouterr().err
