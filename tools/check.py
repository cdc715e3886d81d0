"""The one check command: format, lint, types, tests; the same for the hook, for CI and by hand.

python -m tools.check                       everything
python -m tools.check format lint types     some of it
python -m tools.check smoke                 tests that take five seconds
python -m tools.check site                  the site, with no warning (the extra `docs`)
python -m tools.check short                 tests that take two minutes, those of the README
python -m tools.check nightly               tests with more rounds, and new examples
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "site": ["mkdocs", "build", "--strict", "--quiet"],
    "smoke": ["pytest", "-q", "tests/test_smoke.py"],
    "short": ["pytest", "-q", "-n", "auto"],
    "tests": ["pytest", "-q", "-n", "auto"],
    "nightly": ["pytest", "-q", "-n", "auto"],
}
TIERS = {"short": "short", "nightly": "nightly"}
ALL = ["format", "lint", "types", "tests"]


def main(names: list[str]) -> int:
    """Run the steps called `names`, all of them to their end; 1 if one has failed."""
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; choose from {', '.join(STEPS)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or ALL:
        command = [sys.executable, "-m", *STEPS[name]]
        print(f"== {name}: {' '.join(STEPS[name])}", flush=True)
        environment = {**os.environ, "TAPEGRAD_TESTS": TIERS.get(name, "whole")}
        if subprocess.run(command, cwd=ROOT, env=environment).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all good")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
