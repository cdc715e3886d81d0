"""`torch._subclasses`, PyTorch's tensors without memory for its compiler, by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch._subclasses.fake_tensor import ADVICE

__getattr__ = _refusing(
    __name__,
    ADVICE,
    classes=(
        "CrossRefFakeMode DynamicOutputShapeException FakeTensor FakeTensorMode "
        "UnsupportedFakeTensorException"
    ),
    submodules="fake_tensor",
)
