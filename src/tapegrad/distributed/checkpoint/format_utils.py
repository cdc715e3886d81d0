"""From a folder of parts to one file of `torch.save`, and back."""

import argparse
import os
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.checkpoint import metadata as md
from tapegrad.distributed.checkpoint._nested_dict import set_at
from tapegrad.distributed.checkpoint.filesystem import FileSystemReader
from tapegrad.distributed.checkpoint.state_dict_loader import read_into
from tapegrad.distributed.checkpoint.state_dict_saver import save
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.serialization import load
from tapegrad.serialization import save as save_file


def dcp_to_torch_save(
    dcp_checkpoint_dir: str | os.PathLike, torch_save_path: str | os.PathLike
) -> None:
    """Write all that a folder has to one file, whole and nested as it was saved."""
    reader = FileSystemReader(dcp_checkpoint_dir)
    found = reader.read_metadata()
    state: dict[str, Any] = {}
    for fqn, described in found.state_dict_metadata.items():
        is_tensor = isinstance(described, md.TensorStorageMetadata)
        kind: Any = described
        x = empty(tuple(kind.size), dtype=kind.properties.dtype) if is_tensor else None
        set_at(state, (found.planner_data or {}).get(fqn, (fqn,)), x)
    read_into(state, reader, partial=False)
    save_file(state, torch_save_path)


def torch_save_to_dcp(
    torch_save_path: str | os.PathLike, dcp_checkpoint_dir: str | os.PathLike
) -> None:
    """Write what a file of `torch.save` has to a folder, which any number of ranks may load."""
    save(load(torch_save_path), checkpoint_id=dcp_checkpoint_dir, no_dist=True)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=["torch_to_dcp", "dcp_to_torch"])
    parser.add_argument("src")
    parser.add_argument("dst")
    args = parser.parse_args()
    convert = torch_save_to_dcp if args.mode == "torch_to_dcp" else dcp_to_torch_save
    convert(args.src, args.dst)


__getattr__ = _refuses(__name__)

if __name__ == "__main__":
    _main()
