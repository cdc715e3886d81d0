"""`torch.classes`: classes of compiled extensions, by namespace; there are none."""

from typing import NoReturn

from tapegrad.core import errors as _errors

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries: set[str] = set()


class _Namespace:
    """The classes of one extension."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attr: str) -> NoReturn:
        raise _errors.runtime_error(
            f"Tried to instantiate class '{self.__name__}.{attr}', but it does not exist! "
            "Ensure that it is registered via torch::class_",
            "It is a class of a compiled extension, which tapegrad cannot load.",
        )


def load_library(path: str) -> NoReturn:
    """Raises OSError: compiled extensions are PyTorch's."""
    raise _errors.advised(
        OSError(f"Could not load this library: {path}"),
        "It is compiled against PyTorch. torch.library registers operators written in Python.",
    )


def __getattr__(name: str) -> _Namespace:
    if name[:2] == "__":
        raise AttributeError(f"module 'torch.classes' has no attribute '{name}'")
    return _Namespace(name)
