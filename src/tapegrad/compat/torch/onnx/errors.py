"""`torch.onnx.errors`: classes of errors that programs catch."""

from tapegrad.core.missing import refuses as _refuses


class OnnxExporterError(RuntimeError):
    """Something went wrong in an export."""


class OnnxExporterWarning(UserWarning):
    """Something may have gone wrong."""


class UnsupportedOperatorError(OnnxExporterError):
    """ONNX has no such operator."""


class SymbolicValueError(OnnxExporterError):
    """A value has no symbol."""


__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
]

__getattr__ = _refuses(__name__)
