"""Methods on complex numbers."""

from tapegrad.operators.indexing.copy_fill import copy_ as _copy
from tapegrad.operators.pointwise import complex_parts


class ComplexMethods:
    """Parts of complex numbers."""

    __slots__ = ()

    conj = complex_parts.conj
    conj_physical = complex_parts.conj_physical
    conj_physical_ = complex_parts.conj_physical_
    resolve_conj = complex_parts.resolve_conj
    resolve_neg = complex_parts.resolve_neg
    angle = complex_parts.angle

    @property
    def real(self):
        """The real parts, a view; a real tensor as it is.

        >>> torch.tensor([1 + 2j]).real
        tensor([1.])
        """
        return complex_parts.real(self)

    @real.setter
    def real(self, value):
        _copy(complex_parts.real(self), value)

    @property
    def imag(self):
        """The imaginary parts, a view.

        >>> torch.tensor([1 + 2j]).imag
        tensor([2.])
        """
        return complex_parts.imag(self)

    @imag.setter
    def imag(self, value):
        _copy(complex_parts.imag(self), value)
