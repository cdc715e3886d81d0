"""Tiers of tests, which the variable TAPEGRAD_TESTS chooses: short, long, whole, nightly.

`pytest` alone, without paths, is the short one: all files but those of `slow.txt`, which
`python -m tools.record_slow` writes. The long one is what the short one leaves out, and the files
some of whose tests need more than the extra `test`; the whole one is both. Paths that are named are
whole. In the nightly one tests have more rounds, of damaged files, killed processes, random
programs, and Hypothesis new examples.
"""

import os
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SLOW = ROOT / "tests" / "slow.txt"
VARIABLE = "TAPEGRAD_TESTS"
TIERS = ("short", "long", "whole", "nightly")


def rounds(n: int, nightly: int) -> int:
    """`n`, or in the nightly tier `nightly`."""
    return nightly if os.environ.get(VARIABLE) == "nightly" else n


@cache
def slow_paths() -> frozenset[Path]:
    """What the short tier leaves out."""
    return frozenset(ROOT / line for line in SLOW.read_text(encoding="utf-8").split())


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Choose the tier, for the processes that will share the work as well."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    tier = os.environ.setdefault(VARIABLE, "whole" if named else "short")
    if tier not in TIERS:
        raise pytest.UsageError(f"{VARIABLE}={tier}: it is one of {', '.join(TIERS)}")


def pytest_ignore_collect(collection_path):
    """Leave out the slow files, or the others."""
    tier = os.environ[VARIABLE]
    if tier == "short" and collection_path in slow_paths():
        return True
    if tier == "long" and collection_path.is_file() and not _is_long(collection_path):
        return True
    return None


def _is_long(path: Path) -> bool:
    if any(slow == path or slow in path.parents for slow in slow_paths()):
        return True
    if not path.is_relative_to(ROOT / "tests"):
        return False
    text = path.read_text(encoding="utf-8")
    return "needs." in text or "importorskip" in text
