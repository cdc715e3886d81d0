"""`torch.fx.experimental.proxy_tensor`: no tensor of tapegrad stands for a node of a graph."""

from tapegrad.compat.refusal import refusing as _refusing

ADVICE = "torch.fx.symbolic_trace records modules, torch.jit.trace calls."


def get_proxy_mode() -> None:
    """The mode that records operators of PyTorch's compiler: none ever does.

    >>> from tapegrad.compat.torch.fx.experimental.proxy_tensor import get_proxy_mode
    >>> get_proxy_mode() is None
    True
    """


__getattr__ = _refusing(
    __name__,
    ADVICE,
    functions="disable_proxy_modes_tracing get_isolated_graphmodule is_sym_node make_fx",
    classes="ProxyTorchDispatchMode PythonKeyTracer",
)
