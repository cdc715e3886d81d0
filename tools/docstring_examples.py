"""What the examples in PyTorch's docstrings print, under PyTorch or under tapegrad.

    python -m tools.docstring_examples torch < programs.json

The programs are lists of statements by name; `tapegrad` in place of `torch` serves `import torch`
itself. Each line of the answer is a name and what its statements print.
"""

import ast
import contextlib
import doctest
import io
import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

SECONDS = 5
PRELUDE = "import math, torch, numpy as np\nfrom torch import nn\nimport torch.nn.functional as F"


def programs(owners: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The statements of the examples of every name that has some."""
    for name, value in owners.items():
        text = value.__doc__ if isinstance(getattr(value, "__doc__", None), str) else ""
        with contextlib.suppress(ValueError):  # written so that no example can be told
            found = doctest.DocTestParser().get_examples(text)
            if found:
                yield name, [example.source for example in found]


def printed(statements: list[str]) -> list[str]:
    """What each statement prints, or the class of its error; then what follows is not run."""
    names: dict[str, Any] = {}
    exec(PRELUDE, names)
    names["torch"].manual_seed(0)
    found = []
    for statement in statements:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                _run(statement, names)
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
                break
        found.append(out.getvalue())
    return found


def _run(statement: str, names: dict[str, Any]) -> None:
    tree = ast.parse(statement)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(tree.body[:-1], []), "<example>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<example>", "eval"), names)
        if value is not None:
            print(repr(value))
    else:
        exec(compile(tree, "<example>", "exec"), names)


def _stop(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def main(package: str) -> int:
    """Run the programs of the standard input."""
    if package == "tapegrad":
        from tapegrad import compat

        compat.install()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _stop)
    exec(PRELUDE, {})  # which takes longer than an example may
    answer = sys.stdout
    with tempfile.TemporaryDirectory() as folder:
        given = json.load(sys.stdin)
        os.chdir(folder)  # some write files
        for name, statements in given.items():
            signal.alarm(SECONDS)
            try:
                found = printed(statements)
            except BaseException as error:  # out of time between two statements, or an exit
                found = [f"{type(error).__name__}: {error}"]
            finally:
                signal.alarm(0)
            print(json.dumps([name, found]), file=answer, flush=True)
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
