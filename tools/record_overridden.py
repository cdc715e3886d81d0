"""Record what an override hears of each call of the laws' tables in PyTorch.

python -m tools.record_overridden    writes tests/laws/overridden_in_pytorch.json

It needs the extra `oracle`.
"""

import json
import sys
import warnings
from pathlib import Path

import torch

from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of
from tests.laws.overrides_log import WAYS, heard

FILE = Path(__file__).resolve().parents[1] / "tests" / "laws" / "overridden_in_pytorch.json"


def main() -> int:
    """Write the file."""
    warnings.simplefilter("ignore")
    groups = groups_of(tensor_calls, matrix_calls, layer_calls)
    found = {
        way: {g.name: {c: " ".join(heard(torch, g, c, way)[0]) for c in g.calls} for g in groups}
        for way in WAYS
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{sum(len(g.calls) for g in groups)} calls recorded with PyTorch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
