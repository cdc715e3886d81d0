"""Compiled programs on disk: found again, whole or not at all, and shared by processes."""

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from tapegrad.arrays.traced.program import Changed, Program
from tapegrad.compiler.c_backend import (
    CompilerMissing,
    blas,
    build,
    c_library,
    cache,
    cache_size,
    lowered,
    toolchain,
)
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


TRAINING = """
import sys
import tapegrad as torch
weight = torch.ones(9, 4, requires_grad=True)
optimizer = torch.optim.Adam([weight])
@torch.compile(backend="c", fullgraph=True)
def step(indices):
    optimizer.zero_grad()
    torch.nn.functional.embedding(indices, weight).sum().backward()  # asks whether indices fit
    optimizer.step()
for _ in range(3):
    step(torch.tensor([1, 2]))
print(*[x for x in sys.modules if x.startswith("tapegrad.") or "." not in x])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run_program(factor=2.0, dtype="f8"):
    x = np.arange(4, dtype=dtype)
    with Program() as program:
        y = program.input(x) * factor
    np.testing.assert_array_equal(build(program, [y.place])(x)[0], x * factor)


def start(n=1):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def entries(folder):
    """The folders of libraries."""
    others = "recipes", "compilers", "products"
    return [x for x in folder.iterdir() if not x.name.startswith(".") and x.name not in others]


def test_a_program_is_compiled_once(folder, monkeypatch):
    run_program()
    assert len(entries(folder)) == 1
    assert sorted(x.name for x in entries(folder)[0].iterdir()) == [
        "program.c", "program.sha256", "program.so",
    ]  # fmt: skip
    monkeypatch.setattr(Compiler, "compile", None)  # a second compilation would raise
    run_program()


@pytest.mark.parametrize("options", ["", " -g0"])
def test_a_compiler_that_is_given_by_name_is_asked_for_its_version_once(
    folder, monkeypatch, options
):
    first = next((x for x in ("cc", "gcc", "clang") if shutil.which(x)), None)
    if first is None:
        pytest.skip("no compiler in $PATH")
    monkeypatch.setenv("CC", first + options)
    toolchain._compiler.cache_clear()
    version = compiler().version
    with monkeypatch.context() as patched:
        patched.setattr(toolchain, "_run", None)
        toolchain._compiler.cache_clear()
        assert compiler().version == version
    monkeypatch.setenv("CC", f"env {first}{options}")  # which may be another one at any time
    toolchain._compiler.cache_clear()
    assert compiler().version == version
    assert len(list((folder / "compilers").iterdir())) == 1


def test_a_program_is_lowered_once(folder, monkeypatch):
    toolchain._compiler.cache_clear()
    run_program()
    with monkeypatch.context() as patched:
        patched.setattr(lowered, "Compiled", None)  # a second lowering would raise
        patched.setattr(Compiler, "compile", None)
        patched.setattr(toolchain, "_run", None)  # the compiler's version is known
        toolchain._compiler.cache_clear()
        run_program()
        for factor, dtype in ((3.0, "f8"), (2.0, "f4")):
            with pytest.raises(TypeError, match="not callable"):
                run_program(factor, dtype)
    (recipe,) = (folder / "recipes").iterdir()
    recipe.write_bytes(recipe.read_bytes()[:-1])
    run_program()
    (entry,) = entries(folder)
    (entry / cache.LIBRARY).unlink()
    run_program()


def test_results_of_a_program_on_disk_have_numpys_own_dtype():
    x = np.arange(4.0)
    for _ in range(2):
        with Program() as program:
            y = program.input(x) * 2.0
        assert build(program, [y.place])(x)[0].dtype is x.dtype


def test_constants_are_part_of_what_a_program_is_found_by():
    x, indices = np.arange(4.0), np.array([2, 1])
    for more in (0, 1, 0):
        numbers = np.arange(4.0) + more
        with Program() as program:
            given = program.input(x)
            y = given * 2.0 + numbers
            z = given[indices + more]
        found = build(program, [y.place, z.place])(x)
        np.testing.assert_array_equal(found[0], x * 2.0 + numbers)
        np.testing.assert_array_equal(found[1], x[indices + more])


def test_what_a_recipe_raises():
    x = np.array([0.5, 2.0])
    for _ in range(2):
        with Program() as program:
            given = program.input(x)
            assert given.sum() > 2
            y = given * 2.0
        run = build(program, [y.place])
        np.testing.assert_array_equal(run(x + 1)[0], x * 2.0 + 2)
        with pytest.raises(Changed, match="of v"):
            run(x - 1)


def test_what_makes_programs_is_not_imported_for_those_on_disk():
    outputs = [subprocess.check_output([sys.executable, "-c", TRAINING]) for _ in range(2)]
    first, second = [set(x.decode().split()) for x in outputs]
    makers = {"subprocess", "tapegrad.compiler.c_backend.lowering"}
    assert makers <= first and not makers & second
    assert not any("profiler" in x for x in second)


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
    assert len(entries(folder)) == 1 and not list(folder.glob("**/.*"))


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


def sizes_of(folder):
    return sum(x.stat().st_size for x in folder.rglob("*") if x.is_file())


def aged(folder, days):
    """Say that everything in a cache was used days ago."""
    before = time.time() - 86400 * days
    for each in [*folder.iterdir(), *(folder / "recipes").iterdir()]:
        os.utime(each, (before, before))


def test_what_was_used_longest_ago_goes_first(folder, monkeypatch):
    run_program(2.0)
    one = sizes_of(folder)
    aged(folder, 3)
    run_program(3.0)
    aged(folder, 2)
    (first,) = [x for x in entries(folder) if "2.0" in (x / "program.c").read_text()]
    run_program(2.0)  # it is used
    monkeypatch.setattr(cache_size, "limit", lambda: int(2.5 * one))
    run_program(5.0)
    left = [(x / "program.c").read_text() for x in entries(folder)]
    assert first in entries(folder)
    assert not any("3.0" in x for x in left) and any("5.0" in x for x in left)
    run_program(3.0)  # compiled anew


def test_a_size_of_none_keeps_what_was_made_last(folder, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_MB", "0")
    for factor in (2.0, 3.0):
        run_program(factor)
        assert len(entries(folder)) == 1


def test_a_size_that_is_no_number(monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_MB", "much")
    with pytest.raises(CompilerMissing, match="TAPEGRAD_CACHE_MB is 'much'"):
        run_program()


def test_what_another_process_removes_as_soon_as_it_is_made_is_made_again(folder, monkeypatch):
    loaded, seen = cache._loaded, []

    def removed_twice(target):
        seen.append(target)
        if len(seen) in (2, 3):
            shutil.rmtree(target)
        return loaded(target)

    monkeypatch.setattr(cache, "_loaded", removed_twice)
    run_program(11.0)
    assert len(seen) == 4


def test_processes_that_remove_what_others_use(folder, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_MB", "0")
    running = [start(20) for _ in range(3)]
    for factor in range(2, 8):
        run_program(float(factor))
    for each in running:
        out, error = each.communicate(timeout=120)
        assert each.returncode == 0, error.decode()
        assert out.split()[-1] == b"done"


def test_products_are_found_without_their_text(folder, monkeypatch):
    monkeypatch.setattr(blas, "found", lambda: blas.Blas("own"))
    blas._own.cache_clear()
    try:
        assert blas.found().address("f32")
        (known,) = (folder / "products").iterdir()
        with monkeypatch.context() as patched:
            patched.setattr(c_library, "used_by", None)  # to write it again would raise
            blas._own.cache_clear()
            assert blas.found().address("f32")
        known.write_bytes(b"of nothing")
        blas._own.cache_clear()
        assert blas.found().address("f32")
        assert known.read_bytes() != b"of nothing"
    finally:
        blas._own.cache_clear()
