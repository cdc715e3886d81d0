"""Record how many bytes PyTorch's graph keeps for each call of the laws' tables.

python -m tools.record_kept    writes tests/laws/kept_by_pytorch.json; it needs the extra `oracle`
"""

import json
import sys
import weakref
from pathlib import Path

import torch

from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import Group, groups_of

FILE = Path(__file__).resolve().parents[1] / "tests" / "laws" / "kept_by_pytorch.json"


class Saved:
    """What a node holds in place of a tensor: it goes with the node."""

    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor


def kept_bytes(group: Group, call: str) -> int:
    """Bytes of the storages that the graph of one call keeps, those of its inputs aside."""
    torch.manual_seed(0)
    tensors = group.tensors(torch)
    alive: weakref.WeakSet[Saved] = weakref.WeakSet()

    def pack(tensor: torch.Tensor) -> Saved:
        saved = Saved(tensor)
        alive.add(saved)
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
        result = eval(call, {"torch": torch, "F": torch.nn.functional, **tensors})
    storages = [saved.tensor.untyped_storage() for saved in alive]
    found = {storage.data_ptr(): storage.nbytes() for storage in storages}
    del result
    inputs = {tensor.untyped_storage().data_ptr() for tensor in tensors.values()}
    return sum(nbytes for pointer, nbytes in found.items() if pointer not in inputs)


def main() -> int:
    """Write the file."""
    groups = groups_of(tensor_calls, matrix_calls, layer_calls)
    found = {
        group.name: {call: kept_bytes(group, call) for call in group.calls} for group in groups
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{sum(map(len, found.values()))} calls recorded with PyTorch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
