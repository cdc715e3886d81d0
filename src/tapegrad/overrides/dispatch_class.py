"""Classes of tensors with a `__torch_dispatch__`: operators handed to them.

A layer over the grad mode does it while a public function runs that met such a tensor. As for
modes, what a class gives is what the graph records, and the backward pass runs on tensors.
"""

from __future__ import annotations

from tapegrad.autograd.layered_mode import Layered, layer_of, stripped
from tapegrad.autograd.mode import MODE, Under
from tapegrad.autograd.node import make_leaf, version_of
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.dtype import default
from tapegrad.core.tensor_base import wrap
from tapegrad.core.torch_dispatch import StandIn, array_of, is_stand_in, tensors_of
from tapegrad.core.torch_function import Overridden, add_overriding, undisturbed
from tapegrad.dispatch.op import Op
from tapegrad.library.aten import overload_named
from tapegrad.library.binding import bind
from tapegrad.operators.creation import like
from tapegrad.overrides.dispatch_call import Call, call_of, write_call
from tapegrad.overrides.dispatch_mode import (
    Dispatching,
    below_autograd,
    nobody,
    require_tensor,
    settled,
)


class ByClass(Layered):
    """Hands operators to the classes of their tensors."""

    __slots__ = ()

    @property
    def on_tensors(self) -> bool:
        return True

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        if not tensors_of(inputs) or _below(self.under, Dispatching):
            return self.below(name, function, args, kwargs)
        shown = tuple([array_of(x).tensor if is_stand_in(x) else x for x in inputs])
        if type(op) is not Op:
            return self._write(name, op, shown, params)
        with Under(below_autograd(stripped(self.under, ByClass))):
            result = ask(call_of(op, shown, params)._replace(grad=self.grad))
        return settled(self, op, inputs, params, result)

    def _write(self, name: str, op: Any, inputs: tuple, params: dict) -> Any:
        """A write is done by the class: what its tensors wrap has the graph, if anything has."""

        def run() -> Any:
            return self.below(name, op, inputs, params)

        with Under(below_autograd(stripped(self.under, ByClass))):
            ask(write_call(name, op, inputs, params, run))

    def in_place(self, name: str, compute: Callable, x: object) -> Any:
        if is_stand_in(x):
            raise errors.not_implemented(
                f"{name}: writes do not reach the __torch_dispatch__ of a class in tapegrad",
                "Methods such as add_ do: call one, or compute out of place.",
            )
        return super().in_place(name, compute, x)


def _below(mode: Any, kind: type) -> bool:
    while type(mode) is not bool:
        if type(mode) is kind:
            return True
        mode = mode.under
    return False


def ask(call: Call) -> Any:
    """What the classes of the arguments give for a call: the first that knows a result."""
    found: list[Any] = []
    for x in tensors_of((*call.args, *call.kwargs.values())):
        add_overriding(found, x)
    types = tuple(map(type, found))
    for x in found:
        result = call.hand_to(x.__torch_dispatch__, types)
        if result is not NotImplemented:
            return result
    raise nobody(call.overload, [f"tensor subclass {kind}" for kind in types])


def are_asked() -> bool:
    """Whether operators that run now are handed to classes."""
    return layer_of(ByClass) is not None


def with_classes(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`function(*args, **kwargs)`, its operators handed to classes."""
    whole = _whole(function, args, kwargs)
    if whole is not None:
        with Under(below_autograd(stripped(MODE.get(), ByClass))):
            return ask(whole)
    with Under(ByClass(MODE.get())):
        try:
            return undisturbed(function, *args, **kwargs)
        except Overridden as error:
            if type(error.obj) is not StandIn:
                raise
            kind = type(error.obj.tensor).__name__
            name = getattr(function, "__name__", str(function))
            raise errors.not_implemented(
                f"{name}: its computation does not reach the __torch_dispatch__ of {kind} in "
                "tapegrad",
                "It reads the memory of its arguments, or writes there. Call it on what the "
                "tensor wraps.",
            ) from None


def without_classes(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call with the memory that tensors of classes have themselves, by no class."""

    def bare(x: Any) -> Any:
        if type(x) in (tuple, list):
            return type(x)(map(bare, x))
        if not is_stand_in(x):
            return x
        inside = array_of(x).inside
        if inside is None:
            raise errors.not_implemented(
                f"a {type(x).__name__} made by _make_wrapper_subclass has no memory to compute on",
                "Call the function on what the tensor wraps.",
            )
        return wrap(inside)

    given = {name: bare(x) for name, x in kwargs.items()}
    with Under(stripped(MODE.get(), ByClass)):
        return undisturbed(function, *bare(args), **given)


def put(x: Any, indices: list, values: Any) -> None:
    """`x[indices] = values` with index tensors or masks: one call, handed to the class."""
    given = [x, values, *_axes_of_masks_left_out(indices)]
    x, values, *indices = [array_of(t).tensor if is_stand_in(t) else t for t in given]
    overload = overload_named("aten.index_put_.default")
    call = Call(overload, (x, indices, values), {}, lambda given, named: NotImplemented)
    with Under(below_autograd(stripped(MODE.get(), ByClass))):
        ask(call)


def _axes_of_masks_left_out(indices: list) -> list:
    """Indices with one place for a mask, whatever axes it covers, and no None at the end."""
    found: list[Any] = []
    covered = 0
    for index in indices:
        if covered:
            covered -= 1
            continue
        found.append(index)
        if index is not None and array_of(index).dtype.kind == "b":
            covered = array_of(index).ndim - 1
    while found[-1] is None:
        found.pop()
    return found


_WHOLE = {
    "allclose": "allclose.default",
    "bernoulli": "bernoulli.default",
    "equal": "equal.default",
    "full_like": "full_like.default",
    "multinomial": "multinomial.default",
    "nonzero": "nonzero.default",
    "rand_like": "rand_like.default",
    "randint_like": "randint_like.default",
    "randn_like": "randn_like.default",
}
"""Functions that compute without operators: their calls are handed to a class as they are."""


def _whole(function: Callable, args: tuple, kwargs: dict) -> Call | None:
    """A call of one of them; None for another function, or for a call of another form."""
    name = _WHOLE.get(getattr(function, "__name__", ""))
    if name is None:
        return None
    if name == "randint_like.default" and (len(args) > 2 or "low" in kwargs):
        name = "randint_like.low_dtype"
    overload = overload_named(f"aten.{name}")
    named = {"self" if key == "input" else key: value for key, value in kwargs.items()}
    try:
        bound = bind(overload._schema, args, named)
    except RuntimeError:  # `nonzero(as_tuple=True)`, and what the function itself refuses
        return None
    return Call(overload, bound.args, bound.kwargs, lambda given, named: NotImplemented)


# --- the backward pass ----------------------------------------------------------------------------


def one_like(out: Any) -> Any:
    """The cotangent of a number of a class: what the class makes of `ones_like`."""
    return made_like("ones_like", out, None)


def made_like(name: str, x: Any, kind: Any) -> Any:
    """What the class of `x` makes of `zeros_like` and its kin, with the dtype `kind`."""
    function = getattr(like, name)
    call = Call(
        overload_named(f"aten.{name}.default"),
        (array_of(x).tensor,),
        {} if kind is None or kind is x.dtype else {"dtype": kind},
        lambda given, named: function(*given, **named),
    )
    with Under(below_autograd(stripped(MODE.get(), ByClass))):
        return ask(call)


def accumulated(old: Any, g: Any) -> Any:
    """The `.grad` of a leaf to which the gradient `g` is added: in place, where it has no graph."""
    new = array_of(g).tensor if is_stand_in(g) else g
    if g.requires_grad or (old is not None and old.requires_grad):
        return new if old is None else old + new
    with Under(below_autograd(stripped(MODE.get(), ByClass))):
        if old is None:
            return new.detach()
        old.add_(new)
        return old


# --- methods that are no operators ---------------------------------------------------------------

_NOT_IN_PLACE = ("__init__", "__index__", "__int__", "__invert__", "__iter__")
_ARITHMETIC = ("add_", "sub_", "mul_", "div_")


def direct(name: str, method: Callable) -> Callable:
    """The method `name` as one call that is handed to the class, writing in place as it does."""
    public = name
    if name.startswith("__i"):
        public = {"__itruediv__": "div_"}.get(name, f"{name[3:-2]}_")
    overload = "Tensor" if public in _ARITHMETIC else "default"
    if public == "fill_":
        overload = "Scalar"
    if public == "set_":
        overload = "source_Tensor"
    packet = {"item": "_local_scalar_dense"}.get(public, public)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if are_asked() and not is_stand_in(self):
            return method(self, *args, **kwargs)

        def run(given: tuple, named: dict) -> Any:
            return getattr(given[0], public)(*given[1:], **named)

        shown = array_of(self).tensor
        handed = Call(overload_named(f"aten.{packet}.{overload}"), (shown, *args), kwargs, run)
        with Under(below_autograd(stripped(MODE.get(), ByClass))):
            result = ask(handed)
        if public == "detach":
            require_tensor(result)
        if public == "detach" and is_stand_in(result) and result is not self:
            result._counter = version_of(self)  # writes are counted together
        elif public.endswith("_") and public not in ("requires_grad_", "detach_"):
            version_of(self).value += 1
        return self if public.endswith("_") and result is None else result

    call.__name__ = name
    return call


def _refused(name: str) -> Callable:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.runtime_error(
            f".{name}() is not supported for tensor subclasses"
            + (f", got {type(self).__name__}" if name == "tolist" else "."),
            "Call it on what the tensor wraps.",
        )

    call.__name__ = name
    return call


def _repr(self: Any, *, tensor_contents: str | None = None) -> str:
    if tensor_contents is None:
        return _refused("tolist")(self)  # which prints the elements, in PyTorch, too
    return undisturbed(tensor_base.Tensor.__repr__, self, tensor_contents=tensor_contents)


def _without_memory(self: Any) -> Any:
    raise errors.runtime_error(
        "The tensor has a non-zero number of elements, but its data is not allocated yet.",
        "Ask for the memory of what the tensor wraps.",
    )


def _address(self: Any) -> int:
    """Where the memory of a tensor is; 0 for one that only wraps others."""
    inside = array_of(self).inside
    return 0 if inside is None else wrap(inside).data_ptr()


def _data(self: Any) -> Any:
    """What `detach` gives, with a version counter of its own."""
    result = self.detach()
    if is_stand_in(result) and result is not self:
        result._counter = None
    return result


def _set_data(self: Any, value: Any) -> None:
    array = array_of(value)
    inside = array.inside if type(array) is StandIn else array
    self._array = StandIn(self, array, inside)


def _as_number(kind: type) -> Callable:
    def call(self: Any) -> Any:
        return kind(self.item())

    call.__name__ = f"__{kind.__name__}__"
    return call


def _with_all(name: str, method: Callable) -> Callable:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return with_classes(method, (self, *args), kwargs)

    call.__name__ = name
    return call


def methods() -> dict[str, Any]:
    """What a class that dispatches has in the place of methods that are no operators."""
    tensor = tensor_base.Tensor
    found: dict[str, Any] = {}
    for name in ("detach", "item"):
        found[name] = direct(name, getattr(tensor, name))
    for name in dir(tensor):
        operator = name.startswith("__i") and f"__{name[3:]}" in dir(tensor) and name[-2:] == "__"
        if operator or (name[-1] == "_" and name[0] != "_" and name != "requires_grad_"):
            method = getattr(tensor, name, None)  # None: one that tapegrad has not
            if method is not None and name not in _NOT_IN_PLACE:
                found[name] = direct(name, method)
    for name in ("new_empty", "new_full", "new_ones", "new_zeros"):
        found[name] = direct(name, getattr(tensor, name))
    for name in ("numpy", "tolist", "__array__", "__dlpack__"):
        found[name] = _refused(name)
    found["__repr__"] = _repr
    for name in ("storage", "untyped_storage"):
        found[name] = _without_memory
    found["data_ptr"] = _address
    for kind in (bool, complex, float, int):
        found[f"__{kind.__name__}__"] = _as_number(kind)
    found["data"] = property(_data, _set_data)
    found["backward"] = _with_all("backward", tensor.backward)
    return found


def is_asked_in_place_of(function: Any, args: tuple) -> Any:
    """The method of the class of the first argument that goes before one of `Tensor`; or None."""
    name = getattr(function, "__name__", "")
    if not args or not is_stand_in(args[0]) or getattr(tensor_base.Tensor, name, None) is None:
        return None
    return _METHODS.get(name)


_METHODS: dict[str, Any] = {}


def declare(cls: type) -> None:
    """Prepare a class that has a `__torch_dispatch__`."""
    if not _METHODS:
        _METHODS.update(methods())
    for name, method in _METHODS.items():
        if not any(name in vars(base) for base in _own(cls)):
            setattr(cls, name, method)


def _own(cls: type) -> list[type]:
    """The classes of the program that a class derives from."""
    return [b for b in cls.__mro__ if not b.__module__.startswith(("tapegrad", "torch"))]


class _Layout:
    """Shape, strides in bytes and dtype of a tensor without memory."""

    def __init__(self, size: Any, strides: Any, dtype: Any):
        self.shape = tuple(map(int, size))
        self.dtype = dtype.numpy
        steps = [self.dtype.itemsize]
        for n in self.shape[:0:-1]:
            steps.append(steps[-1] * max(n, 1))
        if strides is not None:
            self.strides = tuple([int(n) * self.dtype.itemsize for n in strides])
        else:
            self.strides = tuple(steps[::-1]) if self.shape else ()


def made_wrapper(
    cls: Any, size: Any, strides: Any, offset: int, dtype: Any, requires_grad: bool
) -> Any:
    """A tensor of a class that dispatches, without memory."""
    made = object.__new__(cls)
    made._node = made._counter = made._view = made._grad = None
    made._signature, made._born = False, tensor_base.BORN[0]
    made._array = StandIn(made, _Layout(size, strides, default() if dtype is None else dtype), None)
    made._array.offset = offset
    return make_leaf(made) if requires_grad else made
