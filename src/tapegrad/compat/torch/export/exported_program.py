"""`torch.export.exported_program` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.export import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions="default_decompositions",
    classes="ExportedProgram ModuleCallEntry ModuleCallSignature",
)
