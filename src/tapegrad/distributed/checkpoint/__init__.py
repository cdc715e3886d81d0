"""`torch.distributed.checkpoint`: states in folders, each rank its parts; helpers for states.

state_dict_saver, state_dict_loader   `save`, `async_save`, `load`
planner, default_planner   which rank writes which part
filesystem    the folder: files of parts, and when they count
manifest, metadata   what the folder has, as PyTorch writes it
_nested_dict  nested states as flat ones
state_dict    states of models and optimisers by the parameters' names
format_utils  one file of `torch.save` from a folder, and back

Loaded on first use. Storages, planners and stagers of one's own are refused by name.
"""

from importlib import import_module
from typing import NoReturn

from tapegrad.core.annotations import Any
from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import refuses as _refuses

_HOMES = {
    "api": "CheckpointException",
    "filesystem": "FileSystemReader FileSystemWriter StorageReader StorageWriter",
    "metadata": "BytesStorageMetadata ChunkStorageMetadata Metadata TensorStorageMetadata",
    "default_planner": "DefaultLoadPlanner DefaultSavePlanner",
    "planner": "LoadPlanner SavePlanner",
    "state_dict_loader": "load",
    "state_dict_saver": "async_save save",
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}
_REFUSED = frozenset(
    "LoadPlan ReadItem SavePlan WriteItem load_sharded_optimizer_state_dict load_state_dict "
    "save_state_dict".split()
)
_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    if name not in _REFUSED:
        return _refuse(name)

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise not_implemented(
            f"tapegrad has no torch.distributed.checkpoint.{name}",
            "save(state_dict, checkpoint_id=folder) and load do without it.",
        )

    refused.__name__ = refused.__qualname__ = name
    return refused
