# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Generic, Literal, NoReturn, ParamSpec, TypeVar, overload

from typing_extensions import TypeIs

from tapegrad.amp.autocast_mode import autocast as autocast
from tapegrad.amp.grad_scaler import GradScaler as GradScaler
from tapegrad.autograd.mode import enable_grad as enable_grad
from tapegrad.autograd.mode import inference_mode as inference_mode
from tapegrad.autograd.mode import no_grad as no_grad
from tapegrad.autograd.mode import set_grad_enabled as set_grad_enabled
from tapegrad.compat.streams import Event as Event
from tapegrad.compat.streams import Stream as Stream
from tapegrad.compat.torch import _C as _C
from tapegrad.compat.torch import _VF as _VF
from tapegrad.compat.torch import _dynamo as _dynamo
from tapegrad.compat.torch import _functorch as _functorch
from tapegrad.compat.torch import _higher_order_ops as _higher_order_ops
from tapegrad.compat.torch import accelerator as accelerator
from tapegrad.compat.torch import ao as ao
from tapegrad.compat.torch import export as export
from tapegrad.compat.torch import mps as mps
from tapegrad.compat.torch import mtia as mtia
from tapegrad.compat.torch import nested as nested
from tapegrad.compat.torch import onnx as onnx
from tapegrad.compat.torch import package as package
from tapegrad.compat.torch import quantization as quantization
from tapegrad.compat.torch import types as types
from tapegrad.compat.torch import xpu as xpu
from tapegrad.compat.torch._C.dispatch_keys import DispatchKey as DispatchKey
from tapegrad.compat.torch._C.dispatch_keys import DispatchKeySet as DispatchKeySet
from tapegrad.compiler.compiled import Compiled
from tapegrad.core.annotations import (
    DeviceLike,
    Dim,
    DTypeLike,
    LayoutLike,
    MemoryFormat,
    Number,
    Out,
    Outs,
    Scalar,
    Shape,
    Source,
)
from tapegrad.core.device import device as _device
from tapegrad.core.device import device as device
from tapegrad.core.dtype import dtype as _dtype
from tapegrad.core.dtype import dtype as dtype
from tapegrad.core.generator import Generator as Generator
from tapegrad.core.limits import finfo as finfo
from tapegrad.core.limits import iinfo as iinfo
from tapegrad.core.memory_format import layout as _layout
from tapegrad.core.memory_format import layout as layout
from tapegrad.core.memory_format import memory_format as _memory_format
from tapegrad.core.memory_format import memory_format as memory_format
from tapegrad.core.size import Size as Size
from tapegrad.core.torch_function import DisableTorchFunction as DisableTorchFunction
from tapegrad.core.torch_function import (
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from tapegrad.core.untyped_storage import UntypedStorage as UntypedStorage
from tapegrad.cuda import AcceleratorError as AcceleratorError
from tapegrad.cuda import OutOfMemoryError as OutOfMemoryError
from tapegrad.futures.future import Future as Future
from tapegrad.jit._script import ScriptModule as ScriptModule
from tapegrad.jit.types import DictType as DictType
from tapegrad.jit.types import ListType as ListType
from tapegrad.jit.types import OptionalType as OptionalType
from tapegrad.jit.types import TupleType as TupleType
from tapegrad.jit.types import Type as Type
from tapegrad.library.tag import Tag as Tag
from tapegrad.nn.modules.module import Module
from tapegrad.operators.creation.typed_storage import TypedStorage as TypedStorage
from tapegrad.serialization.file_reader import PyTorchFileReader as PyTorchFileReader
from tapegrad.symbolic_numbers import SymBool as SymBool
from tapegrad.symbolic_numbers import SymFloat as SymFloat
from tapegrad.symbolic_numbers import SymInt as SymInt
from tapegrad.tensors.tensor import Tensor as Tensor

from . import amp as amp
from . import autograd as autograd
from . import backends as backends
from . import compat as compat
from . import compiler as compiler
from . import cpu as cpu
from . import cuda as cuda
from . import data as data
from . import distributed as distributed
from . import distributions as distributions
from . import fft as fft
from . import func as func
from . import futures as futures
from . import fx as fx
from . import hub as hub
from . import inspect as inspect
from . import jit as jit
from . import library as library
from . import linalg as linalg
from . import masked as masked
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import ops as ops
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import quasirandom as quasirandom
from . import random as random
from . import return_types as return_types
from . import safetensors as safetensors
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from . import torch_version as torch_version
from . import utils as utils
from . import version as version

_P = ParamSpec("_P")
_R = TypeVar("_R")
_M = TypeVar("_M", bound=Module)

class _Compiled(Compiled, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

AnyType: type[Any]

class BFloat16Storage(TypedStorage): ...
class BFloat16Tensor(Tensor): ...
class BoolStorage(TypedStorage): ...
class BoolTensor(Tensor): ...

BoolType: type[Any]

class ByteStorage(TypedStorage): ...
class ByteTensor(Tensor): ...
class CharStorage(TypedStorage): ...
class CharTensor(Tensor): ...
class ComplexDoubleStorage(TypedStorage): ...
class ComplexFloatStorage(TypedStorage): ...

ComplexType: type[Any]
DeviceObjType: type[Any]

class DoubleStorage(TypedStorage): ...
class DoubleTensor(Tensor): ...
class FloatStorage(TypedStorage): ...
class FloatTensor(Tensor): ...

FloatType: type[Any]

class HalfStorage(TypedStorage): ...
class HalfTensor(Tensor): ...
class IntStorage(TypedStorage): ...
class IntTensor(Tensor): ...

IntType: type[Any]

class LongStorage(TypedStorage): ...
class LongTensor(Tensor): ...

NoneType: type[Any]
NumberType: type[Any]

class ShortStorage(TypedStorage): ...
class ShortTensor(Tensor): ...
class Storage(TypedStorage): ...

StringType: type[Any]
TensorType: type[Any]
__version__: _str

def _assert(condition: Any, message: _str) -> None: ...
def _assert_async(input: Tensor, assert_msg: _str | None = None) -> None: ...
def _assert_scalar(input: Any, assert_msg: _str) -> None: ...
def _assert_tensor_metadata(
    a: Tensor,
    size: Any = None,
    stride: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    layout: Any = None,
) -> None: ...
def _check(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_index(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_is_size(
    i: _int, message: Callable[..., Any] | None = None, *, max: _int | None = None
) -> None: ...
def _check_not_implemented(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_tensor_all(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: Callable[..., Any] | None = None
) -> None: ...
def _check_type(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_value(cond: Any, message: Callable[..., Any] | None = None) -> None: ...
def _check_with(
    error_type: type[Exception], cond: Any, message: Callable[..., Any] | None
) -> None: ...
def _conj(input: Tensor) -> Tensor: ...
def _conj_physical(self: Tensor) -> Tensor: ...
def _convert_indices_from_coo_to_csr(
    self: Tensor, size: _int, *, out_int32: _bool = False
) -> Tensor: ...
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: _bool = False, transpose: _bool = False
) -> Tensor: ...
def _dirichlet_grad(x: Tensor, alpha: Any, total: Any) -> Tensor: ...
def _disable_dynamo(fn: Any = None, recursive: _bool = True) -> Any: ...
def _foreach_abs(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_abs_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_acos(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_acos_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_add(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_add_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_addcdiv(
    self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], *given: Any, **named: Any
) -> tuple[Tensor, ...]: ...
def _foreach_addcdiv_(
    self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], *given: Any, **named: Any
) -> Sequence[Tensor]: ...
def _foreach_addcmul(
    self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], *given: Any, **named: Any
) -> tuple[Tensor, ...]: ...
def _foreach_addcmul_(
    self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], *given: Any, **named: Any
) -> Sequence[Tensor]: ...
def _foreach_asin(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_asin_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_atan(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_atan_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_ceil(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_ceil_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_clamp_max(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_clamp_max_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_clamp_min(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_clamp_min_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_clone(self: Sequence[Any], memory_format: Any = None) -> tuple[Tensor, ...]: ...
def _foreach_copy_(
    self: Sequence[Any], src: Sequence[Any], non_blocking: _bool = False
) -> Sequence[Tensor]: ...
def _foreach_cos(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_cos_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_cosh(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_cosh_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_div(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_div_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_erf(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_erf_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_erfc(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_erfc_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_exp(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_exp_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_expm1(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_expm1_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_floor(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_floor_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_frac(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_frac_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_lerp(
    self: Sequence[Any], tensors1: Sequence[Any], weight: Any
) -> tuple[Tensor, ...]: ...
def _foreach_lerp_(
    self: Sequence[Any], tensors1: Sequence[Any], weight: Any
) -> Sequence[Tensor]: ...
def _foreach_lgamma(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_lgamma_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_log(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_log10(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_log10_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_log1p(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_log1p_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_log2(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_log2_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_log_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_max(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_maximum(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_maximum_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_minimum(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_minimum_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_mm(self: Sequence[Any], mat2: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_mul(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_mul_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_neg(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_neg_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_norm(self: Sequence[Any], ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]: ...
def _foreach_pow(self: Any, *exponent: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_pow_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_powsum(self: Sequence[Any], ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]: ...
def _foreach_reciprocal(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_reciprocal_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_round(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_round_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_rsqrt(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_rsqrt_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sigmoid(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_sigmoid_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sign(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_sign_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sin(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_sin_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sinh(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_sinh_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sqrt(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_sqrt_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_sub(self: Sequence[Any], *other: Any, **named: Any) -> tuple[Tensor, ...]: ...
def _foreach_sub_(self: Sequence[Any], *other: Any, **named: Any) -> Sequence[Tensor]: ...
def _foreach_tan(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_tan_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_tanh(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_tanh_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_trunc(self: Sequence[Any]) -> tuple[Tensor, ...]: ...
def _foreach_trunc_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _foreach_zero_(self: Sequence[Any]) -> Sequence[Tensor]: ...
def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor: ...
def _int_mm(input: Tensor, mat2: Tensor, *, out: Out = None) -> Tensor: ...
def _is_all_true(self: Tensor) -> Tensor: ...
def _is_any_true(self: Tensor) -> Tensor: ...
def _log_softmax(self: Tensor, dim: _int, half_to_float: _bool) -> Tensor: ...
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: _int, input_dtype: Any
) -> Tensor: ...
def _neg_view(input: Tensor) -> Tensor: ...
def _sample_dirichlet(input: Tensor, generator: Source = None) -> Tensor: ...
def _segment_reduce(
    data: Tensor,
    reduce: _str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: Number | None = None,
) -> Tensor: ...
def _shape_as_tensor(self: Tensor) -> Tensor: ...
def _softmax(self: Tensor, dim: _int, half_to_float: _bool) -> Tensor: ...
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: _int, input_dtype: Any
) -> Tensor: ...
def _standard_gamma(input: Tensor, generator: Source = None) -> Tensor: ...
def _standard_gamma_grad(input: Tensor, output: Any) -> Tensor: ...
def abs(input: Tensor, *, out: Out = None) -> Tensor: ...
def abs_(input: Tensor) -> Tensor: ...
def absolute(input: Tensor, *, out: Out = None) -> Tensor: ...
def acos(input: Tensor, *, out: Out = None) -> Tensor: ...
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Out = None) -> Tensor: ...
def acosh_(input: Tensor) -> Tensor: ...
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor: ...
def adaptive_max_pool1d(
    input: Tensor, output_size: _int | Sequence[_int]
) -> tuple[Tensor, Tensor]: ...
def add(input: Scalar, other: Scalar, *, alpha: Number = 1, out: Out = None) -> Tensor: ...
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
def addbmm_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Out = None
) -> Tensor: ...
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Out = None
) -> Tensor: ...
@overload
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
@overload
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    out_dtype: _dtype,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
def addmm_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Out = None
) -> Tensor: ...
def addmv_(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor: ...
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
def addr_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def adjoint(input: Tensor) -> Tensor: ...
def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor: ...
def alias_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def all(
    input: Tensor, dim: Sequence[_int] | None = None, keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
@overload
def all(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Out = None) -> Tensor: ...
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool: ...
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def amax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    out: Out = None,
) -> Tensor: ...
def amin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    out: Out = None,
) -> Tensor: ...
def aminmax(
    input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: Outs = None
) -> return_types.aminmax: ...
def angle(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def any(
    input: Tensor, dim: Sequence[_int] | None = None, keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
@overload
def any(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Out = None) -> Tensor: ...
@overload
def arange(
    end: Number,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def arange(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def arccos(input: Tensor, *, out: Out = None) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Out = None) -> Tensor: ...
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Out = None) -> Tensor: ...
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Out = None) -> Tensor: ...
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Out = None) -> Tensor: ...
def arctan2(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctanh(input: Tensor, *, out: Out = None) -> Tensor: ...
def arctanh_(input: Tensor) -> Tensor: ...
def are_deterministic_algorithms_enabled() -> _bool: ...
def argmax(
    input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
def argmin(
    input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
@overload
def argsort(
    input: Tensor, *, stable: _bool, dim: _int = -1, descending: _bool = False, out: Out = None
) -> Tensor: ...
@overload
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def as_strided(
    input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def as_strided_(
    input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def as_strided_copy(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor: ...
def as_tensor(data: Any, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Tensor: ...
def asarray(
    obj: Any,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    copy: _bool | None = None,
    requires_grad: _bool | None = None,
) -> Tensor: ...
def asin(input: Tensor, *, out: Out = None) -> Tensor: ...
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Out = None) -> Tensor: ...
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Out = None) -> Tensor: ...
def atan2(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Out = None) -> Tensor: ...
def atanh_(input: Tensor) -> Tensor: ...
@overload
def atleast_1d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_1d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_2d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_3d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
def autocast_decrement_nesting() -> _int: ...
def autocast_increment_nesting() -> _int: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = ...,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor: ...
@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    out_dtype: _dtype,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
def baddbmm_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
@overload
def bartlett_window(
    window_length: _int,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def bartlett_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...
@overload
def bernoulli(input: Tensor, *, generator: Source = None, out: Out = None) -> Tensor: ...
@overload
def bernoulli(input: Tensor, p: _float, *, generator: Source = None) -> Tensor: ...

bfloat16: _dtype

def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: _int = 1,
) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor: ...
def binomial(count: Tensor, prob: Tensor, generator: Source = None) -> Tensor: ...

bits16: _dtype
bits1x8: _dtype
bits2x4: _dtype
bits4x2: _dtype
bits8: _dtype

@overload
def bitwise_and(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_and(self: Number, other: Tensor) -> Tensor: ...
@overload
def bitwise_left_shift(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_left_shift(self: Number, other: Tensor) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_or(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_or(self: Number, other: Tensor) -> Tensor: ...
@overload
def bitwise_right_shift(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_right_shift(self: Number, other: Tensor) -> Tensor: ...
@overload
def bitwise_xor(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def bitwise_xor(self: Number, other: Tensor) -> Tensor: ...
@overload
def blackman_window(
    window_length: _int,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def blackman_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def block_diag(*tensors: Tensor) -> Tensor: ...
@overload
def bmm(input: Tensor, mat2: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def bmm(input: Tensor, mat2: Tensor, out_dtype: _dtype, *, out: Out = None) -> Tensor: ...

bool: _dtype

def broadcast_shapes(*shapes: Any) -> Size: ...
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor: ...
@overload
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def bucketize(
    self: Number, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False
) -> Tensor: ...
def can_cast(from_: _dtype, to: _dtype) -> _bool: ...
def cartesian_prod(*tensors: Tensor) -> Tensor: ...
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Out = None) -> Tensor: ...
def ccol_indices_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    compute_mode: _str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor: ...

cdouble: _dtype

def ceil(input: Tensor, *, out: Out = None) -> Tensor: ...
def ceil_(input: Tensor) -> Tensor: ...
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor: ...

cfloat: _dtype

def chain_matmul(*matrices: Any, out: Out = None) -> Tensor: ...

chalf: _dtype

def channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...

channels_last: _memory_format
channels_last_3d: _memory_format

def cholesky(input: Tensor, upper: _bool = False, *, out: Out = None) -> Tensor: ...
def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Out = None) -> Tensor: ...
def cholesky_solve(
    input: Tensor, input2: Tensor, upper: _bool = False, *, out: Out = None
) -> Tensor: ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def clamp(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Out = None
) -> Tensor: ...
@overload
def clamp(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Out = None
) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
def clamp_max(input: Tensor, max: Scalar, *, out: Out = None) -> Tensor: ...
def clamp_max_(input: Tensor, max: Scalar) -> Tensor: ...
def clamp_min(input: Tensor, min: Scalar, *, out: Out = None) -> Tensor: ...
def clamp_min_(input: Tensor, min: Scalar) -> Tensor: ...
def clear_autocast_cache() -> None: ...
@overload
def clip(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Out = None
) -> Tensor: ...
@overload
def clip(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Out = None
) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
def clone(input: Tensor, *, memory_format: MemoryFormat = None) -> Tensor: ...
def col_indices_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def column_stack(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor: ...
@overload
def compile(
    model: _M,
    *,
    fullgraph: _bool = False,
    dynamic: _bool | None = None,
    backend: _str | Callable[..., Any] | None = None,
    mode: _str | None = None,
    options: dict[_str, Any] | None = None,
    name: _str | None = None,
    disable: _bool = False,
    recompile_limit: _int | None = None,
    isolate_recompiles: _bool = False,
    shapes_spec: Any = None,
    example_inputs: Any = None,
) -> _M: ...
@overload
def compile(
    model: Callable[_P, _R],
    *,
    fullgraph: _bool = False,
    dynamic: _bool | None = None,
    backend: _str | Callable[..., Any] | None = None,
    mode: _str | None = None,
    options: dict[_str, Any] | None = None,
    name: _str | None = None,
    disable: _bool = False,
    recompile_limit: _int | None = None,
    isolate_recompiles: _bool = False,
    shapes_spec: Any = None,
    example_inputs: Any = None,
) -> _Compiled[_P, _R]: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: _bool = False,
    dynamic: _bool | None = None,
    backend: _str | Callable[..., Any] | None = None,
    mode: _str | None = None,
    options: dict[_str, Any] | None = None,
    name: _str | None = None,
    disable: _bool = False,
    recompile_limit: _int | None = None,
    isolate_recompiles: _bool = False,
    shapes_spec: Any = None,
    example_inputs: Any = None,
) -> Callable[[Callable[_P, _R]], _Compiled[_P, _R]]: ...
def compiled_with_cxx11_abi() -> _bool: ...
def complex(real: Tensor, imag: Tensor, *, out: Out = None) -> Tensor: ...

complex128: _dtype
complex32: _dtype
complex64: _dtype

def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Out = None) -> Tensor: ...
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Out = None) -> Tensor: ...
def cond(
    pred: _bool | _int | _float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = ...,
) -> Any: ...
def conj(input: Tensor) -> Tensor: ...
def conj_physical(input: Tensor, *, out: Out = None) -> Tensor: ...
def conj_physical_(input: Tensor) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: Number = 0) -> Tensor: ...

contiguous_format: _memory_format

@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _str = ...,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _str = ...,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _str = ...,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor: ...
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
) -> Tensor: ...
def copysign(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def cos(input: Tensor, *, out: Out = None) -> Tensor: ...
def cos_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Out = None) -> Tensor: ...
def cosh_(input: Tensor) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 1
) -> Tensor: ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: _int | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: Sequence[_int] | None) -> Tensor: ...
def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor: ...
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, out: Out = None) -> Tensor: ...
def crow_indices_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    blank: _int = 0,
    reduction: _int = ...,
    zero_infinity: _bool = False,
) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: _int = 0,
    reduction: _int = ...,
    zero_infinity: _bool = False,
) -> Tensor: ...
def cummax(input: Tensor, dim: _int, *, out: Outs = None) -> return_types.cummax: ...
def cummin(input: Tensor, dim: _int, *, out: Outs = None) -> return_types.cummin: ...
def cumprod(input: Tensor, dim: _int, *, dtype: DTypeLike = None, out: Out = None) -> Tensor: ...
def cumprod_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def cumsum(input: Tensor, dim: _int, *, dtype: DTypeLike = None, out: Out = None) -> Tensor: ...
def cumsum_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, *, dx: Number = 1, dim: _int = -1) -> Tensor: ...

default_generator: Generator

def deg2rad(input: Tensor, *, out: Out = None) -> Tensor: ...
def deg2rad_(input: Tensor) -> Tensor: ...
@overload
def dequantize(input: Tensor) -> Tensor: ...
@overload
def dequantize(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def det(input: Tensor) -> Tensor: ...
def detach(input: Tensor) -> Tensor: ...
def detach_(input: Tensor) -> Tensor: ...
def detach_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def diag(input: Tensor, diagonal: _int = 0, *, out: Out = None) -> Tensor: ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def diagflat(input: Tensor, offset: _int = 0) -> Tensor: ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def diagonal_copy(
    input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Out = None
) -> Tensor: ...
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1
) -> Tensor: ...
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def digamma(input: Tensor, *, out: Out = None) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor: ...
@overload
def div(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def div(input: Scalar, other: Scalar, *, rounding_mode: _str | None, out: Out = None) -> Tensor: ...
@overload
def divide(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def divide(
    input: Scalar, other: Scalar, *, rounding_mode: _str | None, out: Out = None
) -> Tensor: ...
def dot(input: Tensor, tensor: Tensor, *, out: Out = None) -> Tensor: ...

double: _dtype

def dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dsmm(input: Any, mat2: Any) -> Tensor: ...
@overload
def dsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
def dstack(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...

e: _float

def eig(input: Tensor, *args: object, **kwargs: object) -> NoReturn: ...
def einsum(equation: _str, *operands: Tensor | Sequence[Tensor]) -> Tensor: ...
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: _int = -1,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor: ...
@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool,
    mode: _int,
    sparse: _bool,
    per_sample_weights: Tensor | None,
    include_last_offset: _bool,
    padding_idx: _int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool = False,
    mode: _int = 0,
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def embedding_renorm_(
    input: Tensor, indices: Tensor, max_norm: _float, norm_type: _float
) -> Tensor: ...
@overload
def empty(
    *size: _int,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def empty(
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_permuted(
    size: Sequence[_int],
    physical_layout: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_strided(
    size: Sequence[_int],
    stride: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def eq(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> _bool: ...
def erf(input: Tensor, *, out: Out = None) -> Tensor: ...
def erf_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Out = None) -> Tensor: ...
def erfc_(input: Tensor) -> Tensor: ...
def erfinv(input: Tensor, *, out: Out = None) -> Tensor: ...
def exp(input: Tensor, *, out: Out = None) -> Tensor: ...
def exp2(input: Tensor, *, out: Out = None) -> Tensor: ...
def exp2_(input: Tensor) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
def expand_copy(
    input: Tensor, size: Sequence[_int], *, implicit: _bool = False, out: Out = None
) -> Tensor: ...
def expm1(input: Tensor, *, out: Out = None) -> Tensor: ...
def expm1_(input: Tensor) -> Tensor: ...
@overload
def eye(
    n: _int,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def eye(
    n: _int,
    m: _int,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: _int, quant_min: _int, quant_max: _int
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: _int, quant_max: _int
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: _float, zero_point: _int, quant_min: _int, quant_max: _int
) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def fill(input: Tensor, value: Scalar) -> Tensor: ...
def fill_(input: Tensor, value: Scalar) -> Tensor: ...
def fix(input: Tensor, *, out: Out = None) -> Tensor: ...
def fix_(input: Tensor) -> Tensor: ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
def flip(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor: ...
def flipud(input: Tensor) -> Tensor: ...

float: _dtype
float16: _dtype
float32: _dtype
float4_e2m1fn_x2: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype

@overload
def float_power(input: Tensor, exponent: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def float_power(self: Number, exponent: Tensor, *, out: Out = None) -> Tensor: ...
def floor(input: Tensor, *, out: Out = None) -> Tensor: ...
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
def fmax(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def fmin(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def fmod(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def frac(input: Tensor, *, out: Out = None) -> Tensor: ...
def frac_(input: Tensor) -> Tensor: ...
def frexp(input: Tensor, *, out: Outs = None) -> return_types.frexp: ...
def frobenius_norm(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
def from_dlpack(
    ext_tensor: Any, *, device: DeviceLike = None, copy: _bool | None = None
) -> Tensor: ...
def from_file(
    filename: Any,
    shared: _bool | None = None,
    size: _int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
) -> Tensor: ...
def from_numpy(array: Any) -> Tensor: ...
def from_torch(obj: object, into: Module | None = None) -> Any: ...
def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike,
    count: _int = -1,
    offset: _int = 0,
    requires_grad: _bool = False,
) -> Tensor: ...
def full(
    size: Sequence[_int],
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def gather(
    input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Out = None
) -> Tensor: ...
def gcd(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
def ge(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def geqrf(input: Tensor, *, out: Outs = None) -> return_types.geqrf: ...
def ger(input: Tensor, vec2: Tensor, *, out: Out = None) -> Tensor: ...
def get_autocast_cpu_dtype() -> _dtype: ...
def get_autocast_dtype(device_type: _str) -> _dtype: ...
def get_autocast_gpu_dtype() -> _dtype: ...
def get_default_device() -> _device: ...
def get_default_dtype() -> _dtype: ...
def get_deterministic_debug_mode() -> _int: ...
def get_device(input: Tensor) -> _int: ...
def get_device_module(device: Any = None) -> ModuleType: ...
def get_float32_matmul_precision() -> _str: ...
def get_num_interop_threads() -> _int: ...
def get_num_threads() -> _int: ...
def get_rng_state() -> Tensor: ...
@overload
def gradient(input: Tensor, *, dim: Sequence[_int], edge_order: _int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Number | Sequence[Number] | Sequence[Tensor] | None,
    dim: Sequence[_int] | None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Number | None = None, dim: _int | None = None, edge_order: _int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[Number] | Sequence[Tensor] | None,
    dim: _int | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]: ...
def greater(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def greater_equal(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor: ...
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor: ...
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enabled: _bool = True,
) -> Tensor: ...
@overload
def gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def gru(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def gt(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...

half: _dtype

@overload
def hamming_window(
    window_length: _int,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    alpha: _float,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    alpha: _float,
    beta: _float,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def hann_window(
    window_length: _int,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def hann_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Out = None) -> Tensor: ...

has_lapack: _bool
has_mkl: _bool
has_openmp: _bool
has_spectral: _bool

def hash_tensor(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Out = None,
) -> Tensor: ...
def heaviside(input: Tensor, values: Tensor, *, out: Out = None) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 1
) -> Tensor: ...
def histc(
    input: Tensor, bins: _int = 100, min: Number = 0, max: Number = 0, *, out: Out = None
) -> Tensor: ...
@overload
def histogram(
    input: Tensor,
    bins: Tensor,
    *,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Outs = None,
) -> return_types.histogram: ...
@overload
def histogram(
    input: Tensor,
    bins: _int = 100,
    *,
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Outs = None,
) -> return_types.histogram: ...
def histogramdd(
    input: Tensor,
    bins: _int | Sequence[_int] | Sequence[Tensor],
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> return_types.histogramdd: ...
@overload
def hsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Out = None) -> Tensor: ...
def hstack(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...
def hypot(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def i0(input: Tensor, *, out: Out = None) -> Tensor: ...
def i0_(input: Tensor) -> Tensor: ...
def igamma(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def igamma_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def igammac(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def igammac_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
def imag(input: Tensor) -> Tensor: ...
def index_add(
    input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Out = None
) -> Tensor: ...
def index_copy(
    input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Out = None
) -> Tensor: ...
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Scalar) -> Tensor: ...
def index_put(
    input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False
) -> Tensor: ...
def index_put_(
    input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False
) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Out = None,
) -> Tensor: ...
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Out = None) -> Tensor: ...
def indices_copy(input: Tensor, *, out: Out = None) -> Tensor: ...

inf: _float

def initial_seed() -> _int: ...
def inner(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...

int: _dtype
int1: _dtype
int16: _dtype
int2: _dtype
int3: _dtype
int32: _dtype
int4: _dtype
int5: _dtype
int6: _dtype
int64: _dtype
int7: _dtype
int8: _dtype

def int_repr(input: Tensor) -> Tensor: ...
def inverse(input: Tensor, *, out: Out = None) -> Tensor: ...
def is_anomaly_check_nan_enabled() -> _bool: ...
def is_anomaly_enabled() -> _bool: ...
def is_autocast_cache_enabled() -> _bool: ...
def is_autocast_cpu_enabled() -> _bool: ...
def is_autocast_enabled(device_type: _str = "cuda") -> _bool: ...
def is_complex(input: Tensor) -> _bool: ...
def is_conj(input: Tensor) -> _bool: ...
def is_deterministic_algorithms_warn_only_enabled() -> _bool: ...
def is_distributed(input: Tensor) -> _bool: ...
def is_floating_point(input: Tensor) -> _bool: ...
def is_grad_enabled() -> _bool: ...
def is_inference(input: Tensor) -> _bool: ...
def is_inference_mode_enabled() -> _bool: ...
def is_neg(input: Tensor) -> _bool: ...
def is_nonzero(input: Tensor) -> _bool: ...
def is_same_size(input: Tensor, other: Tensor) -> _bool: ...
def is_signed(input: Tensor) -> _bool: ...
def is_storage(obj: object) -> _bool: ...
def is_tensor(obj: object, /) -> TypeIs[Tensor]: ...
def is_warn_always_enabled() -> _bool: ...
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> Tensor: ...
def isfinite(input: Tensor) -> Tensor: ...
@overload
def isin(
    elements: Tensor,
    test_elements: Tensor,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def isin(
    element: Number,
    test_elements: Tensor,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def isin(
    elements: Tensor,
    test_element: Number,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Out = None,
) -> Tensor: ...
def isinf(input: Tensor) -> Tensor: ...
def isnan(input: Tensor) -> Tensor: ...
def isneginf(input: Tensor, *, out: Out = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Out = None) -> Tensor: ...
def isreal(input: Tensor) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
) -> Tensor: ...

jagged: _layout

@overload
def kaiser_window(
    window_length: _int,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def kaiser_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def kaiser_window(
    window_length: _int,
    periodic: _bool,
    beta: _float,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def kl_div(
    input: Tensor, target: Tensor, reduction: _int = 1, *, log_target: _bool = False
) -> Tensor: ...
def kron(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def kthvalue(
    input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Outs = None
) -> return_types.kthvalue: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor: ...
def lcm(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor) -> Tensor: ...
def le(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...

legacy_contiguous_format: _memory_format

def lerp(input: Tensor, end: Tensor, weight: Scalar, *, out: Out = None) -> Tensor: ...
def less(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def less_equal(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def lgamma(input: Tensor, *, out: Out = None) -> Tensor: ...
def linspace(
    start: Scalar,
    end: Scalar,
    steps: _int,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: _bool | None = None,
    mmap: _bool | None = None,
    **pickle_load_args: Any,
) -> Any: ...
def log(input: Tensor, *, out: Out = None) -> Tensor: ...
def log10(input: Tensor, *, out: Out = None) -> Tensor: ...
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Out = None) -> Tensor: ...
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Out = None) -> Tensor: ...
def log2_(input: Tensor) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log_softmax(
    input: Tensor, dim: _int, dtype: DTypeLike = None, *, out: Out = None
) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def logaddexp2(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def logcumsumexp(input: Tensor, dim: _int, *, out: Out = None) -> Tensor: ...
def logdet(input: Tensor) -> Tensor: ...
def logical_and(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def logical_not(input: Tensor, *, out: Out = None) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def logit(input: Tensor, eps: _float | None = None, *, out: Out = None) -> Tensor: ...
def logit_(input: Tensor, eps: _float | None = None) -> Tensor: ...
def logspace(
    start: Scalar,
    end: Scalar,
    steps: _int,
    base: _float = 10.0,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def logsumexp(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...

long: _dtype

@overload
def lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def lstsq(input: Tensor, *args: object, **kwargs: object) -> NoReturn: ...
def lt(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def lu(
    A: Tensor, pivot: _bool = True, get_infos: _bool = False, out: Out = None
) -> tuple[Tensor, ...]: ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Out = None) -> Tensor: ...
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Outs = None,
) -> return_types.lu_unpack: ...
def manual_seed(seed: Any) -> Generator: ...
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 1
) -> Tensor: ...
def masked_fill(input: Tensor, mask: Tensor, value: Scalar) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor, *, out: Out = None) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def matrix_exp(input: Tensor) -> Tensor: ...
def matrix_power(input: Tensor, n: _int, *, out: Out = None) -> Tensor: ...
def matrix_rank(input: Tensor, *args: object, **kwargs: object) -> NoReturn: ...
@overload
def max(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def max(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: Outs = None
) -> return_types.max: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
def maximum(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def mean(input: Tensor, *, dtype: DTypeLike = None, out: Out = None) -> Tensor: ...
@overload
def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
@overload
def median(input: Tensor) -> Tensor: ...
@overload
def median(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: Outs = None
) -> return_types.median: ...
def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: _str | None = None
) -> tuple[Tensor, ...]: ...
@overload
def min(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def min(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: Outs = None
) -> return_types.min: ...
def minimum(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def mm(input: Tensor, mat2: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def mm(input: Tensor, mat2: Tensor, out_dtype: _dtype, *, out: Out = None) -> Tensor: ...
def mode(
    input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Outs = None
) -> return_types.mode: ...
@overload
def moveaxis(input: Tensor, source: _int, destination: _int) -> Tensor: ...
@overload
def moveaxis(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
@overload
def movedim(input: Tensor, source: _int, destination: _int) -> Tensor: ...
@overload
def movedim(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
def msort(input: Tensor, *, out: Out = None) -> Tensor: ...
def mul(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Source = None,
    out: Out = None,
) -> Tensor: ...
def multiply(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Out = None) -> Tensor: ...
def mvlgamma(input: Tensor, p: _int, *, out: Out = None) -> Tensor: ...

nan: _float

def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def nan_to_num_(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
) -> Tensor: ...
def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
@overload
def nanmedian(input: Tensor) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: Outs = None
) -> return_types.nanmedian: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = ...,
    out: Out = None,
) -> Tensor: ...
def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
def narrow(input: Tensor, dim: _int, start: Tensor | _int, length: _int) -> Tensor: ...
def narrow_copy(
    input: Tensor, dim: _int, start: _int, length: _int, *, out: Out = None
) -> Tensor: ...
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: Outs = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> tuple[Tensor, Tensor]: ...
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def ne(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
def neg(input: Tensor, *, out: Out = None) -> Tensor: ...
def neg_(input: Tensor) -> Tensor: ...
def negative(input: Tensor, *, out: Out = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor: ...

newaxis: None

def nextafter(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def nonzero(input: Tensor, *, out: Out = None) -> Tensor: ...
def nonzero_static(
    input: Tensor, *, size: _int, fill_value: _int = -1, out: Out = None
) -> Tensor: ...
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Dim = None,
    keepdim: _bool = False,
    out: Out = None,
    dtype: DTypeLike = None,
) -> Tensor: ...
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor: ...
@overload
def normal(
    mean: Tensor | _float, std: Tensor, *, generator: Source = None, out: Out = None
) -> Tensor: ...
@overload
def normal(
    mean: Tensor, std: _float = 1, *, generator: Source = None, out: Out = None
) -> Tensor: ...
@overload
def normal(
    mean: _float,
    std: _float,
    size: Sequence[_int],
    *,
    generator: Source = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def not_equal(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def nuclear_norm(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Out = None
) -> Tensor: ...
@overload
def nuclear_norm(input: Tensor, keepdim: _bool = False, *, out: Out = None) -> Tensor: ...
def numel(input: Tensor) -> _int: ...
@overload
def ones(
    *size: _int,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def ones(
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def orgqr(input: Tensor, input2: Tensor, *, out: Out = None) -> Tensor: ...
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Out = None,
) -> Tensor: ...
def outer(input: Tensor, vec2: Tensor, *, out: Out = None) -> Tensor: ...
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False
) -> Tensor: ...
def pca_lowrank(
    A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2
) -> tuple[Tensor, Tensor, Tensor]: ...
def pdist(input: Tensor, p: _float = 2.0) -> Tensor: ...
def permute(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def permute_copy(input: Tensor, dims: Sequence[_int], *, out: Out = None) -> Tensor: ...

pi: _float

def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor: ...
def poisson(input: Tensor, generator: Source = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int
) -> Tensor: ...
def polar(abs: Tensor, angle: Tensor, *, out: Out = None) -> Tensor: ...
def polygamma(n: _int, input: Tensor, *, out: Out = None) -> Tensor: ...
def positive(input: Tensor) -> Tensor: ...
@overload
def pow(input: Tensor, exponent: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def pow(self: Number, exponent: Tensor, *, out: Out = None) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...

preserve_format: _memory_format

@overload
def prod(input: Tensor, *, dtype: DTypeLike = None) -> Tensor: ...
@overload
def prod(
    input: Tensor, dim: _int, keepdim: _bool = False, *, dtype: DTypeLike = None, out: Out = None
) -> Tensor: ...
def promote_types(type1: _dtype, type2: _dtype) -> _dtype: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor: ...
def q_per_channel_axis(input: Tensor) -> _int: ...
def q_per_channel_scales(input: Tensor) -> Tensor: ...
def q_per_channel_zero_points(input: Tensor) -> Tensor: ...
def q_scale(input: Tensor) -> _float: ...
def q_zero_point(input: Tensor) -> _int: ...

qint32: _dtype
qint8: _dtype

def qr(input: Tensor, some: _bool = True, *, out: Outs = None) -> return_types.qr: ...
def quantile(
    input: Tensor,
    q: Tensor | _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = ...,
    out: Out = None,
) -> Tensor: ...

quint2x4: _dtype
quint4x2: _dtype
quint8: _dtype

def rad2deg(input: Tensor, *, out: Out = None) -> Tensor: ...
def rad2deg_(input: Tensor) -> Tensor: ...
@overload
def rand(
    *size: _int,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    size: Sequence[_int],
    *,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    *size: _int,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    size: Sequence[_int],
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand_like(
    input: Tensor,
    *,
    generator: Source,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand_like(
    input: Tensor,
    *,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    high: _int,
    size: Sequence[_int],
    *,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    high: _int,
    size: Sequence[_int],
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    low: _int,
    high: _int,
    size: Sequence[_int],
    *,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    low: _int,
    high: _int,
    size: Sequence[_int],
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: _int,
    high: _int,
    *,
    generator: Source,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: _int,
    high: _int,
    *,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Tensor | _int,
    *,
    generator: Source,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Tensor | _int,
    *,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    *size: _int,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    size: Sequence[_int],
    *,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    *size: _int,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    size: Sequence[_int],
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn_like(
    input: Tensor,
    *,
    generator: Source,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn_like(
    input: Tensor,
    *,
    memory_format: MemoryFormat = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randperm(
    n: _int,
    *,
    generator: Source,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randperm(
    n: _int,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Out = None) -> Tensor: ...
def reciprocal_(input: Tensor) -> Tensor: ...
def relu(input: Tensor) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
@overload
def remainder(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def remainder(self: Number, other: Tensor) -> Tensor: ...
def renorm(input: Tensor, p: Number, dim: _int, maxnorm: Number, *, out: Out = None) -> Tensor: ...
def renorm_(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor,
    repeats: Tensor | _int,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor: ...
@overload
def repeat_interleave(repeats: Tensor, *, output_size: _int | None = None) -> Tensor: ...
def reshape(input: Tensor, shape: Sequence[_int]) -> Tensor: ...
def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat = None
) -> Tensor: ...
def resolve_conj(input: Tensor) -> Tensor: ...
def resolve_neg(input: Tensor) -> Tensor: ...
@overload
def result_type(tensor: Tensor, other: Scalar) -> _dtype: ...
@overload
def result_type(scalar: Number, tensor: Tensor) -> _dtype: ...
@overload
def result_type(scalar1: Number, scalar2: Number) -> _dtype: ...
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor: ...
@overload
def rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
@overload
def rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def roll(
    input: Tensor, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = ...
) -> Tensor: ...
def rot90(input: Tensor, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor: ...
@overload
def round(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def round(input: Tensor, *, decimals: _int, out: Out = None) -> Tensor: ...
@overload
def round_(input: Tensor) -> Tensor: ...
@overload
def round_(input: Tensor, *, decimals: _int) -> Tensor: ...
def row_indices_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def row_stack(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Source = None,
) -> Tensor: ...
def rrelu_(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Source = None,
) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Out = None) -> Tensor: ...
def rsqrt_(input: Tensor) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Number, alpha: Number = 1) -> Tensor: ...
def save(
    obj: object,
    f: Any,
    pickle_module: Any = ...,
    pickle_protocol: _int = 2,
    _use_new_zipfile_serialization: _bool = True,
    _disable_byteorder_record: _bool = False,
) -> None: ...
def scalar_tensor(
    s: Number,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: _int, index: Tensor, src: Tensor, *, reduce: _str, out: Out = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: _int, index: Tensor, value: Number, *, out: Out = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: _int, index: Tensor, value: Number, *, reduce: _str, out: Out = None
) -> Tensor: ...
def scatter_add(
    input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Out = None
) -> Tensor: ...
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Out = None,
) -> Tensor: ...
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
    out: Out = None,
) -> Tensor: ...
@overload
def searchsorted(
    sorted_sequence: Tensor,
    self: Number,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
    out: Out = None,
) -> Tensor: ...
def seed() -> _int: ...
def segment_reduce(
    data: Tensor,
    reduce: _str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: Number | None = None,
) -> Tensor: ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Out = None) -> Tensor: ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor: ...
def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def set_autocast_cache_enabled(enabled: _bool) -> None: ...
def set_autocast_cpu_dtype(dtype: _dtype) -> None: ...
def set_autocast_cpu_enabled(enabled: _bool) -> None: ...
def set_autocast_dtype(device_type: _str, dtype: _dtype) -> None: ...
def set_autocast_enabled(*args: object) -> None: ...
def set_autocast_gpu_dtype(dtype: _dtype) -> None: ...
def set_default_device(device: Any) -> None: ...
def set_default_dtype(d: _dtype) -> None: ...
def set_default_tensor_type(t: Any) -> None: ...
def set_deterministic_debug_mode(debug_mode: _int | _str) -> None: ...
def set_float32_matmul_precision(precision: _str) -> None: ...
def set_flush_denormal(mode: _bool) -> _bool: ...
def set_num_interop_threads(n: _int) -> None: ...
def set_num_threads(n: _int) -> None: ...
def set_printoptions(
    precision: _int | None = None,
    threshold: _float | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: _str | None = None,
    sci_mode: _bool | None = None,
) -> None: ...
def set_rng_state(new_state: Any) -> None: ...
def set_warn_always(b: _bool) -> None: ...
def sgn(input: Tensor, *, out: Out = None) -> Tensor: ...

short: _dtype

def sigmoid(input: Tensor, *, out: Out = None) -> Tensor: ...
def sigmoid_(input: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Out = None) -> Tensor: ...
def signbit(input: Tensor, *, out: Out = None) -> Tensor: ...
def sin(input: Tensor, *, out: Out = None) -> Tensor: ...
def sin_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Out = None) -> Tensor: ...
def sinc_(input: Tensor) -> Tensor: ...
def sinh(input: Tensor, *, out: Out = None) -> Tensor: ...
def sinh_(input: Tensor) -> Tensor: ...
def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Out = None,
) -> Tensor: ...
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Out = None,
) -> Tensor: ...
def slogdet(input: Tensor, *, out: Outs = None) -> return_types.slogdet: ...
def smm(input: Tensor, mat2: Tensor) -> Tensor: ...
def softmax(input: Tensor, dim: _int, dtype: DTypeLike = None, *, out: Out = None) -> Tensor: ...
def solve(input: Tensor, *args: object, **kwargs: object) -> NoReturn: ...
@overload
def sort(
    input: Tensor,
    *,
    stable: _bool | None,
    dim: _int = -1,
    descending: _bool = False,
    out: Outs = None,
) -> return_types.sort: ...
@overload
def sort(
    input: Tensor, dim: _int = -1, descending: _bool = False, *, out: Outs = None
) -> return_types.sort: ...

sparse_bsc: _layout
sparse_bsr: _layout

@overload
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...

sparse_coo: _layout

@overload
def sparse_coo_tensor(
    indices: Any,
    values: Any,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
    is_coalesced: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
    is_coalesced: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_coo_tensor(
    *size: _int,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_coo_tensor(
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...

sparse_csc: _layout

@overload
def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...

sparse_csr: _layout

@overload
def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...
@overload
def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
) -> Tensor: ...
def split(tensor: Tensor, split_size_or_sections: Any, dim: _int = 0) -> tuple[Tensor, ...]: ...
def split_copy(
    input: Tensor, split_size: _int, dim: _int = 0, *, out: Outs = None
) -> tuple[Tensor, ...]: ...
def split_with_sizes(
    input: Tensor, split_sizes: Sequence[_int], dim: _int = 0
) -> tuple[Tensor, ...]: ...
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[_int], dim: _int = 0, *, out: Outs = None
) -> tuple[Tensor, ...]: ...
def spmm(input: Any, mat2: Any) -> Tensor: ...
def sqrt(input: Tensor, *, out: Out = None) -> Tensor: ...
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Out = None) -> Tensor: ...
def square_(input: Tensor) -> Tensor: ...
@overload
def squeeze(input: Tensor) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: _int | Sequence[_int]) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, dim: _int | Sequence[_int], *, out: Out = None) -> Tensor: ...
def sspaddmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor: ...
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Out = None) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Out = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: _bool = True) -> Tensor: ...
@overload
def std_mean(
    input: Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]: ...
def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Any = None,
    center: _bool = True,
    pad_mode: _str = "reflect",
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
) -> Tensor: ...

strided: _layout

def sub(input: Scalar, other: Scalar, *, alpha: Number = 1, out: Out = None) -> Tensor: ...
@overload
def subtract(input: Scalar, other: Scalar, *, alpha: Number = 1, out: Out = None) -> Tensor: ...
@overload
def subtract(input: Scalar, other: Scalar, alpha: Number = 1) -> Tensor: ...
@overload
def sum(input: Tensor, *, dtype: DTypeLike = None) -> Tensor: ...
@overload
def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
def svd(
    input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Outs = None
) -> return_types.svd: ...
def svd_lowrank(
    A: Tensor, q: _int | None = 6, niter: _int | None = 2, M: Any = None
) -> tuple[Tensor, Tensor, Tensor]: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor: ...
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def sym_float(a: Any) -> _float: ...
def sym_int(a: Any) -> _int: ...
def sym_ite(b: _bool, t: Any, f: Any) -> Any: ...
def sym_max(a: Any, b: Any) -> Any: ...
def sym_min(a: Any, b: Any) -> Any: ...
def sym_not(a: Any) -> _bool: ...
def sym_sqrt(a: Any) -> _float: ...
def sym_sum(args: Sequence[Any]) -> Any: ...
def symeig(input: Tensor, *args: object, **kwargs: object) -> NoReturn: ...
def t(input: Tensor) -> Tensor: ...
def t_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def take(input: Tensor, index: Tensor, *, out: Out = None) -> Tensor: ...
def take_along_dim(
    input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Out = None
) -> Tensor: ...
def tan(input: Tensor, *, out: Out = None) -> Tensor: ...
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Out = None) -> Tensor: ...
def tanh_(input: Tensor) -> Tensor: ...
def tensor(
    data: object,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
@overload
def tensor_split(input: Tensor, indices: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(
    input: Tensor, tensor_indices_or_sections: Tensor, dim: _int = 0
) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Out = None) -> Tensor: ...
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Out = None) -> Tensor: ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor: ...
def tile(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def to_dlpack(tensor: Tensor) -> Any: ...
def to_torch(obj: object, into: Any = None) -> Any: ...
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Outs = None,
) -> return_types.topk: ...
def trace(input: Tensor) -> Tensor: ...
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Out = None) -> Tensor: ...
@overload
def trapezoid(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor: ...
@overload
def trapezoid(y: Tensor, *, dx: Number = 1, dim: _int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, *, dx: _float = 1, dim: _int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor: ...
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Outs = None,
) -> return_types.triangular_solve: ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Out = None) -> Tensor: ...
def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: DTypeLike = ...,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _int = 1,
) -> Tensor: ...
def triu(input: Tensor, diagonal: _int = 0, *, out: Out = None) -> Tensor: ...
def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: DTypeLike = ...,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def true_divide(input: Scalar, other: Scalar, *, out: Out = None) -> Tensor: ...
def trunc(input: Tensor, *, out: Out = None) -> Tensor: ...
def trunc_(input: Tensor) -> Tensor: ...
def typename(obj: object) -> _str: ...

uint1: _dtype
uint16: _dtype
uint2: _dtype
uint3: _dtype
uint32: _dtype
uint4: _dtype
uint5: _dtype
uint6: _dtype
uint64: _dtype
uint7: _dtype
uint8: _dtype

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Outs = None) -> tuple[Tensor, ...]: ...
def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor: ...
def unfold_copy(
    input: Tensor, dimension: _int, size: _int, step: _int, *, out: Out = None
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any: ...
def unravel_index(indices: Tensor, shape: Shape) -> tuple[Tensor, ...]: ...
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[_int], dim: _int = 0
) -> tuple[Tensor, ...]: ...
def unsqueeze(input: Tensor, dim: _int) -> Tensor: ...
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Out = None) -> Tensor: ...
def use_deterministic_algorithms(mode: _bool, *, warn_only: _bool = False) -> None: ...
def values_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Out = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: _bool = True) -> Tensor: ...
@overload
def var_mean(
    input: Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def view_as_complex(input: Tensor) -> Tensor: ...
def view_as_complex_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
def view_as_real(input: Tensor) -> Tensor: ...
def view_as_real_copy(input: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, dtype: _dtype, *, out: Out = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, size: Sequence[_int], *, out: Out = None) -> Tensor: ...
def vmap(
    func: Callable[_P, _R],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: _str = "error",
    *,
    chunk_size: _int | None = None,
) -> Callable[_P, _R]: ...
@overload
def vsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
def vstack(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
@overload
def where(condition: Tensor, self: Number, other: Scalar) -> Tensor: ...
@overload
def where(condition: Tensor, input: Tensor, other: Number) -> Tensor: ...
def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> Any: ...
@overload
def xlogy(input: Tensor, other: Scalar, *, out: Out = None) -> Tensor: ...
@overload
def xlogy(self: Number, other: Tensor, *, out: Out = None) -> Tensor: ...
def xlogy_(input: Tensor, other: Scalar) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
@overload
def zeros(
    *size: _int,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def zeros(
    size: Sequence[_int],
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    memory_format: MemoryFormat = None,
    requires_grad: _bool = False,
) -> Tensor: ...
