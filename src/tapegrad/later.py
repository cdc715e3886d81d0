"""What is loaded on its first use, so that `import tapegrad` stays quick.

Files of operators that few programs need are not imported by `tapegrad.ops`: `FUNCTIONS` says which
top-level names they have, and a mixin of `tapegrad.methods` names a method with `method`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

FUNCTIONS: dict[str, str] = {
    "tapegrad.ops.bilinear_form": "bilinear",
    "tapegrad.ops.chain": "chain_matmul",
    "tapegrad.ops.definite": "cholesky cholesky_inverse cholesky_solve",
    "tapegrad.ops.determinant": "det logdet slogdet",
    "tapegrad.ops.distance": "cosine_similarity dist pairwise_distance",
    "tapegrad.ops.inversion": "inverse",
    "tapegrad.ops.lu_factors": "lu lu_unpack",
    "tapegrad.ops.lu_system": "lu_solve",
    "tapegrad.ops.matrix_function": "matrix_exp matrix_power",
    "tapegrad.ops.pair": "cdist pdist",
    "tapegrad.ops.spectrogram": "istft stft",
    "tapegrad.ops.triangular_system": "triangular_solve",
    "tapegrad.ops.vandermonde": "vander",
    "tapegrad.ops.vector_product": "cross",
    "tapegrad.ops.window": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
}
"""For each file, the names of `torch` that it has. Sorted by file."""

KERNELS: dict[str, str] = {
    "tapegrad.arrays.factor": (
        "cholesky_factor definite_solution invert ldl_packed ldl_solution lu_packed lu_solution "
        "permutation_matrix solution solve_systems triangular_solution"
    ),
    "tapegrad.arrays.fourier": "fourier fourier_half fourier_real",
    "tapegrad.arrays.matrix_function": "cofactor_change cofactors matrix_exponential",
    "tapegrad.arrays.pair": "pair_distances pull_distances push_distances",
}
"""For each file, the kernels of the CPU's namespace (`tapegrad.arrays.numpy`) that it has."""

TENSOR_KERNELS: dict[str, str] = {
    "tapegrad.arrays.tensor_linalg_extension": "linalg",
    "tapegrad.ops.definite": "definite_solution",
    "tapegrad.ops.determinant": "cofactor_change cofactors",
    "tapegrad.ops.fourier": "fourier fourier_half fourier_real",
    "tapegrad.ops.lu_factors": "permutation_matrix",
    "tapegrad.ops.lu_system": "lu_solution",
    "tapegrad.ops.matrix_function": "matrix_exponential",
    "tapegrad.ops.pair": "pair_distances pull_distances push_distances",
    "tapegrad.ops.solving": "solution",
    "tapegrad.ops.triangular_system": "triangular_solution",
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
