"""Damages files at random and loads them: what comes out is an object or a documented error.

python -m tools.fuzz_files --seed 7 --n 2000        also loads the files of `tools.hostile_files`
python -m tools.fuzz_files --seed 7 --only 1234     says what the file of that number gives

Valid files, archives of `tapegrad.save`, the format before it, and safetensors, are flipped, cut,
lengthened, given other steps and numbers, and tables that exaggerate. Each is loaded in a process
of its own, whose address space may grow by twice the file and 64 MB, for ten seconds at most, and
which ends if code is run. The same seed makes the same files.
"""

import argparse
import io
import os
import resource
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pickle import UnpicklingError

import tapegrad
from tools import hostile_files
from tools.file_damages import damaged, originals

DOCUMENTED = (UnpicklingError, RuntimeError, EOFError)
ROOM = 64 << 20  # bytes that loading may take beside twice the file
SECONDS = 10

_FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "subprocess.Popen",
    "socket.",
    "ctypes.",
    "shutil.",
    "exec",
    "compile",
    "import",
    "pickle.find_class",
)


def load(form: str, data: bytes, path: str, choice: int) -> None:
    """Load a file of its format: of a path, mapped, or of memory; or look at its names."""
    of_path = choice % 3 == 0
    if form == "safetensors":
        tapegrad.safetensors.load_file(path) if of_path else tapegrad.safetensors.load(data)
        return
    is_zip = data[:4] == b"PK\x03\x04"
    if choice % 8 == 7 and is_zip:
        tapegrad.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
        return
    mapped = of_path and is_zip and choice % 9 == 0
    file = path if of_path else io.BytesIO(data)
    tapegrad.load(file, mmap=mapped)


def in_memory(data: bytes) -> str:
    """The path of a file that is in memory, and gone with the process."""
    handle = os.memfd_create("file")
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(data)
    return f"/proc/self/fd/{handle}"


def documented(form: str) -> tuple[type[BaseException], ...]:
    """What loading a file may raise."""
    if form != "safetensors":
        return DOCUMENTED
    from safetensors import SafetensorError

    return (SafetensorError, NotImplementedError)


def outcome(form: str, data: bytes, choice: int, room: int = ROOM) -> tuple[str, int]:
    """`loaded`, `refused`, or a word on what went wrong, and how much the address space has grown.

    The file is loaded in a child of this process.
    """
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        try:
            text = _in_child(form, data, choice, room)
        except BaseException as error:  # also of the limit, while this was told
            text = f"0 failed {type(error).__name__}"
        os.write(there, text.encode(errors="replace")[:4000])
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if not text:
        number_ = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return ("too slow" if number_ == signal.SIGALRM else f"killed by signal {number_}"), 0
    grown, _, word = text.partition(" ")
    return word, int(grown)


def _in_child(form: str, data: bytes, choice: int, room: int) -> str:
    expected = documented(form)
    path = in_memory(data)
    before = _address_space("VmSize")
    limit = before + 2 * len(data) + room
    events: list[str] = []
    active = [True]

    def watch(event: str, args: tuple) -> None:
        if (
            active[0]
            and event.startswith(_FORBIDDEN)
            and not (event == "import" and _is_ours(args))
        ):
            events.append(f"{event} {args!r:.80}")

    sys.addaudithook(watch)
    signal.alarm(SECONDS)
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    try:
        load(form, data, path, choice)
        word = "loaded"
    except expected:
        word = "refused"
    except BaseException as error:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))  # telling takes some, too
        place = traceback.extract_tb(error.__traceback__)[-1]
        word = f"{type(error).__name__} at {place.name}: {error!s:.100}"
    active[0] = False
    signal.alarm(0)
    if events:
        word = f"ran code: {events[0]}"
    return f"{max(0, _address_space('VmPeak') - before)} {word}"


_OURS = ("tapegrad", "numpy", "safetensors", "ml_dtypes", "encodings")


def _is_ours(args: tuple) -> bool:
    return str(args[0]).partition(".")[0] in _OURS


def _address_space(name: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(name))
    return int(line.split()[1]) * 1024


def warm_up(valid: dict[str, list[bytes]]) -> None:
    """Load every valid file once, so that children import and compile nothing."""
    for form, files in valid.items():
        for data in files:
            path = in_memory(data)
            for choice in (1, 2, 3, 7, 9, 18):
                try:
                    load(form, data, path, choice)
                except documented(form):
                    pass  # layers, where they are not allowed


def main(arguments: list[str] | None = None) -> int:
    """Load the files of a seed, and say by kind how many were refused; 1 if one failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="of the damages")
    parser.add_argument("--n", type=int, default=1000, help="how many files are damaged")
    parser.add_argument("--every", type=int, default=1, help="load each of so many hostile files")
    parser.add_argument("--only", type=int, help="the number of the one file to load")
    given = parser.parse_args(arguments)
    valid = originals()
    warm_up(valid)
    if given.only is not None:
        name, form, data = damaged(valid, given.seed, given.only)
        print(name, len(data), *outcome(form, data, given.only))
        return 0
    made: Iterator = (damaged(valid, given.seed, i) for i in range(given.n))
    failed = summarize(
        "hostile", islice(hostile_files.files(), 0, None, given.every), by_group=True
    )
    failed += summarize(f"seed {given.seed}", made)
    return 1 if failed else 0


def summarize(title: str, files: Iterator[tuple[str, str, bytes]], by_group: bool = False) -> int:
    """Load files and print a table of what came out; how many failed."""
    counts: dict[str, Counter] = {}
    most: Counter = Counter()
    failed = []
    for i, (name, form, data) in enumerate(files):
        word, grown = outcome(form, data, i)
        kind = name.partition(":")[0] if by_group else name
        row = counts.setdefault(kind, Counter())
        row[word if word in ("loaded", "refused") else "failed"] += 1
        most[kind] = max(most[kind], grown)
        if word not in ("loaded", "refused"):
            failed.append(f"{i} {name}, {len(data)} bytes: {word}")
    print(f"{title:<28}{'loaded':>8}{'refused':>9}{'failed':>8}{'MB at most':>12}")
    for kind, row in sorted(counts.items()):
        figures = (
            f"{row['loaded']:>8}{row['refused']:>9}{row['failed']:>8}{most[kind] / 2**20:>12.1f}"
        )
        print(f"  {kind:<26}{figures}")
    total = sum(counts.values(), Counter())
    print(f"  {'all':<26}{total['loaded']:>8}{total['refused']:>9}{total['failed']:>8}", flush=True)
    for line in failed[:50]:
        print("  FAILED", line)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
