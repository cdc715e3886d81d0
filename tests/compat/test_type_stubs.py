"""Stubs of `torch`: what is written, and what is left alone."""

import ast

import pytest

from tapegrad.compat.type_stubs import write
from tests.command import python


def test_each_public_module_has_a_stub(tmp_path):
    package = write(tmp_path)
    for name in ("__init__", "nn/__init__", "optim/sgd", "utils/data/__init__", "_C/__init__"):
        text = (package / f"{name}.pyi").read_text()
        assert [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    assert not (package / "operators").exists()


def test_names_that_a_star_leaves_out_are_there(tmp_path):
    package = write(tmp_path)
    assert "import _foreach_add as _foreach_add" in (package / "__init__.pyi").read_text()
    scheduler = (package / "optim" / "lr_scheduler.pyi").read_text()
    assert "import StepLR as StepLR" in scheduler


def test_modules_without_files_have_stubs(tmp_path):
    package = write(tmp_path)
    zoo = (package / "utils" / "model_zoo.pyi").read_text()
    assert "from tapegrad.hub import load_state_dict_from_url as load_url\n" in zoo
    older = (package / "quantization.pyi").read_text()
    assert "from torch.ao.quantization import *\n" in older
    assert (package / "export" / "__init__.pyi").exists()


def test_they_are_written_again(tmp_path):
    package = write(tmp_path)
    (package / "nn" / "__init__.pyi").write_text("")
    assert write(tmp_path) == package
    assert (package / "nn" / "__init__.pyi").read_text()


def test_another_package_is_left_alone(tmp_path):
    other = tmp_path / "torch" / "__init__.py"
    other.parent.mkdir()
    other.write_text("x = 1\n")
    with pytest.raises(RuntimeError, match="no stubs of tapegrad's\nName another folder"):
        write(tmp_path)
    assert [each.name for each in other.parent.iterdir()] == ["__init__.py"]


def test_the_command_line(tmp_path):
    done = python("-m", "tapegrad", "stubs", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("typings/torch: stubs of torch")
    (tmp_path / "typings" / "torch" / "__init__.pyi").write_text("x: int\n")
    refused = python("-m", "tapegrad", "stubs", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("tapegrad: typings/torch is there")
