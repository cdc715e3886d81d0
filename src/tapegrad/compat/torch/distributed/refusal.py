"""How modules for many ranks refuse, each thing by its name."""

from typing import Any, NoReturn

from tapegrad.core.errors import not_implemented


def refuse(name: str, advice: str) -> NoReturn:
    """Raise for something of `torch.distributed` that is known here by name alone."""
    raise not_implemented(f"tapegrad has no torch.distributed.{name}", advice)


def refusing(name: str, advice: str) -> Any:
    """A function that does so."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(name, advice)

    refused.__name__ = refused.__qualname__ = name.rpartition(".")[2]
    refused.__doc__ = f"Raises: {advice}"
    return refused
