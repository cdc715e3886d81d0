"""`torch.cuda` as it is on a machine without a GPU: questions have answers, work is refused."""

from typing import NoReturn

from tapegrad.core.device import require_cpu
from tapegrad.core.missing import missing

default_generators = ()
has_half = True
has_magma = False


class OutOfMemoryError(RuntimeError):
    """The device has too little memory; never raised without a GPU, yet scripts catch it."""


def _refuse() -> NoReturn:
    require_cpu("cuda")
    raise AssertionError("a GPU was found, and this module is for machines without one")


def is_available() -> bool:
    """Whether tensors can be on a GPU.

    >>> torch.cuda.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16."""
    return False


def device_count() -> int:
    """The number of GPUs.

    >>> torch.cuda.device_count()
    0
    """
    return 0


# --- nothing to do, nothing in use -----------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Seed the current GPU's generator: there is none, so nothing happens."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs: there are none, so nothing happens."""


def seed() -> None:
    """Seed the current GPU's generator with a random number: nothing happens."""


def seed_all() -> None:
    """Seed the generators of all GPUs with a random number: nothing happens."""


def get_rng_state_all() -> list:
    """The state of each GPU's generator: of none."""
    return []


def set_rng_state_all(new_states) -> None:
    """Set the state of each GPU's generator; only what `get_rng_state_all` gave fits."""
    if len(new_states):
        _refuse()


def empty_cache() -> None:
    """Give unused GPU memory back: none is held, so nothing happens."""


def memory_allocated(device=None) -> int:
    """Bytes of GPU memory that tensors hold."""
    return 0


def max_memory_allocated(device=None) -> int:
    """The most bytes of GPU memory that tensors ever held."""
    return 0


def memory_reserved(device=None) -> int:
    """Bytes of GPU memory held for tensors."""
    return 0


def max_memory_reserved(device=None) -> int:
    """The most bytes of GPU memory ever held for tensors."""
    return 0


def memory_stats(device=None) -> dict:
    """Counts of the GPU's allocator: it has none."""
    return {}


def get_arch_list() -> list:
    """The GPU architectures this build has code for."""
    return []


# --- needs a GPU -----------------------------------------------------------------------------


def init() -> NoReturn:
    """Start the GPU: an error, there is none."""
    _refuse()


def synchronize(device=None) -> NoReturn:
    """Wait for the GPU: an error, there is none."""
    _refuse()


def current_device() -> NoReturn:
    """The index of the current GPU: an error, there is none."""
    _refuse()


def set_device(device) -> NoReturn:
    """Choose the current GPU: an error, there is none."""
    _refuse()


def get_device_name(device=None) -> NoReturn:
    """The name of a GPU: an error, there is none."""
    _refuse()


def get_device_properties(device=None) -> NoReturn:
    """Name, memory and more of a GPU: an error, there is none."""
    _refuse()


def get_device_capability(device=None) -> NoReturn:
    """The compute capability of a GPU: an error, there is none."""
    _refuse()


def current_stream(device=None) -> NoReturn:
    """The queue of work of a GPU: an error, there is none."""
    _refuse()


def mem_get_info(device=None) -> NoReturn:
    """Free and total memory of a GPU: an error, there is none."""
    _refuse()


def reset_peak_memory_stats(device=None) -> NoReturn:
    """Forget a GPU's highest memory use: an error, there is none."""
    _refuse()


def initial_seed() -> NoReturn:
    """The seed of the current GPU's generator: an error, there is none."""
    _refuse()


def get_rng_state(device="cuda") -> NoReturn:
    """The state of a GPU's generator: an error, there is none."""
    _refuse()


# --- names -----------------------------------------------------------------------------------


def __getattr__(name: str):
    """`amp`, and `FloatTensor` and the like: constructors that refuse."""
    if name == "amp":
        from importlib import import_module

        return import_module("tapegrad.cuda.amp")
    if name.endswith("Tensor"):
        from tapegrad.operators.creation.legacy_constructor import TYPES, cuda_type

        if name in TYPES:
            return cuda_type(name)
    raise missing(__name__, name)
