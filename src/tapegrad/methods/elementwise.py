from tapegrad.ops import arithmetic


class ElementwiseMethods:
    __slots__ = ()
    mul = arithmetic.mul
    mul_ = arithmetic.mul_
    __mul__ = arithmetic.mul
    __add__ = arithmetic.add_tensors
