"""`tapegrad doctor`: which names of `torch` a script uses that are missing here, or differ."""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from tapegrad import compat
from tapegrad.compat import absent_device
from tapegrad.compat.refusal import advice_of
from tapegrad.compat.used_names import ROOTS, Program, Use, read

_PAGES = {
    "torch.compile": "compile.md",
    "torch.cuda": "insides.md",
    "torch.distributed": "distributed.md",
    "torch.func": "func.md",
    "torch.fx": "fx.md",
    "torch.jit": "jit.md",
    "torch.nn.parallel": "distributed.md",
    "torch.sparse": "sparse.md",
    "torch.utils.tensorboard": "summary.md",
}
"""The pages of the documentation that say what there is of a package."""


@dataclass(frozen=True)
class Finding:
    """What is the matter with a name: `kind` is missing, refuses or differs."""

    path: Path
    line: int
    name: str
    kind: str
    advice: str
    page: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}"
        return f"{place}: {self.name} {self.kind}: {self.advice} [{self.page}]"


def command(script: str) -> int:
    """What `python -m tapegrad doctor SCRIPT` does; 1 where something is missing or refuses."""
    try:
        programs = followed(Path(script))
    except (OSError, SyntaxError) as error:
        print(f"tapegrad: {error}", file=sys.stderr)
        return 2
    found = [finding for program in programs for finding in findings(program)]
    print(*found, sep="\n", end="\n" if found else "")
    foreign = sorted(set(packages(programs)))
    if foreign:
        listed = ", ".join(n if find_spec(n) else f"{n} (not installed)" for n in foreign)
        print(f"not looked into: {listed}")
    broken = sum(finding.kind != "differs" for finding in found)
    n_names = len({use.name for program in programs for use in program.uses})
    files = f"{len(programs)} file{'s' * (len(programs) > 1)}"
    print(f"{n_names} names in {files}: {broken} to change, {len(found) - broken} that differ")
    return 1 if broken else 0


@cache
def notes() -> dict[str, Any]:
    """The tables of `differences.toml`."""
    file = Path(__file__).with_name("differences.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def followed(script: Path) -> list[Program]:
    """The script and the modules beside it that it imports, and what these import there."""
    folder = script.parent
    programs: dict[Path, Program] = {}
    todo = [script]
    while todo:
        path = todo.pop(0)
        if path not in programs:
            programs[path] = read(path)
            todo += _beside(programs[path], folder)
    return list(programs.values())


def _beside(program: Program, folder: Path) -> Iterator[Path]:
    for name, dots in program.imports:
        base = program.path.parents[dots - 1] if dots else folder
        below = base.joinpath(*name.split(".")) if name else base
        for path in (below.with_suffix(".py"), below / "__init__.py"):
            if path.is_file():
                yield path


def packages(programs: list[Program]) -> Iterator[str]:
    """The packages that the programs import and that are neither theirs nor Python's own."""
    folder = programs[0].path.parent
    for program in programs:
        for name, dots in program.imports:
            first = name.partition(".")[0]
            own = (folder / first).is_dir() or (folder / f"{first}.py").is_file()
            if not dots and not own and first not in {*sys.stdlib_module_names, *ROOTS}:
                yield first


def findings(program: Program) -> Iterator[Finding]:
    """What is the matter with the names of a program: of each difference the first line only."""
    said = set()
    for use in program.uses:
        for name, kind, advice, page in _judged(use):
            if kind != "differs" or name not in said:
                said.add(name)
                yield Finding(program.path, use.line, name, kind, advice, page)


def _judged(use: Use) -> Iterator[tuple[str, str, str, str]]:
    if use.device:
        yield f'"{use.device}"', "is missing", absent_device.ADVICE, "insides.md"
    if not use.name:
        return
    name, value = found(use.name)
    page = next((p for n, p in _PAGES.items() if f"{name}.".startswith(f"{n}.")), "")
    if value is MISSING:
        yield name, "is missing", _instead(name), page or "compatibility.md"
    elif (advice := advice_of(value)) is not None:
        yield name, "refuses", advice, page or "compatibility.md"
    else:
        name = _noted(name, value)
        options = notes()["option"].get(name, "")
        given = [word for word in use.keywords if f"`{word}=" in options and word != "device"]
        if given:
            yield f"{name}({given[0]}=)", "is missing", options, page or "operators.md"
        elif name in notes()["different"]:
            first = notes()["different"][name].partition(". ")[0]
            yield name, "differs", first.rstrip("."), page or "operators.md"


MISSING = object()


def found(name: str) -> tuple[str, Any]:
    """A name and what it means, or the first part of it that is not there, and `MISSING`.

    Attributes of what is neither a module nor a class are left to the run.

    >>> from tapegrad.compat.doctor import MISSING, found
    >>> name, value = found("torch.nn.Liner.weight")
    >>> name, value is MISSING
    ('torch.nn.Liner', True)
    """
    parts = name.split(".")
    value: Any = compat.module_for(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        if not isinstance(value, ModuleType | type):
            return name, value
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = compat.module_for(".".join(parts[:i]))
            except ImportError:
                return ".".join(parts[:i]), MISSING
    return name, value


def _noted(name: str, value: Any) -> str:
    """The name that the notes have for a function that is known by several."""
    last = name.rpartition(".")[2]
    homes = ("torch", "torch.nn.functional", "torch.linalg", "torch.Tensor")
    names = [f"{home}.{last}" for home in homes]
    return next((n for n in names if n in notes()["different"] and found(n)[1] is value), name)


def _instead(name: str) -> str:
    """What to do without a name that is missing."""
    home, _, last = name.rpartition(".")
    if name in notes()["instead"]:
        return f"instead: {notes()['instead'][name]}"
    for group, pattern in notes()["left_out"].items():
        if re.search(pattern["names"], last):
            return f"tapegrad has no {group}"
    from difflib import get_close_matches

    near = get_close_matches(last, dir(found(home)[1]), 1, 0.75)
    return f"did you mean {home}.{near[0]}?" if near else f"tapegrad has no {name}"
