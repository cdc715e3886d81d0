"""Pyright on a folder of programs: what it takes expressions for, and what it flags."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests import needs
from tests.typing.reveal import classes

_REVEALED = re.compile(r'Type of ".*" is "(.*)"', re.DOTALL)


def run(folder, *paths):
    """The types of expressions by file, line and column, and the errors by file.

    `paths` are where modules are looked for. It comes by npm when it runs first: where that fails,
    there is no test.
    """
    needs.package("pyright", "checks the types", extra="dev")
    settings = {"extraPaths": [str(path) for path in paths], "reportMissingModuleSource": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}
    )
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright does not start: {done.stderr.strip()[-200:]}")
    types, errors = {}, []
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        name = os.path.basename(each["file"]).removesuffix(".py")
        start = each["range"]["start"]
        revealed = _REVEALED.fullmatch(each["message"])
        if revealed:
            types[name, start["line"] + 1, start["character"] + 1] = set(named(revealed[1]))
        elif each["severity"] == "error":
            errors.append((name, each.get("rule", "syntax"), start["line"] + 1, each["message"]))
    return types, errors


def named(text):
    """The names of the classes that a type in pyright's words allows."""
    for name in classes(text):
        yield "callable" if name.startswith(("(", "Overload")) else name
