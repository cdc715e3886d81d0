"""`torch.onnx.symbolic_opset14` by name: rules of ONNX's version 14."""

from tapegrad.compat.torch.onnx._rules import refusing_rules as _refusing_rules

__getattr__ = _refusing_rules(__name__)
