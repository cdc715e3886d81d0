"""Record the signatures of PyTorch's native operators that tapegrad has a name for.

    python -m tools.record_schemas            write library/aten_schemas.bz2
    python -m tools.record_schemas --check    say whether it is up to date; 1 if it is not

It needs the extra `oracle`. Packets of the same signatures share them: behind a line with their
names there is one for each overload, its signature without the name, and PyTorch's tags for it.
"""

import bz2
import sys
from pathlib import Path

import torch

from tapegrad.library import aten_schemas
from tapegrad.library.aten import function_named, operator_names
from tools.grouped import grouped

FILE = Path(__file__).resolve().parents[1] / "src" / "tapegrad" / "library" / "aten_schemas.bz2"

# Kernels of other devices and PyTorch's own services: lists of operators to keep name them. No
# operator here is ever called so.
ELSEWHERE = frozenset(
    "_efficient_attention_forward _flash_attention_forward _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention "
    "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_backward _scaled_mm "
    "_pin_memory _sparse_addmm _sparse_mm_reduce_impl".split()
)


def signatures() -> dict[str, list[str]]:
    """Of each packet the signatures without its name, in PyTorch's order."""
    native = {name for name in torch._C._dispatch_get_all_op_names() if name[:6] == "aten::"}
    found = {}
    for name in sorted({each[6:].partition(".")[0] for each in native}):
        known = name in ELSEWHERE or name in operator_names() or function_named(name) is not None
        if not known or name[:2] == "__":
            continue
        packet = getattr(torch.ops.aten, name)
        found[name] = []
        for each in packet.overloads():
            overload = getattr(packet, each)
            schema = str(overload._schema)
            if overload.name() in native and "Dimname" not in schema:
                tags = " ".join(tag.name for tag in overload.tags)
                found[name].append(f"{schema.removeprefix(f'aten::{name}')} # {tags}")
    return {name: texts for name, texts in found.items() if texts}


def main(given: list[str]) -> int:
    """Write the file, or compare with what it is."""
    found = signatures()
    if "--check" in given:
        lines = [name + text for name, texts in found.items() for text in texts]
        print(*sorted(set(aten_schemas.lines()) ^ set(lines)), sep="\n")
        return int(aten_schemas.lines() != lines)
    FILE.write_bytes(bz2.compress(("\n".join(grouped(found)) + "\n").encode()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
