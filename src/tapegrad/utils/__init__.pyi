# Written by `python -m tools.stubs`.

from . import benchmark as benchmark
from . import checkpoint as checkpoint
from . import data as data
from . import dlpack as dlpack
from . import hooks as hooks
from . import tensorboard as tensorboard
