"""`torch.ao.quantization`: marks in models where quantisation would begin and end; more by name.

The marks change nothing until a model is converted, and here it never is.
"""

from typing import Any

from tapegrad.compat.paths import QUANTISATION as _ADVICE
from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.core.made_module import made_module as _made_module
from tapegrad.nn import Module
from tapegrad.tensors.tensor import Tensor


class QuantStub(Module):
    """Where a model would begin to be quantised: gives back what it gets.

    >>> from tapegrad.compat.torch.ao.quantization import QuantStub
    >>> QuantStub()(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """`x` itself."""
        return x


class DeQuantStub(QuantStub):
    """Where it would end: gives back what it gets."""


class QuantWrapper(Module):
    """A module between the two marks."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.add_module("quant", QuantStub())
        self.add_module("dequant", DeQuantStub())
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        """What the module gives."""
        return self.dequant(self.module(self.quant(X)))


for _each in (QuantStub, DeQuantStub, QuantWrapper):
    _each.__module__ = "torch.ao.quantization.stubs"

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]

_FUNCTIONS = (
    "add_quant_dequant convert convert_dynamic_jit convert_jit default_eval_fn "
    "disable_fake_quant disable_observer enable_fake_quant enable_observer fuse_conv_bn "
    "fuse_conv_bn_jit fuse_conv_bn_relu fuse_linear_bn fuse_modules fuse_modules_qat "
    "get_default_qat_qconfig get_default_qat_qconfig_mapping get_default_qconfig "
    "get_default_qconfig_mapping get_observer_state_dict load_observer_state_dict prepare "
    "prepare_dynamic_jit prepare_jit prepare_qat propagate_qconfig_ quantize quantize_dynamic "
    "quantize_dynamic_jit quantize_jit quantize_qat swap_module"
)
_CLASSES = (
    "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FixedQParamsObserver "
    "FusedMovingAvgObsFakeQuantize HistogramObserver MinMaxObserver MovingAverageMinMaxObserver "
    "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver "
    "PlaceholderObserver QConfig QConfigDynamic QConfigMapping QuantType RecordingObserver "
    "ReuseInputObserver UniformQuantizationObserverBase default_dynamic_quant_observer "
    "default_fake_quant default_histogram_observer default_observer "
    "default_per_channel_weight_observer default_weight_fake_quant default_weight_observer"
)
_MODULES = "fake_quantize observer qconfig quantize_fx"

_OF_FX = "convert_fx convert_to_reference_fx fuse_fx prepare_fx prepare_qat_fx"

for _name in _MODULES.split():
    _path, _is_fx = f"{__name__}.{_name}", _name == "quantize_fx"
    _functions, _classes = (_OF_FX, "") if _is_fx else (_FUNCTIONS, _CLASSES)
    _getattr = _refusing(_path, _ADVICE, functions=_functions, classes=_classes)
    _made_module(_path, f"`torch.ao.quantization.{_name}` by name.", _getattr)

__getattr__: Any = _refusing(
    __name__, _ADVICE, functions=_FUNCTIONS, classes=_CLASSES, submodules=_MODULES
)
