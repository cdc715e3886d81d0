"""Module: what every layer and every model is made from; and hooks on every module."""

from collections import OrderedDict
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar

from tapegrad.autograd import trace
from tapegrad.autograd.accumulate import zero_grads
from tapegrad.autograd.hooks import RemovableHandle
from tapegrad.autograd.mode import MODE
from tapegrad.core.annotations import Callable
from tapegrad.core.errors import not_implemented, runtime_error, value_error
from tapegrad.core.registration import FRONT_DOOR, NOTEBOOK
from tapegrad.nn.attribute import ADDED, Attributes
from tapegrad.nn.convert import Conversion
from tapegrad.nn.hook import AFTER, BACKWARD, BEFORE, Hooks, call_with_hooks, register
from tapegrad.nn.parameter import Parameter
from tapegrad.nn.state import EXTRA_STATE, IncompatibleKeys, State
from tapegrad.nn.tree import Tree
from tapegrad.tensors.tensor import Tensor

# as public code calls them
_EXTRA_STATE_KEY_SUFFIX = EXTRA_STATE
_IncompatibleKeys = IncompatibleKeys


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result", covariant=True)


class _Computes(Protocol[_Given, _Result]):
    """Something with a `forward`: calling it takes the same arguments."""

    def forward(self, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result: ...


class Module(Attributes, Tree, State, Conversion, Hooks):
    """Something with parameters that computes: the base class of all layers and models.

    A subclass calls `super().__init__()`, assigns its parts as attributes (a `Parameter` is
    registered as parameter, a `Module` as child, a `Buffer` as buffer) and defines `forward`.

    >>> class Scale(torch.nn.Module):
    ...     def __init__(self, factor):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(factor))
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale(3.0)(torch.ones(2))
    tensor([3., 3.], grad_fn=<MulBackward0>)
    """

    training: bool
    call_super_init: bool = False
    dump_patches: bool = False
    _version: int = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]  # modules, and None

    # of this class itself: super(Module, self).__setattr__ sets an attribute and registers nothing
    __setattr__ = Attributes._set_attribute
    __delattr__ = Attributes._delete_attribute

    def __init_subclass__(cls, **options: Any) -> None:
        # An operator is a built-in function in PyTorch, which does not become a method.
        super().__init_subclass__(**options)
        for name, value in list(vars(cls).items()):
            home = value.__module__ if type(value) is FunctionType else None
            if home is not None and home.startswith("tapegrad.operators."):
                setattr(cls, name, staticmethod(value))
        if "_call_impl" in cls.__dict__ and cls.__call__ is Module.__call__:
            cls.__call__ = _own_call  # type: ignore[method-assign, assignment]

    def __init__(self, *args: object, **kwargs: object) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise _takes_nothing(self, args, kwargs)
        # Through __dict__: __setattr__ below looks for these tables.
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_backward_pre_hooks"] = OrderedDict()
        attributes["_backward_hooks"] = OrderedDict()
        attributes["_is_full_backward_hook"] = None
        attributes["_forward_hooks"] = OrderedDict()
        attributes["_forward_hooks_with_kwargs"] = OrderedDict()
        attributes["_forward_hooks_always_called"] = OrderedDict()
        attributes["_forward_pre_hooks"] = OrderedDict()
        attributes["_forward_pre_hooks_with_kwargs"] = OrderedDict()
        attributes["_state_dict_hooks"] = OrderedDict()
        attributes["_state_dict_pre_hooks"] = OrderedDict()
        attributes["_load_state_dict_pre_hooks"] = OrderedDict()
        attributes["_load_state_dict_post_hooks"] = OrderedDict()
        attributes["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What a pickle of old lacks, it gets from a module without anything.
        self.__dict__.update({**Module().__dict__, **state})

    # ------------------------------------------------------------------------------- computing

    if TYPE_CHECKING:  # any forward fits, and a call is typed as the forward of its class is
        forward: Callable[..., Any]

        def __call__(
            self: _Computes[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
        ) -> _Result: ...
    elif True:  # jedi reads this branch too, unlike an `else`, and follows the call into `forward`

        def forward(self, *input: Any) -> Any:
            """What the module computes. Each subclass defines its own."""
            raise not_implemented(
                f'Module [{type(self).__name__}] is missing the required "forward" function',
                f"Define `def forward(self, ...)` in class {type(self).__name__}.",
            )

        def __call__(self, *args: object, **kwargs: object) -> Any:
            if (
                self._backward_hooks
                or self._backward_pre_hooks
                or self._forward_hooks
                or self._forward_pre_hooks
            ):
                return call_with_hooks(self, args, kwargs)
            return self.forward(*args, **kwargs)

    def _call_impl(self, *args: object, **kwargs: object) -> Any:
        return Module.__call__(self, *args, **kwargs)

    # ------------------------------------------------------------------------------------ modes

    def train(self, mode: bool = True) -> Self:
        """Set training mode on this module and all below it; returns this module.

        >>> torch.nn.Dropout().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise value_error(
                "training mode is expected to be boolean", f"Pass True or False, not {mode!r}."
            )
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: dropout and the like stand still. The same as `train(False)`.

        >>> torch.nn.Dropout().eval()(torch.ones(3))
        tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of every parameter; returns this module.

        >>> torch.nn.Linear(2, 1).requires_grad_(False).weight.requires_grad
        False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or with `set_to_none=False` fill it with zeros.

        >>> m = torch.nn.Linear(2, 1)
        >>> m(torch.ones(2)).backward()
        >>> m.zero_grad()
        >>> m.weight.grad is None
        True
        """
        zero_grads(self.parameters(), set_to_none)
        mode = MODE.get()
        if set_to_none and type(mode) is not bool:
            mode.cleared(list(self.parameters()), "zero_grad()")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have the forward of this module compiled, as `torch.compile` does a function.

        >>> torch.nn.Linear(2, 1).compile(disable=True)
        """
        compiled = FRONT_DOOR().compile(self.forward, *args, **kwargs)
        if compiled != self.forward:
            self.__dict__["forward"] = compiled

    # ----------------------------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """What to print of this module between the parentheses. Each layer defines its own."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def _repr_html_(self) -> str:
        """What a notebook shows: the layers, folded."""
        return NOTEBOOK().module_html(self)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indent(repr(m))}" for name, m in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        return block(self._get_name(), lines + children)


def block(name: str, lines: list[str]) -> str:
    """`name(...)` with each of `lines` on a line of its own, indented by two."""
    if not lines:
        return f"{name}()"
    return f"{name}(\n  " + "\n  ".join(lines) + "\n)"


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


def _takes_nothing(module: Module, args: tuple, kwargs: dict) -> TypeError:
    init = f"{type(module).__name__}.__init__()"
    if kwargs:
        return TypeError(f"{init} got an unexpected keyword argument '{next(iter(kwargs))}'")
    return TypeError(f"{init} takes 1 positional argument but {len(args) + 1} were given")


def _own_call(self: Module, *args: object, **kwargs: object) -> Any:
    """How a class is called that has a `_call_impl` of its own."""
    return self._call_impl(*args, **kwargs)


trace.LAYER_CALL = Module.__call__.__code__


def _watch_calls() -> None:
    Module.__call__ = _watched_call  # type: ignore
    trace.LAYER_CALL = _watched_call.__code__


def _watched_call(self: Tensor, *args: object, **kwargs: object) -> Any:
    if (
        BEFORE
        or AFTER._forward_hooks
        or BACKWARD.hooks
        or BACKWARD.pre
        or self._backward_hooks
        or self._backward_pre_hooks
        or self._forward_hooks
        or self._forward_pre_hooks
    ):
        return call_with_hooks(self, args, kwargs)
    return self.forward(*args, **kwargs)


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, args)` called before each forward of any module, before its own hooks.

    What it returns, if it is not None, are new arguments.

    >>> register = torch.nn.modules.module.register_module_forward_pre_hook
    >>> with register(lambda module, args: print(type(module).__name__)):
    ...     _ = torch.nn.Sequential(torch.nn.ReLU())(torch.ones(1))
    Sequential
    ReLU
    """
    _watch_calls()
    return register(BEFORE, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Have `hook(module, args, output)` called after each forward of any module.

    It runs before the module's own hooks and may return a new output. With `with_kwargs` it is
    `hook(module, args, kwargs, output)`; with `always_call` it is called even if the forward fails.

    >>> hooks = torch.nn.modules.module
    >>> with hooks.register_module_forward_hook(lambda module, args, output: print(output.shape)):
    ...     _ = torch.nn.Linear(3, 2)(torch.ones(4, 3))
    torch.Size([4, 2])
    """
    _watch_calls()
    marks = [AFTER._forward_hooks_with_kwargs] if with_kwargs else []
    marks += [AFTER._forward_hooks_always_called] if always_call else []
    return register(AFTER._forward_hooks, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_output)` called before gradients pass through any module.

    It may return new gradients of the outputs.

    >>> hooks = torch.nn.modules.module
    >>> x = torch.ones(2, requires_grad=True)
    >>> with hooks.register_module_full_backward_pre_hook(lambda module, go: (go[0] * 10,)):
    ...     torch.nn.ReLU()(x).sum().backward()
    >>> x.grad
    tensor([10., 10.])
    """
    _watch_calls()
    return register(BACKWARD.pre, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_input, grad_output)` called when gradients have passed a module.

    It may return new gradients of the inputs.

    Raises:
        RuntimeError: if a hook was registered with `register_module_backward_hook` before.

    >>> hooks = torch.nn.modules.module
    >>> x = torch.ones(2, requires_grad=True)
    >>> with hooks.register_module_full_backward_hook(lambda module, gi, go: print(gi, go)):
    ...     torch.nn.ReLU()(x).sum().backward()
    (tensor([1., 1.]),) (tensor([1., 1.]),)
    """
    _check_kind(full=True)
    _watch_calls()
    return register(BACKWARD.hooks, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_input, grad_output)` called by the node that made a module's output.

    `grad_input` is what that one node gives, whatever it is: prefer
    `register_module_full_backward_hook`.
    """
    _check_kind(full=False)
    _watch_calls()
    return register(BACKWARD.hooks, hook)


def _check_kind(full: bool) -> None:
    if BACKWARD.is_full is (not full):
        raise runtime_error(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them.",
            "Use register_module_full_backward_hook.",
        )
    BACKWARD.is_full = full


# --- what is registered ---------------------------------------------------------------------------


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, parameter)` called when any module gets a parameter.

    What it returns, if it is not None, takes the parameter's place.

    >>> register = torch.nn.modules.module.register_module_parameter_registration_hook
    >>> with register(lambda m, name, p: print(name, p.shape)):
    ...     _ = torch.nn.Linear(3, 2)
    weight torch.Size([2, 3])
    bias torch.Size([2])
    """
    return register(ADDED.parameters, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, buffer)` called when any module gets a buffer, or a new one.

    What it returns, if it is not None, takes the buffer's place.

    >>> hooks = torch.nn.modules.module
    >>> with hooks.register_module_buffer_registration_hook(lambda m, name, buffer: print(name)):
    ...     _ = torch.nn.BatchNorm1d(2)
    running_mean
    running_var
    num_batches_tracked
    """
    return register(ADDED.buffers, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, submodule)` called when any module gets a child.

    What it returns, if it is not None, takes the child's place.

    >>> register = torch.nn.modules.module.register_module_module_registration_hook
    >>> with register(lambda m, name, child: print(name, child)):
    ...     _ = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    0 ReLU()
    1 Tanh()
    """
    return register(ADDED.modules, hook)


_global_parameter_registration_hooks = ADDED.parameters
_global_buffer_registration_hooks = ADDED.buffers
_global_module_registration_hooks = ADDED.modules
