"""What `torch.compile` makes of a module."""

from tapegrad.core.annotations import Any
from tapegrad.nn.modules.module import Module

_OF_COMPILED = ("entries", "explain", "save", "source", "why_not")


class OptimizedModule(Module):
    """A module around another one, its child `_orig_mod`, of whose calls programs are made.

    Parameters are those of the child, by names that begin with `_orig_mod.`; other attributes are
    read from the child and set on it.
    """

    _orig_mod: Module

    def __init__(self, mod: Module, dynamo_ctx: Any = None):
        super().__init__()
        self.__dict__.pop("training")
        self._modules["_orig_mod"] = mod
        self.__dict__["dynamo_ctx"] = dynamo_ctx

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original module gives, its hooks included."""
        compiled = self.__dict__["dynamo_ctx"]
        return (self._orig_mod if compiled is None else compiled)(*args, **kwargs)

    @property
    def training(self) -> bool:
        """The mode of the original module."""
        return self._orig_mod.training

    @training.setter
    def training(self, value: bool) -> None:
        self._orig_mod.training = value

    def get_compiler_config(self) -> Any:
        """What the compiler was told."""
        return None

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        try:
            return getattr(self._orig_mod, name)
        except AttributeError:
            if name in _OF_COMPILED and self.__dict__["dynamo_ctx"] is not None:
                return getattr(self.__dict__["dynamo_ctx"], name)
            raise

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod":
            self._modules["_orig_mod"] = value
        elif name in self.__dict__ or name == "training":
            object.__setattr__(self, name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            delattr(self._orig_mod, name)

    def __len__(self) -> int:
        if hasattr(self._orig_mod, "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod)} does not support len()")

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> Any:
        return type(self), (self._orig_mod, self.dynamo_ctx)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
