"""Tensor: an array, `requires_grad`, and its place in the graph.

Methods are one visible line into `operators`, in the mixins of `methods/`, by family.
"""

import functools
import inspect
import types
import weakref
from sys import getrefcount
from typing import Any

import numpy as np

from tapegrad.autograd.accumulate import is_shared
from tapegrad.autograd.captured import born_of, refuse_captured
from tapegrad.autograd.hooks import NodeHooks, added
from tapegrad.autograd.mode import MODE, TRANSFORMS, is_inference_mode_enabled
from tapegrad.autograd.node import (
    INFERENCE,
    AccumulateGrad,
    DetachedVersion,
    Port,
    ReplacedVersion,
    hooks_of,
    make_leaf,
    version_of,
)
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors, overridable, tensor_base, torch_dispatch
from tapegrad.core.argument_check import method_of
from tapegrad.core.device import CPU
from tapegrad.core.dtype import BY_NUMPY, of
from tapegrad.core.meta_array import device_of
from tapegrad.core.registration import DISPATCH_CLASSES, TRANSFORM_STACK
from tapegrad.core.size import Size, from_shape
from tapegrad.core.tensor_base import REFUSING, TensorBase, wrap
from tapegrad.core.torch_function import ALL_OFF, IN_USE, STATE, disabled, undisturbed

new = object.__new__
ndarray = np.ndarray


class TensorCore(TensorBase):
    """What a tensor is, without its operators."""

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        from tapegrad.operators.creation.legacy_constructor import legacy_tensor

        if IN_USE:
            return undisturbed(legacy_tensor, cls, args, kwargs)
        return legacy_tensor(cls, args, kwargs)

    @staticmethod
    def _make_subclass(cls: type, data: Any, require_grad: bool = False) -> Any:
        """The values of `data` without history as an object of `cls`, a class of tensors."""
        from tapegrad.tensors.copy_pickle import made_subclass

        return made_subclass(cls, data, require_grad)

    @staticmethod
    def _make_wrapper_subclass(
        cls: type,
        size: Any,
        strides: Any = None,
        storage_offset: int | None = None,
        memory_format: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        dispatch_sizes_strides_policy: str | None = None,
        dispatch_device: bool = False,
        dispatch_layout: bool = False,
    ) -> Any:
        """A tensor of a class with a `__torch_dispatch__` that has shape and dtype, and no memory.

        The class says what operators do: nothing else can be done with the tensor.
        """
        from tapegrad.tensors.copy_pickle import made_wrapper_subclass

        others = {
            "storage_offset": storage_offset,
            "memory_format": memory_format,
            "dispatch_sizes_strides_policy": dispatch_sizes_strides_policy,
            "dispatch_device": dispatch_device,
            "dispatch_layout": dispatch_layout,
        }
        return made_wrapper_subclass(cls, size, strides, dtype, device, requires_grad, others)

    # --- what it is -----------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size of each dimension, a `torch.Size`."""
        return from_shape(self._array.shape)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        array = self._array
        return BY_NUMPY[array.dtype] if type(array) is ndarray else of(array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def device(self) -> Any:
        """Where the tensor lives."""
        array = self._array
        return CPU if type(array) is ndarray else device_of(array)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor; settable on leaves."""
        if self._node is not None:
            return True
        return self._view is not None and self._view.base._node is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if flag and self._node is None and not _can_require_grad(self):
            raise errors.cannot_require_grad(self.dtype, "floating point and complex")
        self._require(flag)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise errors.runtime_error(
            "requires_grad must be a bool", "Assign False where no gradient shall flow."
        )

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say whether gradients shall flow to this leaf; returns the tensor.

        >>> torch.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        if TRANSFORMS.get():
            raise errors.inside_transform("requires_grad_")
        return self._require(requires_grad)

    def _require(self, requires_grad: bool) -> Any:
        if requires_grad and self._node is not None and type(self._node) is not AccumulateGrad:
            return self  # whatever became of its history
        if not self.is_leaf:
            if requires_grad:
                return self
            raise errors.runtime_error(
                "you can only change requires_grad flags of leaf variables. If you want to "
                "use a computed variable in a subgraph that doesn't require differentiation "
                "use var_no_grad = var.detach().",
                "This tensor was computed by an operator: detach() gives one without history.",
            )
        if not requires_grad:
            _rest(self)
        elif self._node is None:
            if not _can_require_grad(self):
                raise errors.cannot_require_grad(self.dtype)
            if self._counter is INFERENCE and not is_inference_mode_enabled():
                raise errors.runtime_error(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                    "allowed.",
                    "clone() the tensor first.",
                )
            make_leaf(self)
            node: Any = self._node
            node.hooks = self.__dict__.pop("_resting_hooks", None)
            if node.hooks is not None:
                AccumulateGrad.hooked = True
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no operator that records made this tensor."""
        if self._view is not None:
            from tapegrad.autograd.view import edge_of

            edge_of(self, strict=True)
        node = self._node
        return node is None or type(node) is AccumulateGrad

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; None for a leaf."""
        if self.is_leaf:
            return None
        node = self._node
        return node.node if type(node) is Port else node

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @_grad_fn.setter
    def _grad_fn(self, value: None) -> None:
        if value is not None:
            raise errors.runtime_error("_grad_fn can be only set to None", "detach_() does that.")
        self.detach_()

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise errors.runtime_error(
            "Deletion of _grad_fn not allowed. Detach tensor instead!", "detach_() does that."
        )

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        return self._node.index if type(self._node) is Port else 0

    @property
    def grad(self) -> Any:
        """The gradient accumulated so far, a tensor or None."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            _warn_of_missing_grad(self)
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if IN_USE and STATE.get() != ALL_OFF:  # of `value` nobody is asked
            return undisturbed(setattr, self, "grad", value)
        if value is not None:
            _check_grad(self, value)
        else:
            _forget_grad(self)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        _forget_grad(self)
        self._grad = None

    @property
    def _version(self) -> int:
        """How often this tensor or a view of its memory was written in place."""
        if self._counter is INFERENCE:
            raise errors.runtime_error(
                "Inference tensors do not track version counter.",
                "clone() it outside inference mode: an ordinary tensor counts its writes.",
            )
        return 0 if self._counter is None else self._counter.value

    @property
    def _base(self) -> Any:
        """The tensor this is a view of, or None."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._counter is INFERENCE

    @property
    def _cdata(self) -> int:
        """A number that no other tensor has while this one exists."""
        return id(self)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from tapegrad.tensors.printing import tensor_repr

        return tensor_repr(self, tensor_contents)

    # --- its place in the graph -------------------------------------------------------------------

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves it was computed from.

        Args:
            gradient: the cotangent, of this tensor's shape; may be left out for a scalar.
            retain_graph: keep what the graph holds for another pass (default: `create_graph`).
            create_graph: make the gradients themselves differentiable.
            inputs: accumulate into these tensors only.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        _api.backward(self, gradient, retain_graph, create_graph, None, inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is no leaf.

        >>> x = torch.ones(1, requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> (y * 3).backward()
        >>> y.grad
        tensor([3.])
        """
        if not self.requires_grad:
            raise errors.runtime_error(
                "can't retain_grad on Tensor that has requires_grad=False",
                "Only tensors that a gradient reaches can keep it.",
            )
        if TRANSFORMS.get():
            raise errors.inside_transform("retain_grad")
        if not self.is_leaf:
            hooks_of(self.grad_fn).retained[self.output_nr] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `.grad` of this tensor, no leaf, is kept."""
        if self.is_leaf:
            return False
        hooks = self.grad_fn.hooks
        reference = hooks.retained.get(self.output_nr) if hooks is not None else None
        return reference is not None and reference() is self

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(grad)` with the gradient of this tensor; what it returns replaces it.

        >>> x = torch.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> x.sum().backward()
        >>> x.grad
        tensor([2., 2.])
        """
        self._check_takes_hooks()
        node = self._node.node if type(self._node) is Port else self._node
        return added(hooks_of(node).of_tensor(self.output_nr), hook)

    def _check_takes_hooks(self) -> None:
        if not self.requires_grad:
            raise errors.runtime_error(
                "cannot register a hook on a tensor that doesn't require gradient",
                "Set requires_grad first.",
            )

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call `hook(tensor)` after the `.grad` of this leaf has changed."""
        self._check_takes_hooks()
        if not self.is_leaf:
            raise errors.runtime_error(
                "post accumulate grad hooks cannot be registered on non-leaf tensors",
                "Use register_hook on a tensor that an operator made.",
            )
        return hooks_of(self._node).accumulated.add(hook)

    @property
    def _backward_hooks(self) -> dict | None:
        """The hooks on the gradient of this tensor by number; None if it never had one."""
        node = self._node.node if type(self._node) is Port else self._node
        hooks = self.__dict__.get("_resting_hooks") if node is None else node.hooks
        return None if hooks is None else hooks.tensor.get(self.output_nr)

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: dict | None) -> None:
        if hooks is not None and not isinstance(hooks, dict):
            raise errors.type_error(
                f"_backward_hooks is a dict of hooks, or None, not {type(hooks).__name__}",
                "register_hook() adds one.",
            )
        node = self._node.node if type(self._node) is Port else self._node
        if node is None:
            found = self.__dict__.setdefault("_resting_hooks", NodeHooks())
        else:
            found = hooks_of(node)
        if hooks is None:
            found.tensor.pop(self.output_nr, None)
        else:
            found.tensor[self.output_nr] = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise errors.runtime_error(
            "Deletion of _backwards_hooks not allowed!", "Assign None to have no hooks."
        )

    @property
    def _post_accumulate_grad_hooks(self) -> dict | None:
        """The hooks that run after `.grad` has changed; None where there is none."""
        node = self._node
        found = node.hooks.accumulated if type(node) is AccumulateGrad and node.hooks else None
        return found or None

    @property
    def data(self) -> Any:
        """The same memory without history and with a version counter of its own."""
        mode = MODE.get()
        result = wrap(self._array if type(mode) is bool else mode.alone(self._array))
        if self._counter is INFERENCE:
            result._counter = INFERENCE
        if REFUSING[0]:
            result._born = born_of(self)
        if type(mode) is not bool:
            mode.cut(self, result, ".data")
        return result

    @data.setter
    def data(self, value: Any) -> None:
        if IN_USE and STATE.get() != ALL_OFF:  # of `value` nobody is asked
            return undisturbed(setattr, self, "data", value)
        if not isinstance(value, TensorBase):
            raise errors.type_error(
                f"Variable data has to be a tensor, but got {type(value).__name__}",
                "Make a tensor of it: torch.tensor(...).",
            )
        if self._node is not None and not _can_require_grad(value):
            raise errors.runtime_error(
                "data set to a tensor that requires gradients must be floating point or "
                "complex dtype",
                f"Convert it first, for example with .to({self.dtype}).",
            )
        if TRANSFORMS.get() is not None:
            TRANSFORM_STACK().refuse_data(self, value)
        if value.layout is not self.layout or (
            type(value._array) is not type(self._array) and value.device is not self.device
        ):
            raise errors.runtime_error(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                "incompatible tensor type.",
                f"One is {self.layout} on {self.device}, the other {value.layout} on "
                f"{value.device}: make a new tensor.",
            )
        mode = MODE.get()
        if type(mode) is not bool:
            mode.move(self, value._array)
        old, self._array = self._array, value._array
        self._signature = None
        edge = edge_of(self)
        if type(edge) is AccumulateGrad:
            edge.array = value._array
            if old.dtype != value._array.dtype:  # what led to the leaf leads there no more
                self._node = AccumulateGrad(self)
                self._node.hooks = edge.hooks
        array, kind = value._array, type(old)
        if edge is not None and kind is ndarray and old is not array and is_shared(old):
            edge.watch(ReplacedVersion(self._counter, array, old, edge.output_version))

    @data.deleter
    def data(self) -> None:
        raise errors.runtime_error(
            "Deleting tensor data is not allowed. Delete tensor instead!",
            "del x lets the memory go, once nobody else holds it.",
        )

    def detach(self) -> Any:
        """The same memory without history; writes are seen by both and counted together.

        >>> x = torch.ones(2, requires_grad=True)
        >>> x.detach().requires_grad
        False
        """
        mode = MODE.get()
        if type(mode) is bool:
            result = wrap(self._array)
        else:
            result = wrap(mode.alone(self._array))
            mode.cut(self, result, "detach()")
        if REFUSING[0]:
            result._born = born_of(self)
        result._counter = self._counter if self._counter is INFERENCE else version_of(self)
        return result

    def detach_(self) -> Any:
        """Cut this tensor off from its history; returns it."""
        if REFUSING[0]:
            refuse_captured("detach_", self)
        if self._view is not None:
            raise errors.runtime_error(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
                "set as True, gradients are views of DDP buckets, and hence detach_() cannot "
                "be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
                "detach() gives a new tensor.",
            )
        mode = MODE.get()
        if type(mode) is not bool:
            mode.forget(self)
            mode.cut(self, self, "detach_()")
        edge = self._node
        if edge is not None:  # whoever saved the tensor finds its counter there
            version = version_of(self)
            if type(edge) is not AccumulateGrad:
                edge.watch(DetachedVersion(version))
        self._node = None
        return self


def _forget_grad(x: Any) -> None:
    mode = MODE.get()
    if type(mode) is not bool:
        mode.cleared([x], "an assignment to .grad")


def _can_require_grad(tensor: Any) -> bool:
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def _rest(leaf: Any) -> None:
    """Stop gradients at `leaf`; its hooks wait until it requires grad again."""
    node = leaf._node
    if node is not None and getrefcount(node) > 3:  # the leaf, `node`, the argument; and a graph
        version_of(leaf)  # which finds the counter at the node: writes are not free
    leaf._node = None
    if node is not None and node.hooks is not None:
        leaf.__dict__["_resting_hooks"] = node.hooks


def _check_grad(tensor: Any, value: Any) -> None:
    if not isinstance(value, TensorBase):
        raise errors.type_error(
            f"assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}",
            "Make a tensor of it: torch.tensor(...).",
        )
    if value is tensor:
        raise errors.runtime_error(
            "can't assign Variable as its own grad", "Assign a clone() of it."
        )
    if value.dtype is not tensor.dtype:
        from tapegrad.operators.linalg.matmul_check import c_name

        raise errors.runtime_error(
            f"attempting to assign a gradient with dtype '{c_name(value)}' to a tensor with "
            f"grad_dtype '{tensor.dtype.scalar_name}'. The gradient must match the tensor's "
            "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match.",
            f"Convert the gradient with .to({tensor.dtype}).",
        )
    if value.shape != tensor.shape:
        raise errors.runtime_error(
            "attempting to assign a gradient of size '"
            f"{list(value.shape)}' to a tensor of size '{list(tensor.shape)}'. Please ensure "
            "that the gradient and the tensor are the same size",
            "Sum or reshape the gradient first.",
        )


def _warn_of_missing_grad(tensor: Any) -> None:
    errors.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead. See github.com/pytorch/pytorch/pull/30531 for more information.\n"
        f"This tensor was made by {tensor.grad_fn.name()}: call retain_grad() on it before "
        "backward().",
        3,
    )


from tapegrad.autograd import backward_grad as _api  # noqa: E402  (these need the class above)
from tapegrad.tensors.methods import Methods  # noqa: E402
from tapegrad.tensors.methods.missing import declare_missing  # noqa: E402


class Tensor(Methods, TensorCore):
    """A multi-dimensional array that records what is computed from it.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__torch_function__ is not disabled:
            from tapegrad.tensors.overriding import guard

            guard(cls)
        if cls.__torch_dispatch__ is not torch_dispatch.disabled:
            torch_dispatch.CLASSES.append(cls)
            DISPATCH_CLASSES().declare(cls)

    __torch_dispatch__ = torch_dispatch.disabled

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """What a subclass does where one of its objects is an argument of `func`: compute.

        Tensors among the result become objects of the class; `types` other than it and its bases
        are not known: NotImplemented. Override it to do something else, and call
        `super().__torch_function__` for the rest.
        """
        from tapegrad.tensors.overriding import default

        return default(cls, func, types, args, kwargs or {})


COPIES: dict[Any, Any] = {}
"""Methods that are another object than the function that does the same, by that function."""


def _copy_of(function: Any) -> Any:
    """The same function as an object of its own, the same one for other names of a method."""
    if function not in COPIES:
        within = getattr(function, "__wrapped__", None)
        if function.__code__.co_argcount == 1 and inspect.isfunction(within):
            if function.__code__.co_filename == overridable.__file__:  # guards of `self` suffice
                COPIES[function] = _copy_of(within)
                return COPIES[function]
        copy = types.FunctionType(
            function.__code__.replace(co_qualname=f"Tensor.{function.__name__}"),
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        COPIES[function] = functools.update_wrapper(copy, function)
    return COPIES[function]


for _mixin in Methods.__mro__:
    for _name, _function in list(vars(_mixin).items()):
        if hasattr(_function, "method"):
            setattr(_mixin, _name, method_of(_function))
        elif inspect.isfunction(_function) and _function.__module__ != _mixin.__module__:
            setattr(_mixin, _name, _copy_of(_function))  # `torch.Tensor.t` is not `torch.t`
        elif inspect.isfunction(_function) and _function.__module__ == _mixin.__module__:
            _function.__qualname__ = f"Tensor.{_name}"  # what Python's errors call it

for _mixin in (*Methods.__mro__, TensorCore):
    for _name, _function in sorted(vars(_mixin).items()):
        if inspect.isfunction(_function) and not hasattr(Tensor, _function.__name__):
            _function.__name__ = {"__pow__": "pow", "__ipow__": "pow_"}.get(_name, _name)
            _function.__qualname__ = f"Tensor.{_name}"

Tensor.__module__ = "torch"
declare_missing(Tensor)


class KeptView(Tensor):
    """A view as a node keeps it, without its base."""

    __slots__ = ()
    __torch_function__ = disabled


KeptView.__module__ = "torch"
tensor_base.register(Tensor, KeptView)
