"""`tapegrad run` next to `python`: the same script must see and print the same."""

import signal

import pytest

from tests.command import python

SEES = """
import os, sys
names = sorted(set(globals()) - {"os", "sys"})
print(sys.argv, os.path.relpath(sys.path[0]), __name__, __file__, names)
print(sys.modules["__main__"].__file__, __doc__, __package__, __spec__)
"""


def run_both(tmp_path, source, *args):
    """What python and tapegrad do with the same script, called from the directory above it."""
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "script.py").write_text(source)
    plain = python("folder/script.py", *args, cwd=tmp_path)
    served = python("-m", "tapegrad", "run", "folder/script.py", *args, cwd=tmp_path)
    return plain, served


def test_a_script_sees_what_it_sees_under_python(tmp_path):
    plain, served = run_both(tmp_path, SEES, "one", "-h", "--seed", "3", "--", "-x")
    assert plain.returncode == served.returncode == 0
    assert served.stdout == plain.stdout


def test_a_script_finds_the_modules_beside_it(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "neighbour.py").write_text("import torch\nname = torch.__spec__.name")
    result = run_both(tmp_path, "import neighbour; print(neighbour.name)")[1]
    assert result.stdout == "tapegrad\n"


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    return 1 / 0\n\nf()\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('second')\n",
        "x = = 3\n",
        "import no_such_module\n",
        "raise RuntimeError('a'\n    'b')\n",
        "import sys\nsys.excepthook = lambda *error: print('mine', error[2].tb_next)\n1 / 0\n",
    ],
)
def test_a_traceback_is_that_of_python(tmp_path, source):
    plain, served = run_both(tmp_path, source)
    assert plain.returncode == served.returncode == 1
    assert (served.stdout, served.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("", 0),
        ("raise SystemExit", 0),
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit('bye')", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_the_exit_status_is_that_of_python(tmp_path, source, status):
    plain, served = run_both(tmp_path, source)
    assert plain.returncode == served.returncode == status
    assert served.stderr == plain.stderr


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("import torch.bouquet", "ModuleNotFoundError: No module named 'torch.bouquet'"),
        ("from torch import bouquet", "ImportError: cannot import name 'bouquet' from 'torch' ("),
        ("import torch; torch.bouquet", "AttributeError: module 'torch' has no attribute 'bouq"),
        ("import torch; torch.nn.X", "AttributeError: module 'torch.nn' has no attribute 'X'"),
    ],
)
def test_a_missing_part_ends_with_the_line_of_the_script(tmp_path, statement, error):
    (tmp_path / "script.py").write_text(statement)
    lines = python("-m", "tapegrad", "run", tmp_path / "script.py").stderr.splitlines()
    assert lines[:3] == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path / "script.py"}", line 1, in <module>',
        f"    {statement}",
    ]
    rest = [line for line in lines[3:] if set(line.strip()) - set("^~")]
    assert rest[0].startswith(error)
    assert rest[1].startswith("tapegrad has no ")
    assert len(rest) == 2


def test_a_script_that_is_not_there_is_reported_as_python_does(tmp_path):
    plain, served = (python(*words, "nowhere.py", cwd=tmp_path) for words in ([], RUN))
    assert plain.returncode == served.returncode == 2
    assert served.stderr.partition(": ")[2] == plain.stderr.partition(": ")[2]


RUN = ("-m", "tapegrad", "run")


def test_classes_of_a_script_can_be_pickled(tmp_path):
    source = """
import pickle
class Point:
    pass
print(type(pickle.loads(pickle.dumps(Point()))) is Point)
"""
    assert run_both(tmp_path, source)[1].stdout == "True\n"
