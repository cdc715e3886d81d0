"""Parametrisations: a parameter that is computed from others whenever it is read."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn.modules.container import ModuleDict, ModuleList
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

_cache: dict[tuple[int, str], Tensor] = {}
_caching = 0


@contextmanager
def cached() -> Iterator[None]:
    """Within this context a parametrised tensor is computed once, when it is first read.

    >>> with torch.nn.utils.parametrize.cached():
    ...     pass
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, in the order of use, and what they begin with.

    That is `original`, or if the first parametrisation takes several, `original0`, `original1`, ...
    Called, it gives the tensor; `right_inverse(value)` sets what it begins with.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1))
    >>> steps = layer.parametrizations.weight
    >>> torch.equal(steps(), layer.weight)
    True
    """

    is_tensor: bool
    ntensors: int

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            start: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # it begins with the tensor itself
                        start = module.right_inverse(start)
        self.is_tensor = isinstance(start, Tensor)
        before = original.detach()
        if self.is_tensor:
            if start.dtype != before.dtype:
                raise _wrong(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {before.dtype}\nright_inverse(original).dtype: {start.dtype}"
                )
            original.data = start.detach()
            self._register("original", original)
        else:
            self.ntensors = len(
                _tensors(start, "return a Tensor or a Sequence of", " (list, tuple...)")
            )
            for i, part in enumerate(start):
                if isinstance(original, Parameter):
                    part = Parameter(part, requires_grad=original.requires_grad)
                self._register(f"original{i}", part)
        if not unsafe:
            try:
                names = "unparametrized {}", "parametrized {}"
                _check_fits(self(), before, *_RETURNED, *names)
            except ValueError:
                original.data = before
                raise

    def _register(self, name: str, tensor: Tensor) -> None:
        if isinstance(tensor, Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Change what this begins with so that the tensor becomes `value`."""
        with no_grad():
            start: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise runtime_error(
                        f"parametrization {type(module).__name__} does not implement "
                        "right_inverse.",
                        "Define it, so that forward(right_inverse(x)) is x where that can be.",
                    )
                start = module.right_inverse(start)
            for own, new in zip(self._originals(), self._checked(start), strict=True):
                own.copy_(new) if own.shape == new.shape else setattr(own, "data", new)

    def _checked(self, start: Any) -> Sequence[Any]:
        """What `right_inverse` gave for each of the tensors that this begins with."""
        returned = "The tensor returned by `right_inverse`"
        if self.is_tensor:
            if not isinstance(start, Tensor):
                raise _wrong(f"`right_inverse` should return a tensor. Got {type(start).__name__}")
            names, start = ["original"], [start]
        else:
            names = [f"original{i}" for i in range(self.ntensors)]
            if len(_tensors(start, "return a sequence of")) != len(names):
                raise _wrong(
                    f"'right_inverse' must return a sequence of tensors of length {len(names)}. "
                    f"Got a sequence of length {len(start)}."
                )
        for i, (name, new) in enumerate(zip(names, start, strict=True)):
            if new.dtype != (dtype := getattr(self, name).dtype):
                if not self.is_tensor:
                    returned = f"Tensor {i} returned by `right_inverse`"
                raise _wrong(f"{returned} has dtype {new.dtype} while `{name}` has dtype {dtype}")
        return start

    def forward(self) -> Tensor:
        first, *others = list(self)
        x = first(*self._originals())
        for module in others:
            x = module(x)
        return x


class Parametrized:
    """What a module is besides its class once one of its tensors is parametrised."""

    def __getattr__(self, name: str) -> Any:
        lists = self.__dict__["_modules"].get("parametrizations", ())
        if name not in lists:
            return super().__getattr__(name)  # type: ignore[misc]
        if not _caching:
            return lists[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = lists[name]()
        return _cache[key]

    def __setattr__(self, name: str, value: Any) -> None:
        lists = self.__dict__["_modules"].get("parametrizations", ())
        if name in lists:
            lists[name].right_inverse(value)
        else:
            super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __getstate__(self) -> Any:
        raise runtime_error(
            "Serialization of parametrized modules is only supported through state_dict(). "
            "See:\nhttps://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training",
            "Save module.state_dict().",
        )


def _wrong(text: str) -> ValueError:
    return value_error(text, "right_inverse gives what the first parametrization takes.")


def _tensors(start: Any, must: str, kinds: str = "") -> Sequence[Any]:
    """What several tensors begin with, which has to be a sequence of them."""
    wrong = None if isinstance(start, Sequence) else type(start).__name__
    for i, part in enumerate(() if wrong else start):
        if not isinstance(part, Tensor):
            wrong = f"element {i} of the sequence with type {type(part).__name__}."
            break
    if wrong:
        raise _wrong(f"'right_inverse' must {must} tensors{kinds}. Got {wrong}")
    return start


_RETURNED: tuple[str, str] = (
    "A parametrization must return a tensor. Got {}.",
    "Registering a parametrization may not change the {} of the tensor, unless `unsafe` flag is "
    "enabled.",
)


def _check_fits(y: Any, like: Tensor, no_tensor: str, rule: str, own: str, new: str) -> None:
    """Raise if `y` is no tensor of the dtype and shape of `like`; the texts say what for."""
    text = None if isinstance(y, Tensor) else no_tensor.format(type(y).__name__)
    for what in () if text else ("dtype", "shape"):
        wanted, given = getattr(like, what), getattr(y, what)
        if wanted != given:
            text = f"{rule}\n{own}: {wanted}\n{new}: {given}".format(*[what] * 3)
            break
    if text:
        raise value_error(text, "With unsafe=True it may.")


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Have `module`'s parameter or buffer of this name computed by `parametrization`.

    `parametrization.forward` gets the tensor and returns what is read in its place. If it has a
    method `right_inverse`, the tensor can be assigned to as well.

    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = torch.nn.Linear(2, 2)
    >>> layer = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> torch.equal(layer.weight, layer.weight.T)
    True
    """
    parametrization.train(module.training)
    owner: Any = module
    if is_parametrized(module, tensor_name):
        if not unsafe:
            value = getattr(module, tensor_name)
            no_tensor, rule = _RETURNED
            own = f"module.{tensor_name}"
            names = f"{own}.{{}}", f"parametrization({own}).{{}}"
            rule = rule.replace("unless `", "unless the `")
            made = parametrization(value)
            _check_fits(made, value, no_tensor, rule, *names)
            if hasattr(parametrization, "right_inverse"):
                with suppress(NotImplementedError):
                    _check_fits(
                        parametrization.right_inverse(made),
                        value,
                        "parametrization.right_inverse must return a tensor. Got: {}",
                        "The tensor returned by parametrization.right_inverse must have the same "
                        f"{{}} as {own}, unless the `unsafe` flag is enabled.",
                        names[0],
                        "returned {}",
                    )
        owner.parametrizations[tensor_name].append(parametrization)
        owner.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        steps = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            kind = type(module)
            owner.__class__ = type(f"Parametrized{kind.__name__}", (Parametrized, kind), {})
            owner.parametrizations = ModuleDict()
        owner.parametrizations[tensor_name] = steps
    else:
        raise value_error(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'",
            f"It has {', '.join([*module._parameters, *module._buffers]) or 'none'}.",
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether `module` has a parametrised tensor, or one of this name.

    >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(2, 1))
    False
    """
    lists = module._modules.get("parametrizations")
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make the tensor an ordinary one again: its present value, or what that was computed from.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1))
    >>> torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=1, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise value_error(
            f"Module {module} does not have a parametrization on {tensor_name}",
            "register_parametrization puts one there.",
        )
    owner: Any = module
    steps = owner.parametrizations[tensor_name]
    if not steps.is_tensor and not leave_parametrized:
        raise value_error(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors.",
            "Leave leave_parametrized away.",
        )
    with no_grad():
        value = steps().detach()
    if steps.is_tensor:
        tensor = steps.original
        if leave_parametrized:
            tensor.data = value
    else:
        like = steps.original0
        tensor = Parameter(value, like.requires_grad) if isinstance(like, Parameter) else value
    del owner.parametrizations[tensor_name]
    if not len(owner.parametrizations):
        del owner.parametrizations
        owner.__class__ = type_before_parametrizations(module)
    if isinstance(tensor, Parameter):
        module.register_parameter(tensor_name, tensor)
    else:
        module.register_buffer(tensor_name, tensor)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of `module` without its parametrisations.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1))
    >>> torch.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    'Linear'
    """
    return type(module).__mro__[2] if isinstance(module, Parametrized) else type(module)
