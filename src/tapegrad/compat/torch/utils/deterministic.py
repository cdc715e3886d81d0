"""`torch.utils.deterministic`: what becomes of memory that nothing is written to."""

import sys
from types import ModuleType

from tapegrad.core import errors
from tapegrad.core.uninitialized import FILLS


class _Deterministic(ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether `use_deterministic_algorithms` has `empty` and its kin filled with nan."""
        return FILLS[0]

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if type(mode) is not bool:
            text = f"expected a bool, but got {errors.type_name(mode)}"
            raise errors.runtime_error(text, "Pass True or False.")
        FILLS[0] = mode


sys.modules[__name__].__class__ = _Deterministic
