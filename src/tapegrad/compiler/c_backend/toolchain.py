"""A C compiler: which one there is, and with which flags it makes a library."""

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.util import find_spec

from tapegrad.compiler.c_backend.folder import folder, write
from tapegrad.core.annotations import Any, Sequence


class CompilerMissing(RuntimeError):
    """There is no C compiler that works; the message says why."""


class Compiler:
    """A command that compiles C, and what tells its results from those of another."""

    def __init__(self, command: Sequence[str]):
        self.command = list(command)
        self.version = _version(self.command)
        self.flags = _flags(self.command, self.version)

    @property
    def identity(self) -> str:
        """What a compiled file depends on besides its source."""
        return "\n".join([*self.command, self.version, *self.flags, cpu()])

    def compile(self, source: str, target: str) -> None:
        """Make a library of a C file. Raises CompilerMissing where the compiler fails."""
        command = [*self.command, *self.flags, "-shared", "-fPIC", "-o", target, source, "-lm"]
        found = _run(command)
        if found.returncode:
            raise CompilerMissing(
                f"{' '.join(command)} failed with {found.returncode}:\n{found.stderr[-4000:]}"
            )


def compiler() -> Compiler:
    """The compiler to use: $CC, or the first of cc, gcc and clang, or the package ziglang.

    Raises CompilerMissing where there is none.
    """
    return _compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@cache
def _compiler(given: str, path: str) -> Compiler:
    if given:
        return Compiler(given.split())
    for name in ("cc", "gcc", "clang"):
        found = _which(name, path)
        if found:
            return Compiler([found])
    if find_spec("ziglang") is not None:
        return Compiler([sys.executable, "-m", "ziglang", "cc"])
    raise CompilerMissing(
        "no C compiler was found: neither $CC, nor cc, gcc or clang in $PATH, nor the package "
        "ziglang (pip install ziglang)"
    )


def _which(name: str, path: str) -> str | None:
    """As `shutil.which`, which takes long to import."""
    if sys.platform == "win32":
        import shutil

        return shutil.which(name, path=path)
    places = [os.path.join(folder, name) for folder in path.split(os.pathsep) if folder]
    return next((x for x in places if os.path.isfile(x) and os.access(x, os.X_OK)), None)


def _run(command: list[str]) -> Any:
    import subprocess  # which takes long, and is not needed for what is in the cache

    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompilerMissing(f"{command[0]} does not run: {error}") from error


def _version(command: list[str]) -> str:
    """What the compiler says of itself; of a program that is as it was, what it has said."""
    path = _file(command)
    try:
        about = os.stat(path) if path else None
    except OSError:  # it will not run
        about = None
    if about is None:
        return _asked_version(command)
    known = f"{path} {os.path.realpath(path or '')} {about.st_size} {about.st_mtime_ns}"
    name = hashlib.sha256(known.encode()).hexdigest()[:32]
    try:
        with open(os.path.join(folder(), "compilers", name), encoding="utf-8") as file:
            return file.read()
    except OSError:  # it was not asked yet
        found = _asked_version(command)
    write("compilers", name, found.encode())
    return found


def _file(command: list[str]) -> str | None:
    """The program that compiles; None where a command does not say it, as one of ccache."""
    first, *rest = command
    if command[:3] == [sys.executable, "-m", "ziglang"]:
        found = find_spec("ziglang")
        places = found.submodule_search_locations if found is not None else None
        return (
            os.path.join(places[0], "zig" + ".exe" * (sys.platform == "win32")) if places else None
        )
    if not all(x.startswith("-") for x in rest):
        return None
    return first if os.path.dirname(first) else _which(first, os.environ.get("PATH", ""))


def _asked_version(command: list[str]) -> str:
    found = _run([*command, "--version"])
    if found.returncode:
        raise CompilerMissing(f"{' '.join(command)} --version failed:\n{found.stderr[-1000:]}")
    return found.stdout.strip()


def _flags(command: list[str], version: str) -> list[str]:
    """Fast, and with IEEE's nan, infinities and order of operations."""
    is_clang = "clang" in version or "ziglang" in command
    is_arm = platform.machine().lower() in ("arm64", "aarch64")
    cpu_flag = "-mcpu=native" if is_clang and is_arm else "-march=native"
    # GCC's -O2 takes half as long again, -O3 three times as long, and neither gains anything here;
    # what is off turns the clamps of exp and tanh into blends behind the polynomial
    ours = ["-O1", "-ftree-loop-vectorize", "-fexpensive-optimizations", "-fno-thread-jumps"]
    speed = ["-O3"] if is_clang else ours
    flags = [
        "-std=gnu11", *speed, cpu_flag, "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math",
        "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=fast", "-w",
    ]  # fmt: skip
    if "ziglang" in command:
        flags.append("-fno-sanitize=undefined")  # which zig adds by itself
    return flags


@cache
def cpu() -> str:
    """The name of the processor and what it can do, as far as the system says."""
    found: list[Any] = [platform.machine(), platform.system()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            wanted = ("model name", "flags", "Features", "CPU part")
            kept = [x.strip() for x in lines if x.startswith(wanted)]
            found += list(dict.fromkeys(kept))
    except OSError:  # another system than Linux
        found.append(platform.processor())
    return "\n".join(found)
