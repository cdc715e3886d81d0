"""Record what the expressions of the documentation's programs are when they run.

    python -m tools.record_types     write tests/typing/types.txt; it takes some minutes

A line is a page's name, the classes of the values that were seen, and the expression. The tests
compare them with what a type checker takes the expressions for.
"""

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.command import python
from tests.repository.pages import PAGES, ROOT, blocks
from tests.typing.reveal import instrumented

FILE = ROOT / "tests" / "typing" / "types.txt"
PRELUDE = """\
import atexit as _atexit, builtins as _builtins, json as _json
_found = {}
def _seen(number, value):
    kind = type(value)
    names = [each.__name__ for each in kind.__mro__]
    del names[names.index("Tensor") + 1 if "Tensor" in names else 4 :]
    if callable(value):
        names.append("callable")
    _found.setdefault(number, names)
    return value
def _write():
    with open(PATH, "w") as file:
        _json.dump(_found, file)
_builtins._seen = _seen
_atexit.register(_write)
"""


def recorded(code: str) -> dict[str, list[str]]:
    """The classes of each expression's value in its order of resolution, by the expression."""
    program, keys = instrumented(code, "_seen")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        result = python("-c", PRELUDE.replace("PATH", repr(str(path))) + program)
        if result.returncode:
            print(result.stderr, file=sys.stderr)
            return {}
        found = json.loads(path.read_text())
    return {keys[int(number)]: names for number, names in found.items()}


def main() -> int:
    """Write the file."""
    lines = []
    for page in PAGES:
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        for block in blocks(page):
            for expression, names in recorded(block.values[0]).items():
                if "\n" not in expression:
                    kinds[expression].add(" ".join(names))
        name = page.relative_to(ROOT).as_posix()
        lines += [f"{name}\t{'|'.join(sorted(k))}\t{e}" for e, k in sorted(kinds.items())]
        print(name, len(kinds), flush=True)
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
