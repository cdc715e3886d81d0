"""Options of models whose parameters are spread over ranks."""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from tapegrad.nn.modules.batchnorm import _BatchNorm


class ShardingStrategy(Enum):
    """What is spread: parameters, gradients, states of the optimiser."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the parameters of the next layer are gathered in the backward pass."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """What a `state_dict` has: everything, or each rank its own."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """By what the states of an optimiser are found."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class MixedPrecision:
    """Dtypes of parameters, of reductions and of buffers."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Any = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether parameters wait on the CPU."""

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """How a `state_dict` is made."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Of everything, perhaps on rank 0 alone."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """Of each rank's own, flat."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """Of each rank's own."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """How the states of an optimiser are given."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """All of them, perhaps on rank 0 alone."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """Each rank its own, flat."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """Each rank its own."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """A kind of `state_dict` with its options."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes of `fully_shard`."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where `fully_shard` keeps parameters: where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """On the CPU."""

    pin_memory: bool = field(default=True)
