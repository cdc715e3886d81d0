"""`import torch` served by tapegrad: `torch.x.y` is the very module `tapegrad.x.y`.

    from tapegrad import compat

    compat.install()
    import torch                    # tapegrad
    from torch import nn            # tapegrad.nn

Classes are therefore the same under either name, and code that mixes both works. Modules that
PyTorch has for its own insides and that programs import all the same, such as `torch._C`, are in
the folder `torch` here: `torch.x` is then `tapegrad.compat.torch.x`. Those that define nothing are
rows of tables in `paths.py`.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

import tapegrad
from tapegrad import version
from tapegrad.compat import class_paths
from tapegrad.core.missing import missing_module
from tapegrad.torch_version import TorchVersion

#: package that is asked for -> the module that is given
_SERVED = {
    "functorch": "tapegrad.func.functorch",
    "torch": "tapegrad",
    "torchinfo": "tapegrad.inspect.torchinfo",
    "torchsummary": "tapegrad.inspect.torchsummary",
    "torchviz": "tapegrad.inspect.torchviz",
}
_PYTORCH = frozenset(["functorch", "torch"])


_INSIDES = "tapegrad.compat.torch"
"""The package of the modules that only programs written for PyTorch ask for."""

_OURS_ALONE = frozenset("arrays core dispatch lazy_names operators tensors".split())
"""Packages of tapegrad that PyTorch has not, and which nobody looks for there."""


def install() -> None:
    """Let `import torch` and all below it be served by tapegrad.

    So are `torchinfo`, `torchsummary` and `torchviz`, which look at models and graphs, where they
    are not installed.

    `torch.__version__` becomes the version of PyTorch whose behaviour tapegrad has, with tapegrad's
    own version after the plus sign. A second call changes nothing.

    Raises:
        ImportError: PyTorch itself is already imported.

    >>> from tapegrad import compat
    >>> compat.install()
    >>> from torch import nn
    >>> nn is tapegrad.nn
    True
    >>> import torch
    >>> torch.__version__
    '2.13.0+tapegrad.0.2.0'
    >>> compat.uninstall()
    """
    loaded = sys.modules.get("torch")
    if loaded is not None and loaded is not tapegrad:
        raise ImportError(
            "tapegrad cannot serve 'torch': PyTorch itself is already imported "
            f"({getattr(loaded, '__file__', 'from an unknown place')})\n"
            "Call tapegrad.compat.install() before anything imports torch, or start the script "
            "with python -m tapegrad run.",
            name="torch",
        )
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
        sys.meta_path.append(_last_finder)
        class_paths.follow()
        served = TorchVersion(f"{version.pytorch}+tapegrad.{version.tapegrad}")
        tapegrad.__version__ = version.__version__ = served


def uninstall() -> None:
    """Undo `install`: the next `import torch` looks for PyTorch again."""
    if finder not in sys.meta_path:
        return
    sys.meta_path.remove(finder)
    sys.meta_path.remove(_last_finder)
    class_paths.unfollow()
    tapegrad.__version__ = version.__version__ = version.tapegrad
    for name in [name for name in sys.modules if name.partition(".")[0] in _SERVED]:
        if name.partition(".")[0] in _PYTORCH or _is_ours(sys.modules[name]):
            del sys.modules[name]


def _is_ours(module):
    return module.__name__.startswith("tapegrad.")


class _Finder:
    """Finds `torch.x.y` where tapegrad has `tapegrad.x.y`."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        try:
            module = module_for(name)
        except ModuleNotFoundError:
            if _is_import(sys._getframe(1)):
                raise
            return None  # `importlib.util.find_spec` asks whether there is such a module
        # Named by `class_paths` meanwhile: Python would run the module again, by its own spec.
        sys.modules.pop(name, None)
        return ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))


def _is_import(frame):
    """Whether a module is looked for to be imported, not to know whether it is there."""
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_name == "_find_and_load":
            return True
        frame = frame.f_back
    return False


class _Loader:
    """Hands out a module that is already there, and leaves it as it was."""

    def __init__(self, module):
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        # The import system has put the spec of the name `torch...` there.
        served, ours = module.__spec__.name, self._spec.name
        module.__spec__ = self._spec
        if not ours.startswith(_INSIDES):
            return
        for name, value in vars(module).items():
            # A function hides the module of its name: Python would put that, newly imported as
            # `torch...`, in its place.
            hidden = sys.modules.get(f"{ours}.{name}", value)
            if hidden is not value:
                sys.modules[f"{served}.{name}"] = hidden

    def get_code(self, name):
        # Of `python -m torch.x`, which runs the module once more, as `__main__`.
        return self._spec.loader.get_code(self._spec.name)


def module_for(name):
    """The module of tapegrad that `import name` gives."""
    root, dot, rest = name.partition(".")
    if root == "torch" and rest.partition(".")[0] in _OURS_ALONE:
        raise missing_module(name)
    homes = [_SERVED[root], _INSIDES] if root == "torch" and dot else [_SERVED[root]]
    for home in homes:
        module = _module_at(f"{home}{dot}{rest}")
        if module is not None:
            return module
    raise missing_module(name)


def _module_at(ours):
    """The module called `ours`, or None if there is none."""
    parent, _, last = ours.rpartition(".")
    try:
        # `torch.dtype` is a class, though tapegrad keeps it in a module of that name.
        known = vars(import_module(parent)).get(last, sys) if parent else sys
        # `gradcheck` and those of `_higher_order_ops`, as in PyTorch, are functions and modules.
        both = callable(sys.modules.get(ours)) or ours.startswith(_INSIDES)
        if not isinstance(known, ModuleType) and not both:
            return None
        return import_module(ours)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{ours}.".startswith(f"{error.name}."):
            raise
    return None


finder = _Finder(_PYTORCH)
"""Asked before any other finder."""

_last_finder = _Finder(_SERVED.keys() - _PYTORCH)
"""Asked where no other finder has found anything."""
