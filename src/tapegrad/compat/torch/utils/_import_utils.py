"""Whether a module can be imported."""

from importlib.util import find_spec

from tapegrad.core.missing import refuses as _refuses


def _check_module_exists(name: str) -> bool:
    """Whether there is a module `name`, which is not imported.

    >>> from tapegrad.compat.torch.utils._import_utils import _check_module_exists
    >>> _check_module_exists("json"), _check_module_exists("no_such_module")
    (True, False)
    """
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def dill_available() -> bool:
    return _check_module_exists("dill")


__getattr__ = _refuses(__name__)
