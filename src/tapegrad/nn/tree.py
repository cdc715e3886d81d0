"""The tree of a module: its parameters, buffers and submodules, walked and looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from tapegrad.core.annotations import ModuleLike
from tapegrad.core.errors import advised
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from tapegrad.nn.modules.module import Module


def _parameters_of(module: Any) -> Iterable[tuple[str, Any]]:
    return module._parameters.items()


def _buffers_of(module: Any) -> Iterable[tuple[str, Any]]:
    return module._buffers.items()


class Tree:
    """What a `Module` knows of the modules, parameters and buffers below it."""

    if TYPE_CHECKING:  # `Module` says it again, where the names can be looked up
        _parameters: dict[str, Parameter | None]
        _buffers: dict[str, Tensor | None]
        _modules: dict[str, Module | None]

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, unless `recurse=False`, of those below it.

        >>> [tuple(p.shape) for p in torch.nn.Linear(3, 2).parameters()]
        [(2, 3), (2,)]
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of dotted name and parameter; a shared parameter comes once, under its first name.

        >>> model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
        >>> [name for name, _ in model.named_parameters()]
        ['0.weight', '0.bias']
        """
        return self._named_members(_parameters_of, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, unless `recurse=False`, of those below it.

        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> list(m.buffers())
        [tensor([0., 0.])]
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Pairs of dotted name and buffer.

        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> list(m.named_buffers(prefix="layer"))
        [('layer.mean', tensor([0., 0.]))]
        """
        return self._named_members(_buffers_of, prefix, recurse, remove_duplicate)

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of dotted name and member, as `get_members_fn` gives them of each module."""
        seen = set()
        modules = (
            self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def children(self) -> Iterator[Module]:
        """The modules directly below this one.

        >>> list(torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU()).children())
        [Tanh(), ReLU()]
        """
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Pairs of name and module directly below this one.

        >>> list(torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU()).named_children())
        [('0', Tanh()), ('1', ReLU())]
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once.

        >>> [type(m).__name__ for m in torch.nn.Sequential(torch.nn.Tanh()).modules()]
        ['Sequential', 'Tanh']
        """
        for _, module in self.named_modules():
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of dotted name and module, this one first.

        >>> [name for name, _ in torch.nn.Sequential(torch.nn.Tanh()).named_modules()]
        ['', '0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def get_submodule(self, target: str) -> Any:
        """The module at the dotted path `target`.

        Raises: AttributeError if there is none.

        >>> torch.nn.Sequential(torch.nn.Tanh()).get_submodule("0")
        Tanh()
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise _lacks(module, name)
            module = getattr(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at the dotted path `target`; with `strict`, only where one is already.

        >>> model = torch.nn.Sequential(torch.nn.Tanh())
        >>> model.set_submodule("0", torch.nn.ReLU())
        >>> model[0]
        ReLU()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise _lacks(parent, name)
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Tree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at the dotted path `target`.

        Raises: AttributeError if there is none, or something else is there.

        >>> torch.nn.Sequential(torch.nn.Linear(2, 1)).get_parameter("0.weight").shape
        torch.Size([1, 2])
        """
        found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at the dotted path `target`.

        Raises: AttributeError if there is none, or something else is there.

        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> m.get_buffer("mean")
        tensor([0., 0.])
        """
        path, _, name = target.rpartition(".")
        found = self._get_member(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _get_member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise _lacks(module, name)
        return getattr(module, name)

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """Call `fn` on every module below this one, then on this one; returns this module.

        >>> def ones(m):
        ...     if isinstance(m, torch.nn.Linear):
        ...         torch.nn.init.ones_(m.weight)
        >>> torch.nn.Sequential(torch.nn.Linear(2, 1)).apply(ones)[0].weight.detach()
        tensor([[1., 1.]])
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self


def _lacks(module: ModuleLike, name: str) -> AttributeError:
    known = [*module._modules, *module._parameters, *module._buffers]
    return advised(
        AttributeError(f"{module._get_name()} has no attribute `{name}`"),
        f"It has {', '.join(known) or 'no modules, parameters or buffers'}.",
    )
