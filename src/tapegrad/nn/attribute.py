"""The attributes of a module: what is assigned to one is registered by its kind."""

from collections import OrderedDict

from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.core.changes import CHANGES
from tapegrad.core.errors import advised, type_error, value_error
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.tensors.tensor import Tensor


class _Added:
    """The hooks of all modules on what becomes part of one: nn/modules/module.py."""

    def __init__(self) -> None:
        self.parameters: Any = OrderedDict()
        self.buffers: Any = OrderedDict()
        self.modules: Any = OrderedDict()


ADDED = _Added()


def _told(hooks: dict, module: ModuleLike, name: str, value: Any) -> Any:
    """What hooks make of a parameter, buffer or module that becomes part of a module."""
    for hook in list(hooks.values()):
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


class Attributes:
    """What a `Module` does with a parameter, buffer or module that becomes its attribute."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

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
            raise type_error(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)",
                "Wrap the tensor in torch.nn.Parameter(...).",
            )
        if param is not None and param.grad_fn is not None:
            raise value_error(
                f"Cannot assign non-leaf Tensor to parameter '{name}'.",
                "A parameter is a leaf of the graph: compute the value in forward(), or call "
                "detach() on it.",
            )
        if param is not None and ADDED.parameters:
            param = _told(ADDED.parameters, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` part of this module's state, though not one of its parameters.

        A buffer moves with the module and, if `persistent`, is part of its `state_dict`.

        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> dict(m.state_dict())
        {'mean': tensor([0., 0.])}
        """
        if "_buffers" not in self.__dict__:
            raise _too_early("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise type_error(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)",
                "Make a tensor of it with torch.as_tensor(...).",
            )
        if ADDED.buffers:
            tensor = _told(ADDED.buffers, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: ModuleLike) -> None:
        """Make `module` a child of this one; the same as `add_module`.

        >>> m = torch.nn.Module()
        >>> m.register_module("act", torch.nn.ReLU())
        >>> m.act
        ReLU()
        """
        self.add_module(name, module)

    def add_module(self, name: str, module: ModuleLike) -> None:
        """Make `module` a child of this one, found as attribute `name`.

        >>> m = torch.nn.Module()
        >>> m.add_module("act", torch.nn.ReLU())
        >>> m.act
        ReLU()
        """
        if module is not None and not isinstance(module, Attributes):
            raise type_error(f"{_typename(module)} is not a Module subclass", _instead_of(module))
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {_typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        if ADDED.modules:
            module = _told(ADDED.modules, self, name, module)
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

    def _set_attribute(self, name: str, value: Any) -> None:
        CHANGES[0] += 1
        attributes = self.__dict__
        if isinstance(value, Parameter):
            if "_modules" not in attributes:
                raise _too_early("parameters")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Attributes):
            if "_modules" not in attributes:
                raise _too_early("module")
            if name in attributes["_parameters"]:
                raise _misfit(value, "as parameter", name, "Parameter")
            self._forget(name, "_modules")
            if ADDED.modules:
                value = _told(ADDED.modules, self, name, value)
            attributes["_modules"][name] = value
        elif isinstance(value, Buffer):
            if "_modules" not in attributes:
                raise _too_early("buffer")
            if name in attributes["_parameters"]:
                raise _misfit(value, "as parameter", name, "Parameter")
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)  # type: ignore[arg-type]
        elif "_modules" not in attributes:
            super().__setattr__(name, value)
        elif name in attributes["_parameters"]:
            if value is not None:
                raise _misfit(value, "as parameter", name, "Parameter")
            attributes["_parameters"][name] = None
        elif name in attributes["_modules"]:
            if value is not None:
                raise _misfit(value, "as child module", name, "Module")
            if ADDED.modules:
                value = _told(ADDED.modules, self, name, value)
            attributes["_modules"][name] = value
        elif name in attributes["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise _misfit(value, "as buffer", name, "Buffer, torch.Tensor")
            if ADDED.buffers:
                value = _told(ADDED.buffers, self, name, value)
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

    def _delete_attribute(self, name: str) -> None:
        CHANGES[0] += 1
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


def _typename(value: Any) -> str:
    """The name of a value's type, or of the value where it is a class, as error messages say it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = value if isinstance(value, type) else type(value)
    if kind.__module__ in ("builtins", "__builtin__", None):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def _instead_of(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, Attributes):
        return f"This is the class itself: write {value.__name__}(...) to make a layer of it."
    return "Pass a torch.nn.Module."


def _misfit(value: Any, how: str, name: str, wanted: str) -> TypeError:
    return type_error(
        f"cannot assign '{_typename(value)}' {how} '{name}' (torch.nn.{wanted} or None expected)",
        f"To make '{name}' an ordinary attribute, delete it first: del module.{name}",
    )


def _too_early(what: str) -> AttributeError:
    return advised(
        AttributeError(f"cannot assign {what} before Module.__init__() call"),
        "Call super().__init__() first in your __init__.",
    )
