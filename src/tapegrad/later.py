"""What is loaded on its first use, so that `import tapegrad` stays quick.

Files of operators that few programs need are not imported by `tapegrad.ops`: `FUNCTIONS` says which
top-level names they have, and a mixin of `tapegrad.methods` names a method with `method`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

FUNCTIONS: dict[str, str] = {
    "tapegrad.ops.bilinear_form": "bilinear",
    "tapegrad.ops.distance": "cosine_similarity dist pairwise_distance",
    "tapegrad.ops.pair": "cdist pdist",
    "tapegrad.ops.spectrogram": "istft stft",
    "tapegrad.ops.window": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
}
"""For each file, the names of `torch` that it has. Sorted by file."""

KERNELS: dict[str, str] = {
    "tapegrad.arrays.fourier": "fourier fourier_half fourier_real",
    "tapegrad.arrays.pair": "pair_distances pull_distances push_distances",
}
"""For each file, the kernels of the CPU's namespace (`tapegrad.arrays.numpy`) that it has."""

TENSOR_KERNELS: dict[str, str] = {
    "tapegrad.ops.fourier": "fourier fourier_half fourier_real",
    "tapegrad.ops.pair": "pair_distances pull_distances push_distances",
}
"""For each file, the operators of the Tensor namespace (`tapegrad.namespace`) that it has."""


_INDEX: dict[int, dict[str, str]] = {}


def found(table: dict[str, str], name: str) -> Any:
    """What a file of `table` has under `name`; None if the table does not list it."""
    index = _INDEX.get(id(table))
    if index is None:
        index = {name: file for file, names in table.items() for name in names.split()}
        _INDEX[id(table)] = index
    file = index.get(name)
    return None if file is None else getattr(import_module(file), name)


def function_names() -> set[str]:
    """All names of `torch` that are loaded on their first use."""
    return {name for names in FUNCTIONS.values() for name in names.split()}


class method:
    """A method of tensors that is the function `name` of `file`, imported when first asked for.

    It then takes the place of this descriptor, and costs what any other method costs.
    """

    __slots__ = ("file", "name", "own_name", "owner")

    def __init__(self, file: str, name: str):
        self.file = file
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner
        self.own_name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        found = getattr(import_module(self.file), self.name)
        setattr(self.owner, self.own_name, found)
        return found if tensor is None else found.__get__(tensor, owner)


def load_operators() -> None:
    """Import every file of `tapegrad.ops`, so that the registry of operators is whole."""
    from pkgutil import iter_modules

    from tapegrad import ops

    for each in iter_modules(ops.__path__):
        import_module(f"tapegrad.ops.{each.name}")
