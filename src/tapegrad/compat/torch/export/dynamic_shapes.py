"""`torch.export.dynamic_shapes` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.export import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions="Dim dims refine_dynamic_shapes_from_suggested_fixes",
    classes="AdditionalInputs Constraint ShapesCollection",
)
