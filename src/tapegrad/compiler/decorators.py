"""Functions of `torch.compiler`: which functions are compiled, and how."""

from __future__ import annotations

import functools
import inspect
from types import CodeType
from weakref import WeakSet

from tapegrad.arrays.traced.program import RECORDING
from tapegrad.compiler.optimized_module import OptimizedModule
from tapegrad.compiler.state import COMPILED, STATE, refuse_recording
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, not_implemented, runtime_error
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

__torch__ = "_disable_dynamo"


def reset() -> None:
    """Forget the programs of all compiled functions: they are recorded anew.

    >>> torch.compiler.reset()
    """
    for each in list(COMPILED):
        each.reset()


def is_compiling() -> bool:
    """Whether the call that runs is being recorded.

    >>> torch.compiler.is_compiling()
    False
    """
    program = RECORDING.get()
    return program is not None and program.owner is not None


def is_dynamo_compiling() -> bool:
    """The same: there is one compiler."""
    return is_compiling()


def is_exporting() -> bool:
    """Whether a program is being exported: never."""
    return False


def disable(
    fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True
) -> Any:
    """A function that is not to be compiled: a compiled function that calls it runs as it is.

    A module is put in an `OptimizedModule`, as in PyTorch. Without `fn` it is a decorator.

    >>> @torch.compiler.disable
    ... def f(x):
    ...     return x
    >>> f(3)
    3
    """
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    if isinstance(fn, Module) and recursive:
        return OptimizedModule(fn)
    if not callable(fn):
        raise advised(AssertionError("fn must be callable"), "Pass a function or a module.")
    code = getattr(fn, "__code__", None)
    if code is not None:
        disabled.add(code)
    if isinstance(fn, Module):
        return fn
    original = getattr(fn, "compiled_function", fn)

    @functools.wraps(original)
    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        refuse_recording(f"{getattr(original, '__qualname__', original)} is not to be compiled")
        return original(*args, **kwargs)

    return as_it_is


disabled: WeakSet[CodeType] = WeakSet()
"""The code of functions that `disable` was given, for `torch._dynamo.explain`."""


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """`torch.compiler.disable`, as PyTorch marks functions of its own."""
    return disable(fn, recursive)


def allow_in_graph(fn: Any) -> Any:
    """The function, or functions, as they are: the compiler would call them as one operator.

    >>> torch.compiler.allow_in_graph(len) is len
    True
    """
    if isinstance(fn, list | tuple):
        return [allow_in_graph(each) for each in fn]
    if not callable(fn):
        raise advised(
            AssertionError("allow_in_graph expects a callable"), "Pass a function, or a list."
        )
    return fn


def assume_constant_result(fn: Callable) -> Callable:
    """The function as it is, marked: the compiler would call it once.

    >>> @torch.compiler.assume_constant_result
    ... def f():
    ...     return 3
    >>> f()
    3
    """
    fn._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return fn


def substitute_in_graph(
    original_fn: Callable,
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
    is_embedded_type: bool = False,
) -> Callable:
    """A decorator of what the compiler would trace instead of `original_fn`, which is called here.

    Raises: TypeError, where both take other arguments.
    """

    def decorate(traceable_fn: Callable) -> Callable:
        if not skip_signature_check:
            theirs, ours = inspect.signature(original_fn), inspect.signature(traceable_fn)
            if list(theirs.parameters) != list(ours.parameters):
                raise advised(
                    TypeError(
                        f"Signature mismatch between {original_fn} and {traceable_fn}: "
                        f"{theirs} != {ours}"
                    ),
                    "Give both the same parameters.",
                )

        @functools.wraps(original_fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return original_fn(*args, **kwargs)

        return wrapped

    return decorate


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """The function as it is: the compiler would compile it once for all calls.

    >>> torch.compiler.nested_compile_region(abs)(-1)
    1
    """
    return (lambda function: function) if fn is None else fn


def cudagraph_mark_step_begin() -> None:
    """Say that a step of training or of inference begins, to CUDA's graphs: there are none.

    >>> torch.compiler.cudagraph_mark_step_begin()
    """


_STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)


class set_stance:
    """How compiled functions are called: at once, for a block, or as a decorator.

    `"force_eager"`: as they are; `"eager_on_recompile"`: by the programs that there are, else as
    they are; `"fail_on_recompile"`: by the programs that there are, else an error.

    Raises: RuntimeError for an unknown stance.

    >>> with torch.compiler.set_stance("force_eager"):
    ...     y = torch.ones(2) * 2
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ):
        if stance not in _STANCES:
            raise runtime_error(
                f"invalid torch.compile stance '{stance}'", f"One of {', '.join(_STANCES)}."
            )
        self.stance, self._before = stance, STATE.stance
        STATE.stance = stance

    def __enter__(self) -> None:
        STATE.stance = self.stance

    def __exit__(self, *error: object) -> None:
        STATE.stance = self._before

    def __call__(self, function: Callable) -> Callable:
        self.__exit__()  # a decorator changes the calls, not its surroundings

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return function(*args, **kwargs)

        return wrapper


_collectives = False


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Keep whether ranks would agree on what to compile; returns what was kept before."""
    global _collectives
    before, _collectives = _collectives, bool(enabled)
    return before


def wrap_numpy(fn: Callable) -> Callable:
    """A function of NumPy arrays as one of tensors. No gradient goes through it.

    >>> torch.compiler.wrap_numpy(lambda a: a + 1)(torch.ones(2))
    tensor([2., 2.])
    """
    import numpy as np

    from tapegrad.operators.creation.from_numpy_asarray import from_numpy

    def changed(value: Any, kind: type, change: Callable) -> Any:
        if isinstance(value, kind):
            return change(value)
        if isinstance(value, dict):
            return {key: changed(each, kind, change) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)(changed(each, kind, change) for each in value)
        return value

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = changed((args, kwargs), Tensor, Tensor.numpy)
        return changed(fn(*args, **kwargs), np.ndarray, from_numpy)

    return wrapped


def save_cache_artifacts() -> None:
    """What was compiled, for `load_cache_artifacts`: None, as nothing was.

    >>> torch.compiler.save_cache_artifacts()
    """
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> None:
    """Take what another process compiled: None, as it is of no use here."""
    return None


def load_compiled_function(file: Any, *, f_globals: Any = None, external_data: Any = None) -> Any:
    """Raises NotImplementedError: compiled functions are PyTorch's."""
    raise not_implemented(
        "tapegrad has no compiler, and cannot run what PyTorch's has compiled",
        "Call the function itself.",
    )


# --- which guards a compiled function would keep, for `options={"guard_filter_fn": ...}` ---------


def keep_tensor_guards_unsafe(guard_entries: Any, keep_parameters: bool = False) -> list[bool]:
    """Those of tensors alone."""
    return [
        each.guard_type == "TENSOR_MATCH"
        and (keep_parameters or not isinstance(each.value, Parameter))
        for each in guard_entries
    ]


def skip_guard_on_globals_unsafe(guard_entries: Any) -> list[bool]:
    """Those of what is no global variable."""
    return [not each.is_global for each in guard_entries]


def skip_all_guards_unsafe(guard_entries: Any) -> list[bool]:
    """None."""
    return [False for _ in guard_entries]
