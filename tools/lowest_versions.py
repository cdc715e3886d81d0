"""Print the lowest versions that `pyproject.toml` promises to work with, for `pip install`.

    python -m tools.lowest_versions              # of what tapegrad needs
    python -m tools.lowest_versions test         # and of an extra

Needs nothing but Python, so that it runs before anything is installed.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"

# name, extras, the operator and the version
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,.-]+)\])?(?:(>=|==)([\w.]+))?")


def lowest(project: dict[str, Any], *extras: str) -> Iterator[str]:
    """A pin for each requirement; an extra that names the project itself stands for others."""
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    for requirement in wanted:
        match = _REQUIREMENT.fullmatch(requirement)
        name, others, _, version = match.groups() if match else (None,) * 4
        if others and name == project["name"]:
            yield from lowest({**project, "dependencies": []}, *others.split(","))
        elif version is None:
            raise ValueError(f"{requirement!r} does not say which version is the lowest")
        else:
            yield f"{name}=={version}"


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"], *sys.argv[1:]))
