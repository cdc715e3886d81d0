"""`torch.distributed.checkpoint`: states of models and optimisers by the parameters' names.

`save` and `load` of PyTorch's folders of shards are refused by name: one process has
`torch.save(get_model_state_dict(model), path)`.
"""

from typing import NoReturn

from tapegrad.core.annotations import Any
from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import refuses as _refuses

_REFUSED = frozenset(
    "FileSystemReader FileSystemWriter StorageReader StorageWriter async_save load "
    "load_state_dict save save_state_dict".split()
)
_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name not in _REFUSED:
        return _refuse(name)

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise not_implemented(
            f"tapegrad has no torch.distributed.checkpoint.{name}",
            "torch.save(get_model_state_dict(model), path) writes the state of one process.",
        )

    refused.__name__ = refused.__qualname__ = name
    return refused
