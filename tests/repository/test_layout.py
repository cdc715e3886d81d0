"""Tests stand where their source does: `tests/a/b/test_c.py` tests `src/tapegrad/a/b/c.py`.

`c` may be a package as well. Where one test file would be too long, a folder has the name of the
source: `tests/a/b/c/test_anything.py` tests the file `a/b/c.py`, too.
"""

from pathlib import Path

import pytest

import tapegrad

TESTS = Path(__file__).parents[1]
SOURCE = Path(tapegrad.__file__).parent

# Folders of what no single file is responsible for.
BROAD = {
    "laws": "what holds for every operator, layer or argument",
    "oracle": "what PyTorch itself says in the same process",
    "repository": "the README, the documentation, the benchmarks, the layout",
    "typing": "what type checkers say of programs",
}

EXCEPTIONS = {
    "test_smoke.py": "five seconds of everything, for the hook that runs before each commit"
}


def files():
    """Every test file by its path below `tests`, but for those of the broad folders."""
    found = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("test_*.py"))]
    return [path for path in found if path.parts[0] not in BROAD]


def is_mirrored(path):
    """Whether there is a source for a test file, by its path below `tests`."""
    source = SOURCE / path.with_name(path.stem.removeprefix("test_"))
    candidates = [source.with_suffix(".py"), source / "__init__.py"]
    candidates.append(source.parent.with_suffix(".py"))
    return any(candidate.exists() for candidate in candidates)


def test_every_test_file_has_its_source():
    lost = [str(path) for path in files() if not is_mirrored(path)]
    assert sorted(set(lost) - EXCEPTIONS.keys()) == []


def test_the_exceptions_are_needed():
    lost = {path.as_posix() for path in files() if not is_mirrored(path)}
    assert EXCEPTIONS.keys() <= lost
    assert all((TESTS / folder).is_dir() for folder in BROAD)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("nn/modules/test_linear.py", True),  # nn/modules/linear.py
        ("nn/test_modules.py", True),  # nn/modules/__init__.py
        ("func/vmap/test_writes.py", True),  # func/vmap.py
        ("nn/modules/test_bouquet.py", False),
        ("nn/modules/bouquet/test_rnn.py", False),
    ],
)
def test_a_source_is_found_at_its_path(path, expected):
    assert is_mirrored(Path(path)) is expected
