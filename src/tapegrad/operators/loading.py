"""All operators at once: most files of them are loaded when a name of theirs is first used."""

from importlib import import_module
from pkgutil import walk_packages


def load_operators() -> None:
    """Import every file of `tapegrad.operators`, so that the registry of operators is whole."""
    from tapegrad import operators

    for each in walk_packages(operators.__path__, "tapegrad.operators."):
        import_module(each.name)
