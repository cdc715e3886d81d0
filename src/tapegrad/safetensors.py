"""Files in the safetensors format, by the package of that name (the extra `safetensors`).

A file holds tensors by name and text about them, and nothing that could run.
"""

import os
from importlib import import_module

import numpy as np

from tapegrad.core.annotations import Any, DeviceLike
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.device import require_cpu
from tapegrad.core.dtype import (
    bfloat16,
    bool_,
    complex64,
    float8_e4m3fn,
    float8_e5m2,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapegrad.core.errors import advised, not_implemented, runtime_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.storage import owner_of
from tapegrad.core.tensor_base import wrap
from tapegrad.serialization.replacement import replacing
from tapegrad.tensors.tensor import Tensor

_DTYPES = {
    "BOOL": bool_, "U8": uint8, "U16": uint16, "U32": uint32, "U64": uint64, "I8": int8,
    "I16": int16, "I32": int32, "I64": int64, "F16": float16, "BF16": bfloat16, "F32": float32,
    "F64": float64, "C64": complex64, "F8_E4M3": float8_e4m3fn, "F8_E5M2": float8_e5m2,
    "F8_E8M0": float8_e8m0fnu,
}  # fmt: skip


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file of these tensors.

    >>> data = torch.safetensors.save({"weight": torch.ones(2)})
    >>> torch.safetensors.load(data)
    {'weight': tensor([1., 1.])}
    """
    arrays = _arrays(tensors)
    return _package("numpy").save(arrays, metadata=metadata)


def save_file(
    tensors: dict[str, Tensor], filename: str | os.PathLike, metadata: dict[str, str] | None = None
) -> None:
    """Write a file of these tensors, which replaces an older one when it is whole.

    Args:
        tensors: contiguous ones by name; no two may share memory
        filename: the path
        metadata: texts by name, for the file's header

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> torch.safetensors.save_file(torch.nn.Linear(2, 1).state_dict(), path)
    >>> sorted(torch.safetensors.load_file(path))
    ['bias', 'weight']
    """
    data = save(tensors, metadata)
    with replacing(filename) as file:
        file.write(data)


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors that the bytes of a file hold.

    Raises: `safetensors.SafetensorError` for a file that was cut or altered, or whose header is
    out of proportion; NotImplementedError for dtypes that tapegrad has not.

    >>> torch.safetensors.load(torch.safetensors.save({"n": torch.arange(3)}))
    {'n': tensor([0, 1, 2])}
    """
    package = _package()
    found = {}
    try:
        _check_header(data)
        entries = package.deserialize(data)
        while entries:
            name, entry = entries.pop()
            found[name] = _tensor(entry)
    except ValueError as error:
        raise advised(
            package.SafetensorError(f"Error while deserializing: {error}"),
            "The file was cut or altered after it was saved: get it again.",
        ) from error
    return dict(reversed(found.items()))


_TENSOR_BYTES = 2000  # of the objects around one tensor
_HEADER_BYTES = 40 << 20  # that these may take beside the file, or 20 for each byte of the header


def _check_header(data: bytes) -> None:
    n = int.from_bytes(data[:8], "little")
    needed = data.count(b"data_offsets", 8, 8 + n) * _TENSOR_BYTES
    if needed > max(len(data) + _HEADER_BYTES, 20 * n):
        raise ValueError("the header names more tensors than the file can hold")


def load_file(filename: str | os.PathLike, device: DeviceLike = "cpu") -> dict[str, Tensor]:
    """The tensors that a file holds, by name.

    Raises: as `load`, and OSError where the file cannot be read.

    >>> torch.safetensors.load_file("missing.safetensors")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.safetensors'
    """
    require_cpu(device)
    with open(filename, "rb") as file:
        return load(file.read())


def _package(name: str = "") -> Any:
    try:
        return import_module(f"safetensors.{name}" if name else "safetensors")
    except ImportError as error:
        raise advised(
            ImportError("tapegrad.safetensors needs the package safetensors"),
            'Install it with: pip install "tapegrad[safetensors]"',
        ) from error


def _tensor(entry: dict[str, Any]) -> Tensor:
    dtype = _DTYPES.get(entry["dtype"])
    if dtype is None:
        raise not_implemented(
            f"the file holds a tensor of {entry['dtype']}",
            f"tapegrad has tensors of {', '.join(_DTYPES)}.",
        )
    data = entry["data"]  # a bytearray, which nobody else has
    return wrap(np.ndarray(len(data), np.uint8, data).view(dtype.numpy).reshape(entry["shape"]))


def _arrays(tensors: Any) -> dict[str, np.ndarray]:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}"
            )
        if tensor.dtype not in _DTYPES.values():
            raise advised(
                KeyError(str(tensor.dtype)), f"The format has no such dtype: convert `{name}`."
            )
    _check_shared(tensors)
    for name, tensor in tensors.items():
        if not tensor._array.flags.c_contiguous:
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. "
                "It either means you are trying to save tensors which are reference of each other "
                "in which case it's recommended to save only the full tensors, and reslice at load "
                "time, or simply call `.contiguous()` on your tensor to pack it before saving."
            )
    return {name: resolved(tensor._array) for name, tensor in tensors.items()}


def _check_shared(tensors: dict[str, Tensor]) -> None:
    """Raise where two tensors have elements in common."""
    groups: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        if tensor._array.size:
            groups.setdefault(id(owner_of(tensor._array)), []).append(name)
    shared = []
    for names in groups.values():
        ordered = sorted(
            names, key=lambda name: np.lib.array_utils.byte_bounds(tensors[name]._array)
        )
        together = {ordered[0]}
        end = np.lib.array_utils.byte_bounds(tensors[ordered[0]]._array)[1]
        for name in ordered[1:]:
            low, high = np.lib.array_utils.byte_bounds(tensors[name]._array)
            if low >= end:
                shared.append(together)
                together = set()
            together.add(name)
            end = max(end, high)
        shared.append(together)
    shared = [each for each in shared if len(each) > 1]
    if shared:
        raise runtime_error(
            "Some tensors share memory, this will lead to duplicate memory on disk and "
            f"potential differences when loading them again: {shared}.",
            "clone() them, or save only one of each group.",
        )


__getattr__ = _refuses(__name__)
