"""Run the PyTorch ecosystem with tapegrad and with PyTorch, and write docs/compare/ecosystem.md.

python -m tools.ecosystem PROGRAMS --pytorch PYTHON [--only NAME ...]     compare, write the page
python -m tools.ecosystem --own-tests FOLDER --pytorch PYTHON PACKAGE ... run a package's own tests
python -m tools.ecosystem                                                 the page from the results

PROGRAMS is a folder of Python files that print numbers, each opening with a docstring whose first
line says `PACKAGE: what is run`. PyTorch's side is PYTHON, an interpreter that has torch 2.13; both
sides import the very same packages: those in ecosystem.txt, installed without their dependencies
(which are in the list, all but PyTorch) into an environment where `import torch` is tapegrad.

A package's own tests are those of FOLDER/PACKAGE, which its source distribution or the tests of its
repository were unpacked into. Both reports stay in FOLDER; a later run of the same tests reads
PyTorch's again. Where torchvision was compiled for another build of PyTorch, its Python part is
imported once `torchvision::nms` and `qnms` have schemas: a plugin named in PYTEST_PLUGINS may
define them with `torch.library`. What a row of the page says beside the numbers stands in
ecosystem.toml.

A program agrees when both sides print the same lines, numbers in them to 1e-4 of the larger of 1
and the number; lines that begin with `time` are passed over, and addresses of objects. Why a
program differs, where that is known, stands in ecosystem.toml beside this file, under its name.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compare" / "ecosystem.md"
INTRODUCTION = Path(__file__).with_suffix(".md")
PACKAGES = Path(__file__).with_suffix(".txt")
RESULTS = Path(__file__).with_suffix(".json")
NOTES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ENVIRONMENT = Path(tempfile.gettempdir()) / "tapegrad-ecosystem"

TOLERANCE = 1e-4
# the tests of a package: names of all that passed, none that runs longer than a quarter of an hour
PYTEST = ["-m", "pytest", "-q", "-rA", "--tb=short", "--show-capture=no", "--timeout=900"]
PYTEST += ["--continue-on-collection-errors", "-p", "no:cacheprovider", "--color=no"]
PYTEST += ["--override-ini=addopts="]  # measures coverage, where a package asks for that
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf\b|nan\b)", re.IGNORECASE)
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
# one thread, one order of sets and no network, so that a second run prints the same
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass
class Row:
    """What the page says of one program."""

    package: str
    version: str
    what: str
    result: str
    agrees: bool
    pytorch_seconds: float
    tapegrad_seconds: float


@dataclass
class Own:
    """What the page says of a package's own tests."""

    package: str
    version: str
    source: str
    folder: str
    passed_with_pytorch: int
    of_these_with_tapegrad: int


def difference(expected: str, got: str) -> tuple[str | None, float]:
    """The first line that differs by more than the tolerance, or None, and the worst deviation."""
    ours, theirs = (
        [x for x in ADDRESS.sub("0x0", text).splitlines() if x[:4] != "time"]
        for text in (got, expected)
    )
    worst = 0.0
    for number, (want, have) in enumerate(zip(theirs, ours, strict=False), start=1):
        wanted, had = (list(map(float, NUMBER.findall(line))) for line in (want, have))
        same = NUMBER.sub("#", want) == NUMBER.sub("#", have)
        off = max(map(deviation, wanted, had), default=0.0)
        if not same or off > TOLERANCE:
            return f"line {number}: `{have[:100]}` where PyTorch prints `{want[:100]}`", worst
        worst = max(worst, off)
    if len(ours) != len(theirs):
        return f"{len(ours)} lines where PyTorch prints {len(theirs)}", worst
    return None, worst


def deviation(want: float, have: float) -> float:
    """How far apart, relative to numbers above one; infinite where only one is nan or infinite."""
    if want == have or (want != want and have != have):
        return 0.0
    off = abs(want - have) / max(1.0, abs(want))
    return off if off == off else float("inf")


def header(program: Path) -> tuple[str, str]:
    """The package and the description in a program's first line."""
    first = program.read_text(encoding="utf-8").partition("\n")[0]
    match = re.match(r'"""([\w./-]+): (.+?)(?:""")?\s*$', first)
    if match is None:
        raise ValueError(f'{program}: the first line is to say """PACKAGE: what is run"""')
    return match[1], match[2]


class Environment:
    """An environment of packages where `torch` is tapegrad, and an interpreter with PyTorch."""

    def __init__(self, folder: Path, pytorch: str):
        self.folder, self.pytorch = folder, pytorch
        self.python = str(folder / "bin" / "python")
        if not folder.exists():
            venv.create(folder, with_pip=True)
            pip = ["-m", "pip", "--quiet", "install"]
            for command in (
                [*pip, "--editable", f"{ROOT}[bfloat16,safetensors]"],
                ["-m", "tapegrad", "enable"],
                [*pip, "--no-deps", "--requirement", str(PACKAGES)],
            ):
                subprocess.run([self.python, *command], check=True)
        ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
        self.packages = self._printed(ask)

    def _printed(self, code: str) -> str:
        run = subprocess.run([self.python, "-c", code], check=True, capture_output=True, text=True)
        return run.stdout.strip()

    def version(self, package: str) -> str:
        """The version of an installed package, or the commit of what is not installed."""
        if package in NOTES["commit"]:
            return NOTES["commit"][package]
        return self._printed(f"from importlib.metadata import version as v; print(v({package!r}))")

    def run(
        self, command: list[str], *, with_pytorch: bool, cwd: str
    ) -> tuple[subprocess.CompletedProcess[str], float]:
        """Run `python COMMAND` on one of the sides; what came, and seconds of processor."""
        settings = {**os.environ, **SETTINGS}
        settings.pop("PYTHONPATH", None)
        if with_pytorch:
            settings["PYTHONPATH"] = self.packages
        python = self.pytorch if with_pytorch else self.python
        before = os.times()
        done = subprocess.run(
            [python, *command], env=settings, cwd=cwd, capture_output=True, text=True
        )
        after = os.times()
        spent = after.children_user - before.children_user
        return done, spent + after.children_system - before.children_system


def plain(name: str) -> str:
    """A distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def compare(program: Path, environment: Environment) -> Row:
    """Run one program on both sides."""
    package, what = header(program)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        command = [str(program.resolve())]
        theirs, pytorch_seconds = environment.run(command, with_pytorch=True, cwd=one)
        ours, tapegrad_seconds = environment.run(command, with_pytorch=False, cwd=other)
    if theirs.returncode:
        raise RuntimeError(f"{program.name} fails with PyTorch:\n{theirs.stderr[-2000:]}")
    differs, worst = difference(theirs.stdout, ours.stdout)
    if ours.returncode:
        lines = ours.stderr.strip().splitlines()
        differs = f"stops: `{next((x for x in reversed(lines) if 'Error' in x), lines[-1])[:200]}`"
    reason = NOTES["reason"].get(program.stem, "")
    return Row(
        package=package,
        version=environment.version(package),
        what=what.rstrip("."),
        result=f"agrees, {worst:.0e}" if differs is None else f"{differs} {reason}".strip(),
        agrees=differs is None,
        pytorch_seconds=round(pytorch_seconds, 1),
        tapegrad_seconds=round(tapegrad_seconds, 1),
    )


def passed(report: str) -> set[str]:
    """The tests that passed, from what `pytest -rA` printed."""
    return set(re.findall(r"^PASSED (.+)$", report, re.MULTILINE))


def own_tests(package: str, folder: Path, environment: Environment) -> Own:
    """Run the tests in `folder`/PACKAGE, which a source distribution was unpacked into."""
    where = NOTES["tests"].get(package, "tests")
    command = [*PYTEST, *shlex.split(where)]
    asked = f"pytest {where}\n"
    reports = []
    for side in ("pytorch", "tapegrad"):
        kept = folder / f"{package}.{side}.log"
        if side == "tapegrad" or not kept.exists() or not kept.read_text().startswith(asked):
            done, _ = environment.run(
                command, with_pytorch=side == "pytorch", cwd=str(folder / package)
            )
            kept.write_text(asked + done.stdout + done.stderr, encoding="utf-8")
        reports.append(kept.read_text(encoding="utf-8"))
    wanted, had = map(passed, reports)
    if not wanted:
        raise RuntimeError(f"{package}: no test passes with PyTorch:\n{reports[0][-2000:]}")
    for name in sorted(wanted - had):
        print("   with PyTorch alone:", name)
    return Own(
        package=package,
        version=environment.version(package),
        source=NOTES["source"].get(package, "sdist"),
        folder=where,
        passed_with_pytorch=len(wanted),
        of_these_with_tapegrad=len(wanted & had),
    )


def page(results: dict[str, dict[str, dict]]) -> str:
    """The text of docs/compare/ecosystem.md."""
    rows = [Row(**row) for row in results["programs"].values()]
    rows.sort(key=lambda row: (plain(row.package), row.what))
    packages = {row.package for row in rows}
    agree = {name for name in packages if all(r.agrees for r in rows if r.package == name)}
    lines = [
        INTRODUCTION.read_text(encoding="utf-8").rstrip(),
        "",
        f"Of {len(packages)} packages {len(agree)} agree in all that was run.",
        "",
        "| package | version | what is run | result | PyTorch, s | tapegrad, s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        times = f"{row.pytorch_seconds:.1f} | {row.tapegrad_seconds:.1f}"
        cells = [row.package, row.version, row.what, row.result.replace("|", "\\|"), times]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## The packages' own tests",
        "",
        "Those that pass with PyTorch, and how many of them pass with tapegrad. They are those of",
        "the source distribution (sdist), or, where it has none, of the repository at a commit.",
        "",
        "| package | version | from | tests | with PyTorch | with tapegrad | what remains |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted(results["tests"]):
        own = Own(**results["tests"][name])
        share = own.of_these_with_tapegrad / own.passed_with_pytorch
        ours = f"{own.of_these_with_tapegrad:,} ({share:.1%})"
        theirs = f"{own.passed_with_pytorch:,}"
        remains = NOTES["remains"].get(own.package, "")
        folders = own.folder.replace("|", "\\|")
        cells = [own.package, own.version, own.source, folders, theirs, ours, remains]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def keep(kind: str, name: str, row: dict) -> None:
    """Keep a result beside those that are there by now, and write the page of them."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    results[kind][name] = row
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run what is asked for, keep the results, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", help="a folder; with --own-tests, packages")
    parser.add_argument("--pytorch", help="an interpreter that has torch 2.13")
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT)
    parser.add_argument("--only", nargs="+", default=[], help="names of programs")
    parser.add_argument("--own-tests", type=Path, metavar="FOLDER")
    asked = parser.parse_args(arguments)
    if not asked.programs:
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        PAGE.write_text(page(results), encoding="utf-8")
        return 0
    environment = Environment(asked.environment, asked.pytorch or sys.executable)
    if asked.own_tests is not None:
        for package in asked.programs:
            own = own_tests(package, asked.own_tests, environment)
            keep("tests", package, asdict(own))
            passing = f"{own.of_these_with_tapegrad} of {own.passed_with_pytorch}"
            print(f"{package}: {passing}", flush=True)
    else:
        for program in sorted(Path(asked.programs[0]).glob("*.py")):
            if asked.only and program.stem not in asked.only:
                continue
            row = compare(program, environment)
            keep("programs", program.stem, asdict(row))
            print(f"{program.stem}: {row.result}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
