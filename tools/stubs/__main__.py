"""Write the stubs, or say which are not up to date."""

import sys
from pathlib import Path

from tools.stubs.modules import ROOT, stubs


def outdated() -> dict[Path, str]:
    """The stubs whose files say something else, with what they should say."""
    return {
        path: text
        for path, text in stubs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    stale = outdated()
    for path, text in stale.items():
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
