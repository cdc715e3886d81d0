"""`torch._subclasses.fake_tensor`: no tensor of tapegrad is a fake one."""

from tapegrad.compat.refusal import refusing as _refusing

ADVICE = 'Shapes without memory are what tensors of torch.device("meta") have.'


def is_fake(x: object) -> bool:
    """Whether `x` is a tensor that PyTorch's compiler puts in the place of another: False.

    >>> from tapegrad.compat.torch._subclasses.fake_tensor import is_fake
    >>> is_fake(torch.ones(2, device="meta"))
    False
    """
    return False


__getattr__ = _refusing(
    __name__,
    ADVICE,
    functions="maybe_get_fake_mode unset_fake_temporarily",
    classes=(
        "DataDependentOutputException DynamicOutputShapeException FakeTensor FakeTensorConverter "
        "FakeTensorMode UnsupportedFakeTensorException UnsupportedOperatorException"
    ),
)
