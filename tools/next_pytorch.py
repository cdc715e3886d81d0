"""What an installed PyTorch has that tapegrad has otherwise: names, signatures, examples.

    python -m tools.next_pytorch report.md                 needs PyTorch: the extra `oracle`
    python -m tools.next_pytorch report.md --since old.md  the lines that the old report has not

Names are compared with those of `pytorch_surface.txt`, the version that tapegrad follows.
Signatures by the names of parameters, with tapegrad's. The examples of docstrings are run under
both, in processes of their own: what they print must be equal until rounding.
"""

import argparse
import inspect
import json
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.compatibility import home_of, state
from tools.docstring_examples import programs
from tools.pytorch_surface import stored, surface

EXAMPLES_OF = (
    "torch torch.Tensor torch.autograd torch.distributions torch.fft torch.func torch.linalg "
    "torch.nn torch.nn.functional torch.nn.init torch.nn.utils.rnn torch.optim "
    "torch.signal.windows torch.special"
).split()
"""Modules whose examples need neither files nor networks nor processes."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")


def new_and_gone(now: dict[str, list[str]], before: dict[str, list[str]]) -> Iterator[str]:
    """A line for each public name that one of two versions has."""
    for module in sorted({*now, *before}):
        one, other = set(now.get(module, [])), set(before.get(module, []))
        for name in sorted(one - other):
            yield f"- new: `{module}.{name}`, {state(module, name)} here"
        for name in sorted(other - one):
            yield f"- gone: `{module}.{name}`, {state(module, name)} here"


def parameters(x: Any) -> list[str] | None:
    """The names of the parameters, of what is written in C by the first line of its docstring."""
    try:
        found = [each for each in inspect.signature(x).parameters if each not in ("self", "cls")]
        return found if not {"args", "kwargs"} & set(found) else None
    except (TypeError, ValueError):
        text = (getattr(x, "__doc__", None) or "").strip().partition("\n")[0]
    form = re.match(r"\w+\((.*?)\)(?: -> |$)", text)
    if form is None:
        return None
    parts = re.split(r",(?![^(\[]*[)\]])", form[1])
    names = [re.split(r"[:=]", part)[0].strip(" *\\") for part in parts]
    return [name for name in names if re.fullmatch(r"[a-z]\w*", name)]


def signatures(names: dict[str, list[str]]) -> Iterator[str]:
    """A line for each name of which parameters are not taken here."""
    for module, own in names.items():
        for name in own:
            if state(module, name) == "there":
                theirs = parameters(_value(module, name))
                ours = parameters(getattr(home_of(module), name))
                missing = [] if None in (theirs, ours) else [p for p in theirs if p not in ours]
                if missing:
                    yield f"- `{module}.{name}`: {', '.join(missing)}, here ({', '.join(ours)})"


def _value(module: str, name: str) -> Any:
    torch = import_module("torch")
    return getattr(torch.Tensor if module == "torch.Tensor" else import_module(module), name)


def examples(names: dict[str, list[str]]) -> Iterator[str]:
    """A line for each name whose examples print something else here."""
    owners = {
        f"{module}.{name}": _value(module, name)
        for module in EXAMPLES_OF
        for name in names.get(module, [])
    }
    given = dict(programs(owners))
    theirs, ours = (dict(_printed(package, given)) for package in ("torch", "tapegrad"))
    for name, lines in theirs.items():
        for i, (want, got) in enumerate(zip(lines, ours[name], strict=False), start=1):
            if re.match(r"\w+(Error|Exit|Exception): ", want):
                break  # the examples want something that is not here
            if not alike(got, want):
                yield f"- `{name}`, example {i}: {_line(got)}"
                break


def _printed(package: str, given: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """What each program prints; where one ends the process, another goes on with the next."""
    command = [sys.executable, "-m", "tools.docstring_examples", package]
    left = dict(given)
    while left:
        text = json.dumps(left)
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True)
        for line in done.stdout.splitlines():
            name, found = json.loads(line)
            del left[name]
            yield name, found
        if left:
            name = next(iter(left))
            del left[name]
            yield name, [f"ProcessError: exit status {done.returncode}"]


def _line(text: str) -> str:
    return " ".join(text.split())[:120] or "nothing"


def alike(got: str, want: str) -> bool:
    """Whether two texts are equal until the rounding of their numbers.

    >>> from tools.next_pytorch import alike
    >>> alike("tensor([0.33333])", "tensor([0.33334])"), alike("tensor(1.)", "tensor(2.)")
    (True, False)
    """
    bare = [re.sub(r"0x\w+|\s+", "", _NUMBER.sub("#", text)) for text in (got, want)]
    pairs = zip(_NUMBER.findall(got), _NUMBER.findall(want), strict=False)
    return bare[0] == bare[1] and all(
        p == q or math.isclose(float(p), float(q), rel_tol=2e-3, abs_tol=2e-4) for p, q in pairs
    )


def report() -> Iterator[str]:
    """The lines of the report."""
    now = surface()
    yield f"# PyTorch {import_module('torch').__version__.partition('+')[0]} beside tapegrad"
    yield "\n## Names\n"
    yield from new_and_gone(now, stored())
    yield "\n## Signatures\n"
    yield from signatures(now)
    yield "\n## Examples\n"
    yield from examples(now)


def main() -> int:
    """Write the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--since", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    before = set(options.since.read_text(encoding="utf-8").split("\n")) if options.since else set()
    lines = [line for line in report() if line not in before or line.startswith(("#", "\n#"))]
    options.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{options.file}: {sum(line.startswith('- ') for line in lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
