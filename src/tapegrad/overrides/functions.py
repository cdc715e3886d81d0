"""Which functions may be overridden, which are not, and what they are called."""

import inspect
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import tapegrad
from tapegrad import nn
from tapegrad.core.torch_function import name_of
from tapegrad.tensors.overriding import guarded_names, plain_attribute
from tapegrad.tensors.tensor import Tensor

_IGNORED = frozenset(
    """
    are_deterministic_algorithms_enabled as_strided as_strided_ autocast_decrement_nesting
    autocast_increment_nesting can_cast clear_autocast_cache compile cond eig
    compiled_with_cxx11_abi fill fork from_file from_torch get_autocast_cpu_dtype
    get_autocast_dtype get_autocast_gpu_dtype get_default_device
    get_default_dtype get_device_module get_deterministic_debug_mode get_float32_matmul_precision
    get_num_interop_threads get_num_threads get_rng_state initial_seed is_anomaly_check_nan_enabled
    is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
    is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
    is_storage is_tensor is_warn_always_enabled load lstsq manual_seed matrix_rank promote_types
    result_type save seed set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
    set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
    set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
    set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads
    set_printoptions set_rng_state set_warn_always solve sym_int symeig to_torch typename
    use_deterministic_algorithms vmap from_dlpack to_dlpack broadcast_shapes wait while_loop
    """.split()
)
"""Functions of `torch` in which no tensor takes part, or which nobody may override."""

_FACTORIES = frozenset(
    """
    arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye
    frombuffer from_numpy full hamming_window hann_window kaiser_window linspace logspace normal
    ones rand rand_like randint randint_like randn randn_like randperm range scalar_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor
    tril_indices triu_indices vander zeros
    """.split()
)
"""Functions that make tensors: a mode hears of them, classes do not."""

_IGNORED_LAYERS = frozenset("hardsigmoid hardswish sigmoid tanh upsample".split()) | {
    "upsample_bilinear",
    "upsample_nearest",
}
_INIT = ("constant_", "kaiming_uniform_", "normal_", "uniform_")
_IGNORED_METHODS = frozenset(
    """
    __delitem__ __dir__ __hash__ __iter__ as_subclass eig lstsq new new_empty new_empty_strided
    new_full new_ones new_tensor new_zeros reinforce solve stride symeig to_padded_tensor unflatten
    """.split()
)


def _functions(space: ModuleType, ignored: frozenset[str]) -> list[Callable]:
    """The functions of a module that may be overridden; those in place are methods."""
    found = []
    for name in dir(space):
        if name[0] == "_" or name[-1] == "_" or name in ignored:
            continue
        value = getattr(space, name)
        if callable(value) and not isinstance(value, (type, ModuleType)):
            found.append(value)
    return found


def _methods() -> list[Callable]:
    found = []
    for name in sorted(guarded_names() - _IGNORED_METHODS):
        value = plain_attribute(name)
        found.append(value.__get__ if isinstance(value, property) else value)
    return [each for each in found if callable(each)]


@cache
def _overridable() -> dict[Any, list[Callable]]:
    functional = nn.functional
    return {
        tapegrad: _functions(tapegrad, _IGNORED | _FACTORIES),
        functional: _functions(functional, _IGNORED_LAYERS),
        nn.init: [getattr(nn.init, name) for name in _INIT],
        Tensor: _methods(),
        tapegrad.linalg: _functions(tapegrad.linalg, frozenset()),
        tapegrad.fft: _functions(tapegrad.fft, frozenset(("fftfreq", "rfftfreq"))),
        tapegrad.special: _functions(tapegrad.special, frozenset()),
    }


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that may be overridden, by the module or class that has them.

    >>> torch.add in torch.overrides.get_overridable_functions()[torch]
    True
    """
    return {space: list(functions) for space, functions in _overridable().items()}


@cache
def get_ignored_functions() -> set[Callable]:
    """Public functions that no `__torch_function__` is asked for.

    >>> torch.zeros in torch.overrides.get_ignored_functions()
    True
    """
    spaces = ((tapegrad, _IGNORED | _FACTORIES), (nn.functional, _IGNORED_LAYERS))
    found = {getattr(space, n) for space, names in spaces for n in names if hasattr(space, n)}
    methods = {getattr(Tensor, n) for n in _IGNORED_METHODS if hasattr(Tensor, n)}
    return found | methods | {Tensor.__new__, vars(Tensor)["__torch_function__"].__func__}


@cache
def get_testing_overrides() -> dict[Callable, Callable]:
    """For each function that may be overridden, one of the same arguments that gives -1.

    >>> torch.overrides.get_testing_overrides()[torch.add](1, 2)
    -1
    """
    functions = [each for functions in _overridable().values() for each in functions]
    return {function: _dummy(function) for function in functions}


def _dummy(function: Any) -> Callable:
    try:
        signature = inspect.signature(function)
    except ValueError:  # what reads a property
        signature = inspect.Signature([_SELF])

    def dummy(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    dummy.__signature__ = signature  # type: ignore[attr-defined]
    return dummy


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


@cache
def _get_tensor_methods() -> set[Callable]:
    """The methods of tensors that may be overridden, and what reads their properties."""
    return set(_overridable()[Tensor])


_FUNCTIONAL = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod "
    "cdist chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot "
    "unique unique_consecutive unravel_index".split()
)
"""Functions that PyTorch finds in `torch.functional`."""


def resolve_name(f: Callable) -> str | None:
    """The name of a function that may be overridden, as a program writes it; None for others.

    >>> torch.overrides.resolve_name(torch.Tensor.shape.__get__)
    'torch.Tensor.shape.__get__'
    """
    name = name_of(f)
    if not name.startswith("torch."):
        return None
    home, _, own = name.removeprefix("torch.").rpartition(".")
    if home in ("linalg", "fft", "special"):
        own = own.removeprefix(f"{home}_")
    elif not home and own in _FUNCTIONAL:
        home = "functional"
    elif home.startswith("operators."):  # PyTorch calls it otherwise
        known = [n for n, x in vars(tapegrad.nn.functional).items() if x is f]
        home, own = ("nn.functional", known[0]) if known else (home, own)
    return ".".join(part for part in ("torch", home, own) if part)
