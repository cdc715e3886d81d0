"""Arguments split over GPUs, and results brought together: there are none here.

What is no tensor is repeated for each device, as in PyTorch; tensors cannot be sent anywhere.
"""

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.device import device
from tapegrad.core.errors import advised, assertion_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]

_ADVICE = "tapegrad computes on the CPU: call the module itself."


def is_namedtuple(obj: Any) -> bool:
    """Whether `obj` is an instance of a named tuple's class.

    >>> from collections import namedtuple
    >>> torch.nn.parallel.scatter_gather.is_namedtuple(namedtuple("Pair", "a b")(1, 2))
    True
    """
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Sequence, dim: int = 0) -> Any:
    """`inputs` once for each of `target_gpus`.

    Raises:
        ValueError, AttributeError: there is a tensor among them, as in PyTorch without GPUs

    >>> torch.nn.parallel.scatter([1, {"rate": 2}], [0, 1])
    [[1, {'rate': 2}], [1, {'rate': 2}]]
    """
    if isinstance(inputs, Tensor):
        raise _no_gpu(target_gpus)
    n = len(target_gpus)
    if is_namedtuple(inputs):
        return [type(inputs)(*part) for part in _parts(inputs, target_gpus, dim)]
    if isinstance(inputs, tuple) and inputs:
        return _parts(inputs, target_gpus, dim)
    if isinstance(inputs, list) and inputs:
        return [list(part) for part in _parts(inputs, target_gpus, dim)]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(part) for part in _parts(inputs.items(), target_gpus, dim)]
    return [inputs for _ in range(n)]


def _parts(inputs: Any, target_gpus: Sequence, dim: int) -> list:
    return list(zip(*(scatter(each, target_gpus, dim) for each in inputs), strict=False))


def _no_gpu(target_gpus: Sequence) -> Exception:
    for each in target_gpus:
        if not isinstance(each, int) and device(each).type == "cpu":
            error: Exception = ValueError(f"Expected a non cpu device, but got: {each}")
            return advised(error, _ADVICE)
    return advised(AttributeError("module 'torch._C' has no attribute '_scatter'"), _ADVICE)


def scatter_kwargs(
    inputs: tuple, kwargs: dict | None, target_gpus: Sequence, dim: int = 0
) -> tuple[tuple, tuple]:
    """Positional and keyword arguments for each of `target_gpus`.

    >>> torch.nn.parallel.scatter_gather.scatter_kwargs((1,), {"rate": 2}, [0, 1])
    (((1,), (1,)), ({'rate': 2}, {'rate': 2}))
    """
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    n = max(len(positional), len(named))
    positional += [()] * (n - len(positional))
    named += [{}] * (n - len(named))
    return tuple(positional), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Results of several devices as one; of tensors, PyTorch does that between GPUs only.

    Raises:
        AssertionError: there are tensors among them

    >>> torch.nn.parallel.scatter_gather.gather([None, None], 0)
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        raise assertion_error("Gather function not implemented for CPU tensors", _ADVICE)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(each) != len(first) for each in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([d[k] for d in outputs], target_device, dim)) for k in first)
    parts = [gather(each, target_device, dim) for each in zip(*outputs, strict=False)]
    return type(first)(*parts) if is_namedtuple(first) else type(first)(parts)


__getattr__ = _refuses(__name__)
