"""What optimizers written elsewhere ask PyTorch's for: which implementation, and gradients or none.

Public code takes these from `torch.optim.optimizer` under the same names.
"""

from collections.abc import Iterable
from functools import wraps
from typing import Any

from tapegrad.autograd.mode import set_grad_enabled
from tapegrad.core.annotations import Callable
from tapegrad.core.dtype import bfloat16, default, float32, float64
from tapegrad.core.errors import runtime_error
from tapegrad.operators.shape.as_strided import view_as_real
from tapegrad.tensors.tensor import Tensor

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
"""What an optimizer takes as its parameters."""


def _default_to_fused_or_foreach(
    params: list, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether a fused and whether a multi-tensor implementation is the default; on the CPU, none.

    >>> from tapegrad.optim.optimizer import _default_to_fused_or_foreach
    >>> _default_to_fused_or_foreach([torch.ones(2)], differentiable=False)
    (False, False)
    """
    if differentiable or not use_fused:
        return False, False
    return all(p is None or p.dtype.is_floating_point for p in params), False


def _use_grad_for_differentiable(step: Callable) -> Callable:
    """`step`, recorded by autograd if the optimizer is `differentiable`, and only then.

    >>> from tapegrad.optim.optimizer import _use_grad_for_differentiable
    >>> class Plain(torch.optim.Optimizer):
    ...     @_use_grad_for_differentiable
    ...     def step(self, closure=None):
    ...         return torch.is_grad_enabled()
    >>> Plain([torch.ones(1)], {"differentiable": False}).step()
    False
    """

    @wraps(step)
    def switched(*args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(args[0].defaults["differentiable"]):
            return step(*args, **kwargs)

    return switched


def _get_value(x: Any) -> Any:
    """The number that a tensor of one element holds; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _view_as_real(params: list, *others: list) -> None:
    """Put views as pairs of numbers into the lists where `params` has complex tensors."""
    for i, param in enumerate(params):
        if param.is_complex():
            for each in (params, *others):
                each[i] = view_as_real(each[i])


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype in which steps are counted."""
    return float64 if default() is float64 and not is_fused else float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose steps a graph may capture: others than the CPU."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list], with_indices: bool = False
) -> dict[tuple, tuple[list[list], list[int]]]:
    """Lists of which each has one tensor per parameter, split by device and dtype of the first.

    Raises: RuntimeError where lists are of several lengths or what belongs together is not alike.

    >>> from tapegrad.optim.implementation import _group_tensors_by_device_and_dtype as grouped
    >>> params = [torch.ones(1), torch.ones(1, dtype=torch.float64), torch.ones(1)]
    >>> [found[1] for found in grouped([params], with_indices=True).values()]
    [[0, 2], [1]]
    """
    first = tensorlistlist[0] if tensorlistlist else []
    if not first or any(len(each) not in (0, len(first)) for each in tensorlistlist):
        lengths = [len(each) for each in tensorlistlist]
        raise runtime_error(
            f"Expected lists of tensors of one length, or empty ones; they have {lengths}",
            "The first list has the parameters, the others what belongs to each of them.",
        )
    groups: dict[tuple, tuple[list[list], list[int]]] = {}
    for i, param in enumerate(first):
        if param is None:
            raise runtime_error(
                "Tensors of the first list of nested Tensor lists are supposed to be defined but "
                f"the {i}-th Tensor is not.",
                "Leave parameters without gradients away.",
            )
        lists, indices = groups.setdefault(
            (param.device, param.dtype), ([[] for _ in tensorlistlist], [])
        )
        for found, each in zip(lists, tensorlistlist, strict=True):
            if each:
                _check_alike(param, each[i])
                found.append(each[i])
        if with_indices:
            indices.append(i)
    return groups


def _check_alike(param: Tensor, other: Any) -> None:
    """Raise unless what belongs to a parameter is like it, counts steps, or is in bfloat16."""
    if other is None or other.dtype in (param.dtype, float32, float64, bfloat16):
        return
    raise runtime_error(
        "Tensors of the same index must be on the same device and the same dtype except `step` "
        "tensors that can be CPU and float32/64, and optimizer states that can be bfloat16 for "
        "mixed-precision training",
        f"The parameter is {param.dtype}, what belongs to it {other.dtype}.",
    )


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices on which PyTorch steps many parameters at once by default."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions; a number as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _disable_dynamo_if_unsupported(single_tensor_fn: Callable | None = None) -> Callable:
    """A decorator of a function that steps, which leaves it as it is."""
    return lambda function: function


_params_doc = """params (iterable): the parameters to optimize, groups of them as dicts, or pairs
            of names and parameters; all named, or none"""
_foreach_doc = """foreach (bool, optional): whether many parameters are stepped at once; the
            numbers are the same (default: None)"""
_fused_doc = """fused (bool, optional): whether a step is one kernel (default: None)"""
_capturable_doc = """capturable (bool, optional): whether a graph of a device may capture the
            step; the CPU has none (default: False)"""
_differentiable_doc = """differentiable (bool, optional): whether autograd records the step
            (default: False)"""
_maximize_doc = """maximize (bool, optional): whether to go up the gradient instead of down
            (default: False)"""
