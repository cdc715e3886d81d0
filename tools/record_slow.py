"""Record the files of tests that take more than half a second, which the short tier leaves out.

TAPEGRAD_TESTS=whole python -m pytest -n auto --junitxml=report.xml
python -m tools.record_slow report.xml
"""

import sys
import xml.etree.ElementTree as tree
from collections import Counter

from tests.tiers import SLOW

SECONDS = 0.5
ALWAYS = ["tests/laws/test_laws.py"]
"""What every run is to hold, whatever it takes."""
NEVER = ["tests/oracle"]
"""What is skipped where PyTorch is not installed."""


def slow(report: str) -> list[str]:
    """The files of a report in JUnit's format whose tests take longer together, by name."""
    spent: Counter[str] = Counter()
    for case in tree.parse(report).iter("testcase"):
        spent[case.attrib["file"]] += float(case.attrib["time"])
    files = {file for file, seconds in spent.items() if seconds > SECONDS}
    return sorted((files - set(ALWAYS)) | set(NEVER))


def main(report: str) -> int:
    """Write the file."""
    SLOW.write_text("\n".join(slow(report)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
