"""What the nodes of PyTorch's graphs call the things they keep: `_saved_self` and the like.

python -m tools.saved_names         write the file (needs PyTorch: the extra `oracle`)
"""

import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "src" / "tapegrad" / "inspect" / "saved_names.txt"


def main() -> int:
    """Write a line for each node that both libraries have: its name, and those of what it keeps."""
    import torch

    from tapegrad.dispatch.op import REGISTRY
    from tapegrad.operators.loading import load_operators

    load_operators()
    lines = []
    for node in sorted({op.node_name for op in REGISTRY.values()}):
        kind = getattr(torch._C._functions, node, None)
        names = [name[7:] for name in dir(kind) if name.startswith("_saved_")]
        if names:
            lines.append(" ".join([node, *names]) + "\n")
    FILE.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} nodes of PyTorch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
