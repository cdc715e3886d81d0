"""Methods on complex numbers."""

from tapegrad.ops import complex_part
from tapegrad.ops.write import copy_ as _copy


class ComplexMethods:
    """Parts of complex numbers."""

    __slots__ = ()

    conj = complex_part.conj
    conj_physical = complex_part.conj_physical
    conj_physical_ = complex_part.conj_physical_
    resolve_conj = complex_part.resolve_conj
    resolve_neg = complex_part.resolve_neg
    angle = complex_part.angle

    @property
    def real(self):
        """The real parts, a view; a real tensor as it is.

        >>> torch.tensor([1 + 2j]).real
        tensor([1.])
        """
        return complex_part.real(self)

    @real.setter
    def real(self, value):
        _copy(complex_part.real(self), value)

    @property
    def imag(self):
        """The imaginary parts, a view.

        >>> torch.tensor([1 + 2j]).imag
        tensor([2.])
        """
        return complex_part.imag(self)

    @imag.setter
    def imag(self, value):
        _copy(complex_part.imag(self), value)
