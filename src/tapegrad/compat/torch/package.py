"""`torch.package` by name: tapegrad puts no source code of programs into files."""

from typing import Any

from tapegrad.compat.refusal import refusing as _refusing


def is_from_package(obj: Any) -> bool:
    """Whether a module or an object was read out of such a file: never.

    >>> torch.package.is_from_package(torch.nn.Linear(1, 1))
    False
    """
    return False


__getattr__ = _refusing(
    __name__,
    "torch.save(model.state_dict(), path) writes weights that PyTorch reads; source code is what "
    "Python's own packages are for.",
    functions="find_file_dependencies",
    classes=(
        "Directory EmptyMatchError GlobGroup Importer ObjMismatchError ObjNotFoundError "
        "OrderedImporter PackageExporter PackageImporter PackagingError"
    ),
)
