"""`torch._functorch.make_functional`: modules taken apart, as the old functorch did."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.func.functorch import (
    FunctionalModule,
    FunctionalModuleWithBuffers,
    combine_state_for_ensemble,
    make_functional,
    make_functional_with_buffers,
)

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]

__getattr__ = _refuses(__name__)
