"""Extensions in C++ and CUDA: names for what imports them; nothing is compiled."""

from typing import Any, NoReturn

from tapegrad.core import errors
from tapegrad.core.missing import refuses as _refuses

CUDA_HOME = None
ROCM_HOME = None
IS_HIP_EXTENSION = False


def _refuse(name: str) -> NoReturn:
    raise errors.not_implemented(
        f"torch.utils.cpp_extension.{name}: extensions in C++ need PyTorch's C++ library",
        "tapegrad has none: take the package's version in plain Python, if there is one.",
    )


def load(name: str, *arguments: Any, **options: Any) -> NoReturn:
    """Refused: compiles an extension."""
    _refuse("load")


def load_inline(name: str, *arguments: Any, **options: Any) -> NoReturn:
    """Refused: compiles an extension from strings."""
    _refuse("load_inline")


def CppExtension(name: str, *arguments: Any, **options: Any) -> NoReturn:
    """Refused: describes an extension for setuptools."""
    _refuse("CppExtension")


def CUDAExtension(name: str, *arguments: Any, **options: Any) -> NoReturn:
    """Refused: describes an extension with CUDA for setuptools."""
    _refuse("CUDAExtension")


def include_paths(*arguments: Any, **options: Any) -> NoReturn:
    """Refused: there are no header files."""
    _refuse("include_paths")


class BuildExtension:
    """Refused: builds extensions for setuptools."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        _refuse("BuildExtension")


__getattr__ = _refuses(__name__)
