# Written by `python -m tools.stubs`.

from . import _pytree as _pytree
from . import benchmark as benchmark
from . import checkpoint as checkpoint
from . import data as data
from . import dlpack as dlpack
from . import flop_counter as flop_counter
from . import hooks as hooks
from . import module_tracker as module_tracker
from . import tensorboard as tensorboard
