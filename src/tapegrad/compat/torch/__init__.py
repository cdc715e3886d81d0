"""Modules of PyTorch's insides, under their names: `torch.x` is `tapegrad.compat.torch.x`.

What is here lets programs written for PyTorch resolve a name, and does what that name does. What a
reader of autograd looks for stands elsewhere: only what no module of tapegrad is called is here.
Modules that define nothing have no file, but a row in `compat/paths.py`.
"""

import sys

from tapegrad.compat.paths import Finder

sys.meta_path.append(Finder)
