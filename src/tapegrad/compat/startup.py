"""What `python -m tapegrad enable` copies beside an environment's packages, as `_tapegrad_torch`.

Python imports it at each start, by a `.pth` file: it imports nothing of tapegrad, and NumPy not at
all, until a program asks for `torch` or for a package that looks at its graphs.
"""

import sys

_ALWAYS = ("torch", "functorch")
_WHERE_NOT_INSTALLED = ("torchinfo", "torchsummary", "torchviz")


class _Starter:
    """Lets tapegrad serve the first import of one of `packages`."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        from tapegrad import compat

        compat.install()
        return compat.finder.find_spec(name, path, target)


def start():
    """Look at imports: of `torch` before Python does, of the others where nothing is installed."""
    sys.meta_path.insert(0, _Starter(_ALWAYS))
    sys.meta_path.append(_Starter(_WHERE_NOT_INSTALLED))
