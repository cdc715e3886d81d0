"""`custom_op`: a Python function as an operator, opaque to what is around it."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapegrad.core import errors
from tapegrad.core.device import as_device
from tapegrad.library import registry
from tapegrad.library.autograd import Formula
from tapegrad.library.infer import infer_schema
from tapegrad.library.operator import EXPLICIT
from tapegrad.library.schema import FunctionSchema, parse_schema

_LOG = logging.getLogger("torch._library.custom_ops")


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator of a function: what is inside is nobody's business.

    Autograd, `vmap` and the modes see one call, `torch.ops.<namespace>.<name>`, whose derivative is
    what `register_autograd` says.

    Args:
        name: "namespace::name".
        mutates_args: the names of the arguments that the function writes, or "unknown".
        device_types: the kinds of devices that the function is for; None: all.
        schema: the signature; it is taken from the annotations otherwise.

    Raises:
        ValueError: the annotations are no signature of an operator.

    >>> @torch.library.custom_op("docs::cube", mutates_args=())
    ... def cube(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.from_numpy(x.numpy() ** 3)
    >>> cube
    <CustomOpDef(docs::cube)>
    >>> cube.register_autograd(
    ...     lambda ctx, g: 3 * g * ctx.saved_tensors[0] ** 2,
    ...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    ... )
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.ops.docs.cube(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """

    def made(function: Callable) -> CustomOpDef:
        text = schema
        if text is None:
            text = infer_schema(function, mutates_args=mutates_args)
        namespace, opname = name.split("::")
        found = CustomOpDef(namespace, opname, text, function, tags)
        if schema is not None:
            _check_mutates(found._opoverload._schema, mutates_args)
        found.register_kernel(device_types)(function)
        return found

    return made if fn is None else made(fn)


def _check_mutates(schema: FunctionSchema, mutates_args: str | Iterable[str]) -> None:
    written = {argument.name for argument in schema.arguments if argument.is_write}
    if mutates_args != "unknown" and written != set(mutates_args):
        raise errors.value_error(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema="
            f"{schema}`. The schema suggests that the op mutates {written}which is different from "
            "what was provided to us in `mutates_args`. Please make these consistent.",
            "Mark what is written in the schema: Tensor(a!) x.",
        )


class CustomOpDef:
    """An operator made by `custom_op`: call it, or register more for it."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable, tags: Any = None):
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._init_fn = fn
        self._qualname = f"{namespace}::{name}"
        self._disabled_kernel: set[str] = set()
        parsed = parse_schema(f"{self._qualname}{schema}")
        check_places(parsed, "custom_op with kwarg-only Tensor args. Please", name + schema)
        before = _DEFINED.get(self._qualname)
        if before is not None:
            registry.forget(before._opoverload)
            before._operator.kernels.clear()
        frame = sys._getframe(2)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        self._opoverload = registry.define(
            parsed, place, list(tags) if isinstance(tags, tuple | list) else [tags] if tags else []
        )
        operator = self._opoverload.operator
        assert operator is not None
        operator.custom = self
        self._operator = operator
        _DEFINED[self._qualname] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Any:
        """Say what computes the operator on some kinds of devices, "cpu"; None: on all."""

        def register(function: Callable) -> Callable:
            kinds = (
                [device_types]
                if device_types is None or isinstance(device_types, str)
                else device_types
            )
            for kind in kinds:
                if kind is not None:
                    as_device(kind)  # raises for what is no kind of device
                key = EXPLICIT if kind is None else kind.upper()
                self._operator.kernels[key] = self._checked(function, kind)
            return function

        return register if fn is None else register(fn)

    def _checked(self, function: Callable, kind: str | None) -> Callable:
        """The function; it raises where a result shares the memory of an argument."""

        def kernel(*args: Any, **kwargs: Any) -> Any:
            called = self._init_fn if kind in self._disabled_kernel else function
            result = called(*args, **kwargs)
            given = [x for value in (*args, *kwargs.values()) for x in _each(value)]
            self._check_alias(function, given, [x for x in _each(result)])
            return result

        return kernel

    def check_factory(self, kind: str) -> None:
        """Raise for an operator without tensors, which has only the kernels of its devices."""
        arguments = self._operator.schema.arguments
        by_device = any(each.schema_type.name == "Device" for each in arguments)
        if by_device and not any(each.schema_type.has_tensors for each in arguments):
            raise errors.runtime_error(
                f"{self._name} does not have a kernel registered for {kind}. Please use "
                "register_kernel to do so.",
                f"{self._init_fn.__name__}.register_kernel({kind!r}) is a decorator.",
            )

    def _check_alias(self, function: Callable, given: list, results: list) -> None:
        seen = {_memory(x) for x in given if _memory(x)}
        for x in results:
            memory = _memory(x)
            if memory and memory in seen:
                raise errors.runtime_error(
                    f"{self._name} (with implementation in {inspect.getmodule(function)}): The "
                    "output of this custom operator (1) must not also be an input to this custom "
                    "operator and (2) may not alias any inputs to this custom operator or other "
                    "returns. The most common way to trigger this error is if we have y = "
                    "custom_op(x) and y and x are the same Tensor. Please instead return a clone "
                    "of the offending output tensor(s) (e.g. return x.clone()) or refactor the "
                    "custom operator to not return y.",
                    "Return x.clone().",
                )
            seen.add(memory)

    def register_fake(self, fn: Callable, /) -> Callable:
        """Say shapes and dtypes of the results: what tensors of the meta device get."""
        self._operator.fake = fn
        return fn

    def register_autograd(
        self, backward: Callable, /, *, setup_context: Callable | None = None
    ) -> None:
        """Give the operator its derivative.

        Args:
            backward: `backward(ctx, *grads)` from the gradients of the results to those of the
                arguments, None for what is no tensor.
            setup_context: `setup_context(ctx, inputs, output)` saves what that needs.

        Raises:
            RuntimeError: the operator writes its arguments.
        """
        set_formula(self._operator, backward, setup_context, self)

    def register_vmap(self, func: Callable | None = None) -> Any:
        """Say what the operator is on batches: `func(info, in_dims, *args)` gives
        `(output, out_dims)`."""

        def register(function: Callable) -> Callable:
            set_vmap_rule(self._operator, function)
            return function

        return register if func is None else register(func)

    def register_torch_dispatch(self, torch_dispatch_class: type, fn: Any = None, /) -> Any:
        """Say what the operator is under a `TorchDispatchMode` of a class.

        `fn(mode, func, types, args, kwargs)` is asked in place of its `__torch_dispatch__`.
        """

        def register(function: Callable) -> Callable:
            self._operator.rules[torch_dispatch_class] = function
            return function

        return register if fn is None else register(fn)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Callable:
        """Under autocast, cast floating point tensors to a dtype and switch autocast off inside."""
        check_autocast(device_type)
        self._operator.autocast[device_type] = cast_inputs
        return self._opoverload

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """A block in which the kernel for a kind of device is on or off.

        Where it is off the function computes that the operator was made of.
        """
        before = set(self._disabled_kernel)
        do = "enable" if enabled else "disable"
        if device_type.upper() not in self._operator.kernels:
            lacking = "no kernel was registered for this device type."
            _LOG.warning("Attempted to %s kernel for %s but %s", do, device_type, lacking)
        elif enabled != (device_type in before):
            text = "Attempted to %s kernel for %s but it was already %s."
            _LOG.warning(text, do, f" {device_type}" if enabled else device_type, f"{do}d")
        (self._disabled_kernel.discard if enabled else self._disabled_kernel.add)(device_type)
        try:
            yield
        finally:
            self._disabled_kernel = before


CustomOpDef.__module__ = "torch._library.custom_ops"

_DEFINED: dict[str, CustomOpDef] = {}


_BY_NAME = " with kwarg-only Tensor args. In the original definition of the op, please"


def check_places(schema: FunctionSchema, what: str, shown: str | None = None) -> None:
    """Raise where tensors are arguments by keyword only."""
    if any(each.kwarg_only and each.schema_type.has_tensors for each in schema.arguments):
        raise errors.not_implemented(
            f"{what} make your tensors not kwarg-only. Got: {shown or schema}",
            "Let them stand before the star.",
        )


def set_vmap_rule(operator: Any, rule: Callable) -> None:
    """Register what the operator is on batches."""
    check_places(operator.schema, "register_vmap" + _BY_NAME)
    operator.vmap_rule = rule


def check_autocast(device_type: str) -> None:
    """Raise unless autocast may be registered for a kind of device."""
    if not isinstance(device_type, str):
        raise errors.value_error(
            f"Expected `device_type` of type `str`, got: `{type(device_type)}`", "Pass 'cpu'."
        )
    if device_type not in ("cpu", "cuda"):
        raise errors.value_error(f"Unknown device type: {device_type}", "Pass 'cpu' or 'cuda'.")


def set_formula(
    operator: Any, backward: Callable, setup_context: Callable | None, shown: Any
) -> None:
    """Register a derivative."""
    schema = operator.schema
    if schema.is_mutable:
        raise errors.runtime_error(
            f"Cannot register autograd formula for non-functional operator {shown} with schema "
            f"{schema}. Please create a functional operator and register an autograd formula for "
            "that.",
            "Return the result instead of writing it.",
        )
    check_places(schema, "register_autograd" + _BY_NAME)
    operator.formula = Formula(backward, setup_context)


def _each(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


def _memory(x: Any) -> int:
    """Where the elements of a tensor are; 0 for what has none."""
    if not hasattr(x, "_array") or x.device.type == "meta":
        return 0
    return x.untyped_storage().data_ptr()
