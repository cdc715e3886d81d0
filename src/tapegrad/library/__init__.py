"""`torch.library`: operators of one's own, under the names of `torch.ops`.

    custom_op           a Python function as an operator: the way that PyTorch recommends
    define, impl        a signature first, then kernels for devices
    Library             the same for a whole namespace; what it defined goes with it
    register_...        a derivative, a rule for batches, shapes without elements, autocast

An operator is one call for autograd, `vmap` and the modes, whatever is inside: kernels may use
NumPy, or anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.library import registry as _registry
from tapegrad.library.custom_op import CustomOpDef, custom_op
from tapegrad.library.custom_op import check_autocast as _check_autocast
from tapegrad.library.custom_op import set_formula as _set_formula
from tapegrad.library.custom_op import set_vmap_rule as _set_vmap_rule
from tapegrad.library.fake import get_ctx
from tapegrad.library.infer import infer_schema
from tapegrad.library.libraries import Library, _scoped_library, key_of
from tapegrad.library.opcheck import opcheck
from tapegrad.library.operator import EXPLICIT as _EXPLICIT
from tapegrad.library.operator import Operator as _Operator
from tapegrad.library.operator import fallthrough_kernel
from tapegrad.library.overload import OpOverload as _OpOverload
from tapegrad.library.schema import parse_schema as _parse_schema
from tapegrad.library.triton import triton_op, wrap_triton

__all__ = [
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_fake",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]


def _operator(op: Any, error: type[Exception] = RuntimeError) -> _Operator:
    """The operator that is meant: by its name, as an overload, or as `custom_op` made it."""
    return _registry.operator_named(_name_of(op), error)


def _name_of(op: Any) -> str:
    if isinstance(op, CustomOpDef):
        op = op._opoverload
    if isinstance(op, _OpOverload):
        op = op.name()
    if not isinstance(op, str):
        raise errors.value_error(
            f"Expected `op` to be a str, an OpOverload or a CustomOpDef, got {type(op)}",
            'Pass "mylib::myop".',
        )
    return op


def define(qualname: Any, schema: str, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an operator by its name and signature; `impl` says what computes it.

    Raises:
        ValueError: the name has no namespace.
        RuntimeError: there is one of the name, or the signature is none.

    >>> with torch.library._scoped_library("docs", "FRAGMENT") as library:
    ...     torch.library.define("docs::twice", "(Tensor x) -> Tensor", lib=library)
    ...     torch.library.impl("docs::twice", "cpu", lambda x: 2 * x)
    ...     torch.ops.docs.twice(torch.ones(2))
    tensor([2., 2.])
    """
    if callable(qualname):
        raise errors.type_error("define() takes the name of the operator", "It is no decorator.")
    if isinstance(qualname, Library):  # the old form: a decorator, define(library, schema)
        library, name = qualname, qualname.define(schema)

        def old(function: Callable) -> Callable:
            library.impl(name, function)
            return function

        return old
    if not isinstance(qualname, str):
        raise errors.value_error(
            "define(qualname, schema): expected qualname to be instance of str, got "
            f"{type(qualname)}",
            'Pass "mylib::myop".',
        )
    _registry.check_name(qualname)
    frame = sys._getframe(1)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    tags = list(tags) if isinstance(tags, tuple | list) else [tags]
    made = _registry.define(_parse_schema(qualname + schema), place, tags)
    if lib is not None:
        lib._defined.append(made)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Say what computes an operator on some kinds of devices: "cpu", "cuda", "default" for all.

    A decorator without `func`. `types` may also be a key of PyTorch's dispatcher, "Autograd" say.

    The operator may be defined later.

    Raises:
        RuntimeError: there is no such key.
    """
    if isinstance(qualname, Library):  # the old form: impl(library, name, key)
        library, name, key = qualname, types, func or ""

        def old(function: Callable) -> Callable:
            library.impl(name, function, key)
            return function

        return old
    kinds = [types] if isinstance(types, str) else list(types)

    def register(function: Callable) -> None:
        kernels = _registry.kernels_of(_name_of(qualname))
        for kind in kinds:
            key = _EXPLICIT if kind == "default" else key_of(kind)
            if lib is None:
                kernels[key] = function
            else:
                lib._register(kernels, key, function)

    return register if func is None else register(func)


def register_kernel(
    op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Library | None = None
) -> Any:
    """Say what computes an operator on some kinds of devices; None: on all of them.

    Raises:
        ValueError: `op` is no operator.
    """

    def register(function: Callable) -> Callable:
        name = _name_of(op)
        known = _registry.find(name)
        if known is not None and known.operator is not None and known.operator.custom is not None:
            return known.operator.custom.register_kernel(device_types)(function)
        impl(name, "default" if device_types is None else device_types, lib=lib)(function)
        return function

    return register if func is None else register(func)


def register_fake(
    op: Any,
    func: Callable | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """Say shapes and dtypes of an operator's results: what it is on the meta device.

    >>> @torch.library.custom_op("docs::double", mutates_args=())
    ... def double(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.from_numpy(x.numpy() * 2)
    >>> @torch.library.register_fake("docs::double")
    ... def _(x):
    ...     return x.new_empty(x.shape)
    >>> double(torch.ones(2, 3, device="meta")).shape
    torch.Size([2, 3])
    """

    def register(function: Callable) -> Callable:
        _operator(op).fake = function
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: str, func: Callable | None = None, *, lib: Any = None) -> Any:
    """The old name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None
) -> None:
    """Give an operator its derivative, as `CustomOpDef.register_autograd` does.

    Raises:
        RuntimeError: the operator writes its arguments.
    """
    operator = _operator(op, AttributeError)
    _set_formula(operator, backward, setup_context, operator.custom or operator.overload)


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """Say what an operator is on batches.

    `func(info, in_dims, *args)` gives `(output, out_dims)`; `info` has `batch_size` and
    `randomness`, `in_dims` a number for each argument that has a batch, else None.

    >>> @torch.library.custom_op("docs::cube", mutates_args=())
    ... def cube(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.from_numpy(x.numpy() ** 3)
    >>> @torch.library.register_vmap(cube)
    ... def _(info, in_dims, x):
    ...     return cube(x), in_dims[0]
    >>> torch.vmap(cube)(torch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [8.]])
    """

    def register(function: Callable) -> Callable:
        _set_vmap_rule(_operator(op), function)
        return function

    return register if func is None else register(func)


def register_torch_dispatch(
    op: Any, torch_dispatch_class: type, func: Any = None, /, *, lib: Any = None
) -> Any:
    """Say what an operator is under a `TorchDispatchMode` of a class."""

    def register(function: Callable) -> Callable:
        _operator(op).rules[torch_dispatch_class] = function
        return function

    return register if func is None else register(func)


def register_autocast(
    op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None
) -> None:
    """Under autocast, cast the floating point tensors of a call to the dtype `cast_inputs`."""
    _check_autocast(device_type)
    _operator(op).autocast[device_type] = cast_inputs


def get_kernel(op: Any, dispatch_key: Any) -> Callable:
    """The function that is registered for an operator and a key.

    Raises:
        RuntimeError: there is none.
    """
    operator = _operator(op)
    key = key_of(dispatch_key if isinstance(dispatch_key, str) else dispatch_key.name)
    kernel = operator.kernels.get(key) or operator.kernels.get(_EXPLICIT)
    if kernel is None:
        raise errors.runtime_error(
            f"No kernel for {operator.name} and {key}", "torch.library.register_kernel adds one."
        )
    return kernel


__getattr__ = _refuses(__name__)
