"""Models whose parameters are spread over ranks.

fully_shard   `fully_shard`, which makes a module an `FSDPModule`
state         what happens around a module's forward and backward passes
param_group   the parameters of a module: gathered, let go, their gradients reduced
memory        memory that is given back while its addresses stay

`FullyShardedDataParallel`, its older form with flat parameters, is known by name and refused; the
options of both and the policies of `wrap` are real.
"""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.fsdp.api import *
from tapegrad.distributed.fsdp.fully_shard import (
    FSDPModule,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
)
from tapegrad.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel

__getattr__ = _refuses(__name__)
