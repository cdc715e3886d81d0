"""`torch._C`: what programs ask of PyTorch's compiled half.

dispatch_keys   the names of PyTorch's dispatcher
_nn             functions behind `torch.nn.functional`
_functorch      levels of `vmap` and of derivatives
_autograd _distributed_c10d   classes of the profiler and of `torch.distributed`
switches        what `torch.backends` and other public functions set
"""

from importlib import import_module
from importlib.util import find_spec
from itertools import count
from types import ModuleType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary, ref

import tapegrad
from tapegrad import jit
from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.engine import BACKWARD_PASS as _BACKWARD_PASS
from tapegrad.autograd.execution_engine import ImperativeEngine as _ImperativeEngine
from tapegrad.autograd.function.context import Context as _FunctionBase
from tapegrad.autograd.mode import TRANSFORMS as _TRANSFORMS
from tapegrad.autograd.mode import set_grad_enabled as _grad_switch
from tapegrad.autograd.node import AccumulateGrad as _AccumulateGrad
from tapegrad.autograd.node import Node as _Node
from tapegrad.compat.torch._C.dispatch_keys import (
    DispatchKey,
    DispatchKeySet,
    _AutoDispatchBelowAutograd,
    _dispatch_keys,
    _ExcludeDispatchKeyGuard,
)
from tapegrad.core import errors as _errors
from tapegrad.core.errors import LinAlgError as _LinAlgError
from tapegrad.core.missing import missing as _missing
from tapegrad.core.shape import broadcast as _broadcast
from tapegrad.core.size import Size
from tapegrad.core.torch_function import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _EnableTorchFunction,
    _get_torch_function_state,
    _is_torch_function_all_disabled,
    _is_torch_function_enabled,
    _TorchFunctionState,
)
from tapegrad.core.torch_function import disabled as _disabled_torch_function_impl
from tapegrad.overrides import (
    _get_function_stack_at,
    _is_torch_function_mode_enabled,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from tapegrad.overrides import has_torch_function as _has_torch_function
from tapegrad.overrides import has_torch_function_unary as _has_torch_function_unary
from tapegrad.overrides import has_torch_function_variadic as _has_torch_function_variadic
from tapegrad.tensors.tensor import Tensor as _Tensor
from tapegrad.tensors.tensor import TensorCore as TensorBase

_TensorBase = TensorBase
_TensorMeta = type(_Tensor)
_EngineBase = _ImperativeEngine

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "Size",
    "TensorBase",
    "_AutoDispatchBelowAutograd",
    "_EnableTorchFunction",
    "_EngineBase",
    "_ExcludeDispatchKeyGuard",
    "_FunctionBase",
    "_ImperativeEngine",
    "_LinAlgError",
    "_TensorBase",
    "_TensorMeta",
    "_TorchFunctionState",
    "_disabled_torch_function_impl",
    "_dispatch_keys",
    "_get_function_stack_at",
    "_get_torch_function_state",
    "_has_torch_function",
    "_has_torch_function_unary",
    "_has_torch_function_variadic",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_len_torch_function_stack",
    "_pop_torch_function_stack",
    "_push_on_torch_function_stack",
]

# The same objects as those of `torch`: classes, the default generator, switches.
_OF_TORCH = frozenset(
    "AcceleratorError Event Generator OutOfMemoryError Stream default_generator device dtype finfo "
    "get_autocast_dtype get_default_dtype get_num_threads has_lapack has_mkl has_openmp "
    "has_spectral iinfo import_ir_module init_num_threads is_anomaly_enabled is_autocast_enabled "
    "is_autocast_cache_enabled is_grad_enabled is_inference_mode_enabled layout memory_format "
    "set_autocast_enabled set_num_threads SymInt SymFloat SymBool autocast_decrement_nesting "
    "autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype get_autocast_gpu_dtype "
    "is_anomaly_check_nan_enabled is_autocast_cpu_enabled set_autocast_cache_enabled "
    "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_gpu_dtype "
    "set_flush_denormal AnyType BoolType ComplexType DeviceObjType DictType FloatType IntType "
    "ListType NoneType NumberType OptionalType StringType TensorType TupleType Type".split()
)
_OF_JIT = frozenset(
    "CompilationUnit Future ScriptFunction ScriptModule RecursiveScriptModule".split()
)

# Those of `torch.utils._python_dispatch`.
_OF_DISPATCH = frozenset("_get_dispatch_stack_at _len_torch_dispatch_stack".split())

_has_mkldnn = _has_cuda = _has_cudnn = _has_mps = _has_xpu = _has_magma = False
_has_distributed = True


# --- tracing, transforms, usage ------------------------------------------------------------------


def _is_tracing() -> bool:
    """Whether a function is being traced."""
    is_tracing = getattr(jit, "is_tracing", None)
    return is_tracing is not None and is_tracing()


def _get_tracing_state() -> object | None:
    """None where nothing is being traced, else an object that says so.

    >>> torch._C._get_tracing_state() is None
    True
    """
    return True if _is_tracing() else None


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of `torch.func` is running.

    >>> torch._C._are_functorch_transforms_active()
    False
    """
    return _TRANSFORMS.get() is not None


def _log_api_usage_once(event: str) -> None:
    """PyTorch's mark that something is used, for who listens: nobody does here."""


def _log_api_usage_metadata(event: str, metadata_map: dict[str, str]) -> None:
    """The same with more to say."""


# --- tensors -------------------------------------------------------------------------------------


def _infer_size(a: Size, b: Size) -> Size:
    """The size to which two sizes broadcast.

    >>> torch._C._infer_size(torch.Size([2, 1]), torch.Size([4]))
    torch.Size([2, 4])
    """
    for i, each in enumerate((a, b), 1):
        if not isinstance(each, Size):
            raise _errors.type_error(f"expected a torch.Size as argument {i}", "Pass x.shape.")
    return Size(_broadcast(a, b))


def _is_alias_of(a: _Tensor, b: _Tensor) -> bool:
    """Whether two tensors are in the same memory.

    >>> x = torch.ones(2)
    >>> torch._C._is_alias_of(x, x[1:])
    True
    """
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _is_batched(x: _Tensor) -> bool:
    """Whether a tensor stands for each sample of a batch, inside `vmap`."""
    return is_batched(x._array)


def _set_grad_enabled(enabled: bool) -> None:
    """Record what follows, or do not.

    >>> torch._C._set_grad_enabled(False)
    >>> torch.is_grad_enabled()
    False
    >>> torch._C._set_grad_enabled(True)
    """
    _grad_switch(enabled)


def _group_tensors_by_device_and_dtype(
    tensorlists: list[list], with_indices: bool = False
) -> dict[tuple, tuple[list, list]]:
    """Lists of tensors, taken apart by the device and dtype of the first list's.

    A place where a list has None stays None.
    """
    found: dict[tuple, tuple[list, list]] = {}
    for i, row in enumerate(zip(*tensorlists, strict=True)):
        first = next(x for x in row if x is not None)
        group, indices = found.setdefault(
            (first.device, first.dtype), ([[] for _ in tensorlists], [])
        )
        for each, x in zip(group, row, strict=True):
            each.append(x)
        if with_indices:
            indices.append(i)
    return found


# --- backward passes ------------------------------------------------------------------------------

_numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
_next = count()


def _current_graph_task_id() -> int:
    """A number of the backward pass that runs; -1 where none does."""
    backward = _BACKWARD_PASS.get()
    if backward is not None and backward not in _numbers:
        _numbers[backward] = next(_next)
    return -1 if backward is None else _numbers[backward]


def _will_engine_execute_node(node: object) -> bool:
    """Whether the backward pass that runs will run a node."""
    backward = _BACKWARD_PASS.get()
    if not isinstance(node, _Node):
        text = f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
    elif backward is None:
        text = "_get_should_execute_nodes should only be called during the backward pass"
    elif backward.restricted and not backward.keep and type(node) is _AccumulateGrad:
        text = (
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    else:
        return backward.will_run(node)
    raise _errors.runtime_error(text, "Ask of tensor.grad_fn, in a hook.")


class _WeakTensorRef:
    """Whether a tensor is still there."""

    def __init__(self, tensor: _Tensor):
        self._found = ref(tensor)

    def expired(self) -> bool:
        """Whether nobody holds it any more."""
        return self._found() is None


# --- devices -------------------------------------------------------------------------------------


def _get_default_device() -> str:
    """The kind of device of `torch.FloatTensor()`: 'cpu'."""
    return "cpu"


def _get_accelerator() -> Any:
    """The kind of device beside the CPU; the CPU where there is none."""
    return tapegrad.device("cpu")


def _accelerator_getAccelerator() -> None:
    """The kind of device beside the CPU: there is none."""
    return None


def _get_privateuse1_backend_name() -> str:
    """What the devices of an extension are called."""
    return "privateuseone"


# --- switches of the compiler of TorchScript, which change nothing here --------------------------

_switches = {"profiling_mode": True, "profiling_executor": True, "texpr": True, "optimize": True}


def _switch(name: str, on: bool) -> bool:
    before, _switches[name] = _switches[name], bool(on)
    return before


def _jit_set_profiling_mode(on: bool, /) -> bool:
    """Whether TorchScript's compiler measures first: gives what was set before."""
    return _switch("profiling_mode", on)


def _jit_set_profiling_executor(on: bool, /) -> bool:
    """The same of its executor."""
    return _switch("profiling_executor", on)


def _get_graph_executor_optimize(new_setting: bool | None = None) -> bool:
    """Whether TorchScript's executor optimizes; gives what was set before."""
    before = _switches["optimize"]
    if new_setting is not None:
        _switches["optimize"] = bool(new_setting)
    return before


def _jit_set_texpr_fuser_enabled(on: bool, /) -> None:
    """Whether TorchScript's compiler fuses."""
    _switch("texpr", on)


def _jit_texpr_fuser_enabled() -> bool:
    """What `_jit_set_texpr_fuser_enabled` set."""
    return _switches["texpr"]


def _jit_can_fuse_on_cpu() -> bool:
    """Whether TorchScript fuses: there is no such compiler."""
    return False


def _jit_override_can_fuse_on_cpu(on: bool, /) -> None:
    """Let TorchScript's compiler fuse, if there were one."""


_jit_can_fuse_on_gpu = _jit_can_fuse_on_cpu
_jit_override_can_fuse_on_gpu = _jit_override_can_fuse_on_cpu


def _jit_set_nvfuser_enabled(on: bool, /) -> bool:
    """A fuser that PyTorch has no more: warns, and gives False."""
    _errors.warn(
        "nvfuser is no longer supported in torch script, use _jit_set_nvfuser_enabled is "
        "deprecated and a no-op"
    )
    return False


# --- names in annotations ------------------------------------------------------------------------


class _Unmade:
    """Classes of TorchScript's graphs: programs write them in annotations."""

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise _errors.type_error(
            f"torch._C.{cls.__name__}: No constructor defined!",
            "TorchScript's graphs are PyTorch's own: a traced function of tapegrad has a code.",
        )


class Graph(_Unmade):
    """A graph of TorchScript."""


class Node(_Unmade):
    """A node of a graph of TorchScript."""


class Value(_Unmade):
    """What a node of a graph of TorchScript takes and gives."""


class Block(_Unmade):
    """A part of a graph of TorchScript."""


Graph.__module__ = Node.__module__ = Value.__module__ = Block.__module__ = "torch._C"


def _family(name: str) -> ModuleType:
    """`torch._C._linalg` and its kin: what `torch.linalg` has, called `linalg_...`.

    `torch.fx` writes them so in the code of graphs.
    """
    home = import_module(f"tapegrad.{name}")
    found = ModuleType(f"torch._C._{name}")

    def __getattr__(asked: str) -> Any:
        family, _, rest = asked.partition("_")
        if family == name and rest in home.__all__:
            return getattr(home, rest)
        raise AttributeError(f"module '{found.__name__}' has no attribute '{asked}'")

    found.__getattr__ = __getattr__  # type: ignore[method-assign]
    return found


def _node_module() -> ModuleType:
    """`torch._C._functions`: nodes of the graph, and what ends a gradient."""
    from tapegrad.autograd.function.node import Error
    from tapegrad.autograd.gradcheck.undefined_and_layout import UndefinedGrad
    from tapegrad.autograd.history import CopySlices

    found: Any = ModuleType("torch._C._functions")
    found.AccumulateGrad, found.CopySlices, found.Error = _AccumulateGrad, CopySlices, Error
    found.UndefinedGrad = lambda: UndefinedGrad.apply
    return found


def __getattr__(name: str) -> Any:
    """What `torch`, `torch.overrides` and `torch.jit` have, and modules of this package."""
    if name in ("_fft", "_linalg", "_special", "_functions"):
        found = globals()[name] = _node_module() if name == "_functions" else _family(name[1:])
        return found
    if name in _OF_TORCH:
        return getattr(tapegrad, name)
    if name in _OF_JIT:
        return getattr(jit, name)
    if name in _OF_DISPATCH:
        return getattr(import_module("tapegrad.utils._python_dispatch"), name)
    switches = import_module(f"{__name__}.switches")
    if name[:2] != "__" and name in vars(switches):
        return getattr(switches, name)
    if name == "_VariableFunctions":
        return import_module("tapegrad.compat.torch._VF")
    if name[:2] != "__" and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise _missing(__name__, name)
