"""`torch.ao.nn.intrinsic`: fused layers, by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.ao.quantization import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    classes=(
        "BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d "
        "ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU "
        "LinearReLU LinearTanh _FusedModule"
    ),
)
