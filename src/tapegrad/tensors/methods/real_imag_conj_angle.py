"""Methods on complex numbers."""

from tapegrad.operators.indexing.copy_fill_zero import copy_ as _copy
from tapegrad.operators.pointwise import real_imag_conj_angle


class ComplexMethods:
    """Parts of complex numbers."""

    __slots__ = ()

    conj = real_imag_conj_angle.conj
    conj_physical = real_imag_conj_angle.conj_physical
    conj_physical_ = real_imag_conj_angle.conj_physical_
    resolve_conj = real_imag_conj_angle.resolve_conj
    resolve_neg = real_imag_conj_angle.resolve_neg
    angle = real_imag_conj_angle.angle

    @property
    def real(self):
        """The real parts, a view; a real tensor as it is.

        >>> torch.tensor([1 + 2j]).real
        tensor([1.])
        """
        return real_imag_conj_angle.real(self)

    @real.setter
    def real(self, value):
        _copy(real_imag_conj_angle.real(self), value)

    @property
    def imag(self):
        """The imaginary parts, a view.

        >>> torch.tensor([1 + 2j]).imag
        tensor([2.])
        """
        return real_imag_conj_angle.imag(self)

    @imag.setter
    def imag(self, value):
        _copy(real_imag_conj_angle.imag(self), value)
