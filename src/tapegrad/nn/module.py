"""Module: what every layer and every model is made from."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

from tapegrad.errors import advised
from tapegrad.nn.convert import Conversion
from tapegrad.nn.hook import Hooks, call_with_hooks
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.nn.state import State
from tapegrad.nn.tree import Tree
from tapegrad.tensor import Tensor


class Module(Tree, State, Conversion, Hooks):
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
    _version: int = 1
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
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

    # ------------------------------------------------------------------------------- computing

    def forward(self, *input: Any) -> Any:
        """What the module computes. Each subclass defines its own."""
        raise advised(
            NotImplementedError(
                f'Module [{type(self).__name__}] is missing the required "forward" function'
            ),
            f"Define `def forward(self, ...)` in class {type(self).__name__}.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._backward_hooks
            or self._backward_pre_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
        ):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ------------------------------------------------------------------------------ registering

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` a parameter of this module, found as attribute `name`.

        >>> m = torch.nn.Module()
        >>> m.register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
        >>> m.scale.requires_grad
        True
        """
        if "_parameters" not in self.__dict__:
            raise _too_early("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise advised(
                TypeError(
                    f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                ),
                "Wrap the tensor in torch.nn.Parameter(...).",
            )
        if param is not None and param.grad_fn is not None:
            raise advised(
                ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'."),
                "A parameter is a leaf of the graph: compute the value in forward(), or call "
                "detach() on it.",
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` part of this module's state, though not one of its parameters.

        A buffer moves with the module and, if `persistent`, is part of its `state_dict`.

        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> m.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
        """
        if "_buffers" not in self.__dict__:
            raise _too_early("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise advised(
                TypeError(
                    f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                    "(torch Tensor or None required)"
                ),
                "Make a tensor of it with torch.as_tensor(...).",
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Make `module` a child of this one; the same as `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make `module` a child of this one, found as attribute `name`.

        >>> m = torch.nn.Module()
        >>> m.add_module("act", torch.nn.ReLU())
        >>> m.act
        ReLU()
        """
        if module is not None and not isinstance(module, Module):
            raise advised(
                TypeError(f"{_typename(module)} is not a Module subclass"), _instead_of(module)
            )
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {_typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = module

    def _check_name(self, kind: str, name: Any, table: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    # ------------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        # Reached only for what is not in __dict__: parameters, buffers, children.
        attributes = self.__dict__
        if "_modules" in attributes:
            table = attributes["_parameters"]
            if name in table:
                return table[name]
            table = attributes["_modules"]
            if name in table:
                return table[name]
            table = attributes["_buffers"]
            if name in table:
                return table[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, Parameter):
            if "_modules" not in attributes:
                raise _too_early("parameters")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in attributes:
                raise _too_early("module")
            if name in attributes["_parameters"]:
                raise _misfit(value, "as parameter", name, "Parameter")
            self._forget(name, "_modules")
            attributes["_modules"][name] = value
        elif isinstance(value, Buffer):
            if "_modules" not in attributes:
                raise _too_early("buffer")
            if name in attributes["_parameters"]:
                raise _misfit(value, "as parameter", name, "Parameter")
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif "_modules" not in attributes:
            super().__setattr__(name, value)
        elif name in attributes["_parameters"]:
            if value is not None:
                raise _misfit(value, "as parameter", name, "Parameter")
            attributes["_parameters"][name] = None
        elif name in attributes["_modules"]:
            if value is not None:
                raise _misfit(value, "as child module", name, "Module")
            attributes["_modules"][name] = None
        elif name in attributes["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise _misfit(value, "as buffer", name, "Buffer, torch.Tensor")
            attributes["_buffers"][name] = value
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, kept: str) -> None:
        """Drop the attribute `name` from every table but `kept`, so that it can move there."""
        attributes = self.__dict__
        attributes.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != kept:
                attributes[table].pop(name, None)
        if kept != "_buffers":
            attributes["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        attributes = self.__dict__
        if name in attributes["_parameters"]:
            del attributes["_parameters"][name]
        elif name in attributes["_buffers"]:
            del attributes["_buffers"][name]
            attributes["_non_persistent_buffers_set"].discard(name)
        elif name in attributes["_modules"]:
            del attributes["_modules"][name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    # ------------------------------------------------------------------------------------ modes

    def train(self, mode: bool = True) -> Self:
        """Set training mode on this module and all below it; returns this module.

        >>> torch.nn.Dropout().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise advised(
                ValueError("training mode is expected to be boolean"),
                f"Pass True or False, not {mode!r}.",
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
        for parameter in self.parameters():
            grad = parameter._grad
            if grad is None:
                continue
            if set_to_none:
                parameter._grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    # ----------------------------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """What to print of this module between the parentheses. Each layer defines its own."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

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


def _typename(value: Any) -> str:
    """The name of a value's type, or of the value where it is a class, as error messages say it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = value if isinstance(value, type) else type(value)
    if kind.__module__ in ("builtins", "__builtin__", None):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def _instead_of(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, Module):
        return f"This is the class itself: write {value.__name__}(...) to make a layer of it."
    return "Pass a torch.nn.Module."


def _takes_nothing(module: Module, args: tuple, kwargs: dict) -> TypeError:
    init = f"{type(module).__name__}.__init__()"
    if kwargs:
        return TypeError(f"{init} got an unexpected keyword argument '{next(iter(kwargs))}'")
    return TypeError(f"{init} takes 1 positional argument but {len(args) + 1} were given")


def _misfit(value: Any, how: str, name: str, wanted: str) -> TypeError:
    return advised(
        TypeError(
            f"cannot assign '{_typename(value)}' {how} '{name}' "
            f"(torch.nn.{wanted} or None expected)"
        ),
        f"To make '{name}' an ordinary attribute, delete it first: del module.{name}",
    )


def _too_early(what: str) -> AttributeError:
    return advised(
        AttributeError(f"cannot assign {what} before Module.__init__() call"),
        "Call super().__init__() first in your __init__.",
    )
