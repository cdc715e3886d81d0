"""Compiled programs on disk: found again, whole or not at all, and shared by processes."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend import CompilerMissing, build, cache
from tapegrad.compiler.c_backend.toolchain import Compiler, compiler
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()

PROGRAM = """
import sys
import numpy as np
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend import build
x = np.arange(6.0)
with Program() as program:
    y = program.input(x) * 3.0 + 0.5
print("ready", flush=True)
for _ in range(int(sys.argv[1])):
    assert (build(program, [y.place])(x)[0] == x * 3.0 + 0.5).all()
print("done")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run_program(factor=2.0):
    x = np.arange(4.0)
    with Program() as program:
        y = program.input(x) * factor
    np.testing.assert_array_equal(build(program, [y.place])(x)[0], x * factor)


def start(n=1):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def entries(folder):
    return [x for x in folder.iterdir() if not x.name.startswith(".")]


def test_a_program_is_compiled_once(folder, monkeypatch):
    run_program()
    assert len(entries(folder)) == 1
    assert sorted(x.name for x in entries(folder)[0].iterdir()) == [
        "program.c", "program.sha256", "program.so",
    ]  # fmt: skip
    monkeypatch.setattr(Compiler, "compile", None)  # a second compilation would raise
    run_program()


@pytest.mark.parametrize("name", [cache.LIBRARY, cache.DIGEST])
def test_a_damaged_entry_is_made_anew(folder, name):
    run_program()
    path = entries(folder)[0] / name
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 2])
    run_program(2.0)
    (entry,) = entries(folder)
    library = (entry / cache.LIBRARY).read_bytes()
    assert hashlib.sha256(library).hexdigest() == (entry / cache.DIGEST).read_text()
    assert len((entry / name).read_bytes()) == len(content)
    assert not [x for x in folder.iterdir() if x.name.startswith(".")]


def test_ten_processes_compile_one_program(folder):
    processes = [start() for _ in range(10)]
    outputs = [x.communicate(timeout=120) for x in processes]
    assert all(x.returncode == 0 for x in processes), outputs
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2])
def test_a_process_killed_while_it_compiles_leaves_nothing_that_is_loaded(folder, delay):
    killed = start()
    assert killed.stdout.readline() == b"ready\n"
    time.sleep(delay)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    after = start()
    out, error = after.communicate(timeout=120)
    assert out.endswith(b"done\n"), error
    assert len(entries(folder)) == 1


def test_a_folder_that_cannot_be_written_is_a_missing_compiler(folder, monkeypatch):
    file = folder.parent / "file"
    file.write_text("")
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(file / "below"))
    with pytest.raises(CompilerMissing, match="cannot be written"):
        run_program()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_still_gives_what_it_has(folder):
    run_program()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        run_program()
        with pytest.raises(CompilerMissing, match="cannot be written"):
            run_program(5.0)
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_compiler_that_fails_says_what_it_said(monkeypatch, tmp_path):
    broken = tmp_path / "broken-cc"
    broken.write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'out of order' >&2\nexit 3\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(CompilerMissing, match=r"(?s)failed with 3.*out of order"):
        run_program(11.0)
    monkeypatch.setenv("CC", str(tmp_path / "absent"))
    with pytest.raises(CompilerMissing, match="does not run"):
        run_program(12.0)


def test_without_a_compiler_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("tapegrad.compiler.c_backend.toolchain.find_spec", lambda name: None)
    with pytest.raises(CompilerMissing, match="ziglang"):
        compiler()
