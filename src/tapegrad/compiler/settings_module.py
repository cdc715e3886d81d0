"""Modules that are settings: `torch._dynamo.config`, `torch._inductor.config` and others.

There is no compiler for which they would be: they keep what programs set, and have no effect.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised


class SettingsModule(ModuleType):
    """A module whose attributes are settings, each of which must be known to be set."""

    _called: str
    _values: dict[str, Any]
    _aliases: dict[str, Any]
    _sections: set[str]

    def _place(self, name: str) -> tuple[dict, str]:
        """The dictionary that has a setting, and its name there."""
        name = self._aliases.get(name, name)
        if isinstance(name, tuple):
            return name[0]._place(name[1])
        if name not in self._values:
            raise advised(
                AttributeError(f"{self._called}.{name} does not exist", name=name, obj=self),
                f"dir({self._called}) lists the settings that PyTorch has.",
            )
        return self._values, name

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_sections"]:
            return Section(self, name)
        values, key = self._place(name)
        return values[key]

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:2] == "__":  # the import system's
            super().__setattr__(name, value)
        else:
            values, key = self._place(name)
            values[key] = value

    def __dir__(self) -> list[str]:
        names = {name for name in self._values if "." not in name}
        return sorted(names | self._sections | set(self._aliases) | {"patch", "get_config_copy"})

    def patch(self, arg1: Any = None, arg2: Any = None, **changes: Any) -> Patch:
        """A block, or a decorator, in which settings are changed: a name and a value, or several.

        >>> with torch._dynamo.config.patch(verbose=True):
        ...     torch._dynamo.config.verbose
        True
        """
        if isinstance(arg1, str):
            changes[arg1] = arg2
        elif arg1 is not None:
            changes.update(arg1)
        for name in changes:
            self._place(name)
        return Patch(self, changes)

    def get_config_copy(self) -> dict[str, Any]:
        """All settings by name."""
        return dict(self._values)

    shallow_copy_dict = get_config_copy

    def load_config(self, maybe_pickled_config: dict[str, Any]) -> None:
        """Set what a dictionary, of `get_config_copy`, says."""
        for name, value in maybe_pickled_config.items():
            setattr(self, name, value)


class Section:
    """Several settings of a module under a name: `config.triton`."""

    def __init__(self, module: SettingsModule, name: str):
        self.__dict__["_module"], self.__dict__["_name"] = module, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, f"{self._name}.{name}", value)


class Patch:
    """Settings changed for a block or a function."""

    def __init__(self, module: SettingsModule, changes: dict[str, Any]):
        self._module, self.changes = module, changes
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self._before.append({name: getattr(self._module, name) for name in self.changes})
        self._module.load_config(self.changes)

    def __exit__(self, *error: object) -> None:
        self._module.load_config(self._before.pop())

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def patched(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return patched


def settings(module: str, called: str, values: dict, aliases: dict | None = None) -> None:
    """Let a module be settings.

    Args:
        module: its name
        called: what it is called in errors
        values: the settings with what they are at first; one in a section is `section.name`
        aliases: settings that stand for others; for one of another module, both
    """
    found = sys.modules[module]
    sections = {key.rpartition(".")[0] for key in values} - {""}
    found.__dict__.update(
        _called=called, _values=dict(values), _aliases=aliases or {}, _sections=sections
    )
    found.__class__ = SettingsModule


def table(off: str = "", on: str = "", none: str = "", **others: Any) -> dict[str, Any]:
    """Settings that are False, True, None at first, and others with what they are."""
    found: dict[str, Any] = dict.fromkeys(off.split(), False)
    return found | dict.fromkeys(on.split(), True) | dict.fromkeys(none.split()) | others
