"""`torch._C._nn`: functions behind `torch.nn.functional`, and the arguments of `Module.to`."""

from typing import Any

from tapegrad.core.missing import missing as _missing
from tapegrad.dispatch.apply import finish
from tapegrad.nn import functional as _functional
from tapegrad.operators.conversion.to_type import parse_to

# Those whose arguments are the same here as there.
_SAME = frozenset(
    "avg_pool2d avg_pool3d elu elu_ gelu glu hardsigmoid "
    "hardswish hardswish_ hardtanh hardtanh_ leaky_relu leaky_relu_ linear mish one_hot pad "
    "pad_sequence scaled_dot_product_attention silu softplus softshrink".split()
)

# Those that write where `out=` says, which none of `torch.nn.functional` does.
_POOLS = frozenset(
    "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d "
    "fractional_max_pool2d fractional_max_pool3d".split()
)


def _parse_to(*args: Any, **kwargs: Any) -> tuple:
    """(device, dtype, non_blocking, memory_format) of the arguments of `Module.to`.

    >>> torch._C._nn._parse_to("cpu", torch.float64)
    (device(type='cpu'), torch.float64, False, None)
    """
    if args[:1] == (None,) and len(args) == 1:
        args = ()
    if len(args) == 1 and type(args[0]) in (int, float, complex, bool):  # a number is a tensor
        from tapegrad.operators.creation.tensor import tensor

        dtype = tensor(args[0]).dtype
        wide = {"float32": "float64", "complex64": "complex128"}.get(dtype.name, dtype.name)
        from tapegrad.core.dtype import BY_NAME

        args = (tensor(0, dtype=BY_NAME[wide]),)
    device, dtype, _, format = parse_to(args, kwargs)
    if device is not None:
        from tapegrad.core.device import device as Device

        device = Device(device)
    flag = next((x for x in args if type(x) is bool), kwargs.get("non_blocking", False))
    return device, dtype, flag, format


def _adaptive(name: str) -> Any:
    from tapegrad.operators.nn import adaptive_pool

    pool = getattr(adaptive_pool, name)

    def call(input: Any, output_size: Any, *, out: Any = None) -> Any:
        return _written(name, pool(input, output_size), out, input)

    call.__name__ = call.__qualname__ = name
    return call


def _fractional(name: str) -> Any:
    from tapegrad.operators.nn import fractional_max_pool

    n = int(name[-2])

    def call(
        input: Any, kernel_size: Any, output_size: Any, random_samples: Any, *, out: Any = None
    ) -> Any:
        found = fractional_max_pool.pooled(n, input, kernel_size, output_size, None, random_samples)
        return _written(name, found, out, input)

    call.__name__ = call.__qualname__ = name
    return call


def _written(name: str, found: Any, out: Any, input: Any) -> Any:
    """What was found, in `out` where that is given: a tensor, or a tuple of two."""
    if out is not None and type(found) is tuple and not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
    return finish(name, found, out, input)


def log_sigmoid(input: Any) -> Any:
    """`torch.nn.functional.logsigmoid`, under the name that it has here."""
    return _functional.logsigmoid(input)


def __getattr__(name: str) -> Any:
    """A function of `torch.nn.functional`, or of `torch.nn.utils.rnn`."""
    if name in _POOLS:
        return (_adaptive if name.startswith("adaptive") else _fractional)(name)
    if name in _SAME:
        if name == "pad_sequence":
            from tapegrad.nn.utils.rnn import pad_sequence

            return pad_sequence
        return getattr(_functional, name)
    raise _missing(__name__, name)
