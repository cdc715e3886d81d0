# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tapegrad.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from tapegrad.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from tapegrad.autograd.function import Function as Function
from tapegrad.autograd.function import NestedIOFunction as NestedIOFunction
from tapegrad.autograd.grad_mode import enforce_grad_layout_policy as enforce_grad_layout_policy
from tapegrad.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from tapegrad.autograd.gradient_edge import GradientEdge
from tapegrad.autograd.mode import enable_grad as enable_grad
from tapegrad.autograd.mode import inference_mode as inference_mode
from tapegrad.autograd.mode import no_grad as no_grad
from tapegrad.autograd.mode import set_grad_enabled as set_grad_enabled
from tapegrad.autograd.variable import Variable as Variable
from tapegrad.core.annotations import OneOrMore
from tapegrad.tensors.tensor import Tensor

from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from . import profiler as profiler
from . import variable as variable

_Places: TypeAlias = "Tensor | GradientEdge | Sequence[Tensor | GradientEdge]"
_Cotangents: TypeAlias = "Tensor | Sequence[Tensor | None] | None"

def backward(
    tensors: _Places,
    grad_tensors: _Cotangents = None,
    retain_graph: _bool | None = None,
    create_graph: _bool = False,
    grad_variables: _Cotangents = None,
    inputs: _Places | None = None,
) -> None: ...
def grad(
    outputs: _Places,
    inputs: _Places,
    grad_outputs: _Cotangents = None,
    retain_graph: _bool | None = None,
    create_graph: _bool = False,
    only_inputs: _bool = True,
    allow_unused: _bool | None = None,
    is_grads_batched: _bool = False,
    materialize_grads: _bool = False,
) -> tuple[Tensor, ...]: ...
def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: _float = 1e-06,
    atol: _float = 1e-05,
    rtol: _float = 0.001,
    raise_exception: _bool = True,
    nondet_tol: _float = 0.0,
    check_undefined_grad: _bool = True,
    check_grad_dtypes: _bool = False,
    check_batched_grad: _bool = False,
    check_batched_forward_grad: _bool = False,
    check_forward_ad: _bool = False,
    check_backward_ad: _bool = True,
    fast_mode: _bool = False,
    masked: _bool | None = None,
) -> _bool: ...
def gradgradcheck(
    func: Callable[..., Any],
    inputs: OneOrMore,
    grad_outputs: Any = None,
    *,
    eps: _float = 1e-06,
    atol: _float = 1e-05,
    rtol: _float = 0.001,
    gen_non_contig_grad_outputs: _bool = False,
    raise_exception: _bool = True,
    nondet_tol: _float = 0.0,
    check_undefined_grad: _bool = True,
    check_grad_dtypes: _bool = False,
    check_batched_grad: _bool = False,
    check_fwd_over_rev: _bool = False,
    check_rev_over_rev: _bool = True,
    fast_mode: _bool = False,
    masked: _bool = False,
) -> _bool: ...
