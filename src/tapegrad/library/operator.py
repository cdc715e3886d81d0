"""An operator that a program defined: its signature, its kernels, and how a call finds one.

autocast     what was registered for "AutocastCPU", or the dtype of `register_autocast`
autograd     the formula of `register_autograd`, or a kernel for "Autograd"
modes        a `TorchDispatchMode` is asked, or the rule that was registered for its class
a kernel     that of the device: "CPU", "CUDA", "Meta"; else one for all devices
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from tapegrad.amp.autocast_state import is_autocast_enabled
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.autograd.layered_mode import layer_of
from tapegrad.autograd.mode import MODE, Under, no_grad
from tapegrad.core import errors
from tapegrad.core.torch_function import IN_USE
from tapegrad.library import autograd
from tapegrad.library.binding import Bound, bind
from tapegrad.library.schema import FunctionSchema

if TYPE_CHECKING:
    from tapegrad.library.overload import OpOverload

EXPLICIT, IMPLICIT = "CompositeExplicitAutograd", "CompositeImplicitAutograd"

BELOW_AUTOGRAD: ContextVar[bool] = ContextVar("tapegrad_below_autograd", default=False)
"""Whether formulas and kernels of autograd are stepped over."""


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """What is registered where a key has nothing to do: the next one has the call.

    Raises:
        NotImplementedError: it is called.
    """
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Operator:
    """An operator, and all that is registered for it."""

    def __init__(
        self,
        schema: FunctionSchema,
        overload: OpOverload,
        tags: list[Any],
        kernels: dict[str, Callable],
    ):
        self.schema = schema
        self.overload = overload
        self.tags = tags
        self.kernels = kernels
        self.fake: Callable | None = None
        self.formula: autograd.Formula | None = None
        self.vmap_rule: Callable | None = None
        self.autocast: dict[str, Any] = {}
        self.rules: dict[type, Callable] = {}  # for classes of dispatch modes and of tensors
        self.custom: Any = None  # the CustomOpDef that it was made by

    @property
    def name(self) -> str:
        """`mylib::scale`, with its overload."""
        return self.schema.full_name

    def call(self, args: tuple, kwargs: dict, asked: Any) -> Any:
        """A call from the program; `asked` is the packet or the overload that it calls."""
        if IN_USE:
            from tapegrad.overrides import handle_torch_function, has_torch_function

            tensors = _leaves((*args, *kwargs.values()))
            if has_torch_function(tensors):
                return handle_torch_function(asked, tensors, *args, **kwargs)
        return self.dispatch(bind(self.schema, args, kwargs))

    def dispatch(self, bound: Bound) -> Any:
        """From autocast on."""
        kind = _kind(bound)
        if kind != "meta" and is_autocast_enabled(kind):
            kernel = self._kernel(f"Autocast{kind.upper()}")
            if kernel is not None:
                return kernel(*bound.args, **bound.kwargs)
            if kind in self.autocast:
                return self._cast(kind, bound)
        if BELOW_AUTOGRAD.get():
            return self.below(bound)
        kernel = self._kernel(f"Autograd{kind.upper()}") or self._kernel("Autograd")
        if kernel is not None:
            return kernel(*bound.args, **bound.kwargs)
        if self.schema.is_mutable:
            return self._write(bound) if self.custom is not None else self.below(bound)
        if self.custom is not None or self.formula is not None:
            return autograd.recorded(self, bound)
        if self._is_implicit(kind):
            return self.kernels[IMPLICIT](*bound.args, **bound.kwargs)
        if autograd.is_mapped(bound):
            return autograd.recorded(self, bound)
        result = self.below(bound)
        if "Autograd" in self.kernels or f"Autograd{kind.upper()}" in self.kernels:
            return result  # a fallthrough: its author says that nothing is to be recorded
        return autograd.unrecorded(self, bound, result)

    def _kernel(self, key: str) -> Callable | None:
        kernel = self.kernels.get(key)
        return None if kernel is fallthrough_kernel else kernel

    def _is_implicit(self, kind: str) -> bool:
        return IMPLICIT in self.kernels and not {kind.upper(), EXPLICIT} & self.kernels.keys()

    def _cast(self, kind: str, bound: Bound) -> Any:
        """The call with floating point tensors in the dtype of `register_autocast`."""
        from tapegrad.amp import autocast

        dtype = self.autocast[kind]

        def cast(value: Any) -> Any:
            if isinstance(value, list):
                return [cast(each) for each in value]
            fits = hasattr(value, "_array") and value.dtype.is_floating_point
            return value.to(dtype) if fits and value.device.type == kind else value

        args = tuple([cast(each) for each in bound.args])
        with autocast(kind, enabled=False):
            return self.dispatch(Bound(args, {k: cast(v) for k, v in bound.kwargs.items()}))

    def _write(self, bound: Bound) -> Any:
        """A custom operator that writes its arguments: unrecorded, and counted as a write."""
        from tapegrad.autograd.gradient_edge import increment_version

        with no_grad():
            result = self.below(bound)
        places = [each for each in self.schema.arguments if not each.kwarg_only]
        for argument, value in zip(places, bound.args, strict=False):
            if argument.is_write:
                increment_version([x for x in _leaves((value,)) if x is not None])
        return result

    def below(self, bound: Bound) -> Any:
        """Below autograd: dispatch modes are asked, then a kernel computes."""
        mode = MODE.get()
        if type(mode) is bool:
            return self.compute(bound)
        from tapegrad.overrides.dispatch_call import Call
        from tapegrad.overrides.dispatch_mode import Dispatching, below_autograd

        layer = layer_of(Dispatching)
        if layer is None:
            mutable = self.schema.is_mutable
            return (
                self.compute(bound) if mutable else mode.custom(self.overload, bound, self.compute)
            )

        def run(args: tuple, kwargs: dict) -> Any:
            return self.below(bind(self.schema, args, kwargs))

        rule = self.rules.get(type(layer.handler))
        with Under(below_autograd(layer.under)):
            if rule is not None:
                return rule(layer.handler, self.overload, (), bound.args, bound.kwargs)
            return layer._ask(Call(self.overload, bound.args, bound.kwargs, run))

    def compute(self, bound: Bound) -> Any:
        """What the kernel of the arguments' device gives."""
        kind = _kind(bound)
        if self.custom is not None and not {kind.upper(), EXPLICIT} & self.kernels.keys():
            self.custom.check_factory(kind)
        if kind == "meta":
            return self._without_memory(bound)
        kernel = self._kernel(kind.upper()) or self._kernel(EXPLICIT) or self._kernel(IMPLICIT)
        if kernel is None:
            raise self._no_kernel(kind.upper())
        if RECORDING.get() is not None and not self._is_implicit(kind):
            from tapegrad.library.as_instruction import as_instruction, can_be

            if can_be(self.schema, bound):
                return as_instruction(self.schema, kernel, bound)
        return kernel(*bound.args, **bound.kwargs)

    def _without_memory(self, bound: Bound) -> Any:
        from tapegrad.library import fake

        kernel = self._kernel("Meta")
        if kernel is not None:
            return kernel(*bound.args, **bound.kwargs)
        if self.fake is not None:
            return fake.on_meta(self.name, self.fake, bound.args, bound.kwargs)
        if self.custom is not None:
            raise errors.runtime_error(
                f"There was no fake impl registered for {self.custom}. This is necessary for "
                "torch.compile/export/fx tracing to work. Please use "
                f"`{self.custom._init_fn.__name__}.register_fake` to add an fake impl.",
                "It says shape and dtype of the results: x.new_empty(...).",
            )
        kernel = self._kernel(EXPLICIT) or self._kernel(IMPLICIT)
        if kernel is None:
            raise errors.not_implemented(
                f"{self.name}: attempted to run this operator with Meta tensors, but there was no "
                "fake impl or Meta kernel registered.",
                "torch.library.register_fake says shape and dtype of the results.",
            )
        return kernel(*bound.args, **bound.kwargs)

    def _no_kernel(self, backend: str) -> NotImplementedError:
        return errors.not_implemented(
            f"Could not run '{self.name}' with arguments from the '{backend}' backend. This could "
            "be because the operator doesn't exist for this backend, or was omitted during the "
            "selective/custom build process (if using custom build). "
            f"'{self.name}' is only available for these backends: "
            f"[{', '.join(sorted(self.kernels))}].",
            f"Register one: torch.library.register_kernel('{self.name}', '{backend.lower()}').",
        )


def _leaves(values: tuple) -> list:
    """Arguments, and what is in their lists."""
    found: list[Any] = []
    for value in values:
        found += value if isinstance(value, list | tuple) else [value]
    return found


def _kind(bound: Bound) -> str:
    """The kind of device of a call: "meta" if one argument is there."""
    kinds = {x.device.type for x in bound.tensors() if hasattr(x, "device")}
    for kind in ("meta", "cuda"):
        if kind in kinds:
            return kind
    if not kinds:
        for value in (*bound.args, *bound.kwargs.values()):
            if type(value).__name__ == "device":
                return value.type
    return "cpu"
