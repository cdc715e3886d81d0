"""`torch.export.graph_signature` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.export import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    classes=(
        "ConstantArgument CustomObjArgument ExportBackwardSignature ExportGraphSignature InputKind "
        "InputSpec OutputKind OutputSpec SymBoolArgument SymFloatArgument SymIntArgument "
        "TensorArgument"
    ),
)
