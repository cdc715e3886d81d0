"""`torch.onnx` by name: models are not exported, and what registers rules for it may do so."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tapegrad.compat.paths import ONNX as _ADVICE
from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.onnx._rules import add_rules as _add_rules
from tapegrad.compat.torch.onnx.errors import OnnxExporterError


class TensorProtoDataType(IntEnum):
    """ONNX's numbers of dtypes."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


class OperatorExportTypes(IntEnum):
    """How an exporter is to treat operators that ONNX has not."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TrainingMode(IntEnum):
    """In which mode a model is to be exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: never.

    >>> torch.onnx.is_in_onnx_export()
    False
    """
    return False


def is_onnxrt_backend_supported() -> bool:
    """Whether ONNX runtime can compile here: no."""
    return False


SYMBOLIC: dict[tuple[str, int], Callable] = {}
"""What programs have registered for an export that does not come: by operator and version."""


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable, opset_version: int
) -> None:
    """Note how an operator is to be exported; nothing asks for it."""
    SYMBOLIC[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget it."""
    SYMBOLIC.pop((symbolic_name, opset_version), None)


_VERSIONS = range(9, 19)
for _version in _VERSIONS:
    _add_rules(__name__, _version, _ADVICE)
_MODULES = "errors operators symbolic_helper utils verification " + " ".join(
    [f"symbolic_opset{_version}" for _version in _VERSIONS]
)

__getattr__: Callable[[str], Any] = _refusing(
    __name__,
    _ADVICE,
    functions="dynamo_export export select_model_mode_for_export",
    classes="ExportOptions ExportableModule InputObserver ONNXProgram",
    submodules=_MODULES,
)

__all__ = [
    "OnnxExporterError",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "TrainingMode",
    "is_in_onnx_export",
    "is_onnxrt_backend_supported",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]
