"""Three tiers of tests, which the variable TAPEGRAD_TESTS chooses: short, whole, nightly.

`pytest` alone, without paths, is the short one: all files but those of `slow.txt`, which
`python -m tools.record_slow` writes. Paths that are named are whole. In the nightly one tests have
more rounds, of damaged files, killed processes, random programs, and Hypothesis new examples.
"""

import os
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SLOW = ROOT / "tests" / "slow.txt"
VARIABLE = "TAPEGRAD_TESTS"
TIERS = ("short", "whole", "nightly")


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
    """Leave out the slow files."""
    return True if os.environ[VARIABLE] == "short" and collection_path in slow_paths() else None
