"""`torch.package` by name: tapegrad puts no source code of programs into files."""

from tapegrad.compat.refusal import refusing as _refusing

__getattr__ = _refusing(
    __name__,
    "torch.save(model.state_dict(), path) writes weights that PyTorch reads; source code is what "
    "Python's own packages are for.",
    functions="find_file_dependencies is_from_package",
    classes=(
        "Directory EmptyMatchError GlobGroup Importer ObjMismatchError ObjNotFoundError "
        "OrderedImporter PackageExporter PackageImporter PackagingError"
    ),
)
