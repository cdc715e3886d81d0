"""The random number generator that is used where no other is named: its seed and its state."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapegrad.core import errors
from tapegrad.core.device import CPU, as_device
from tapegrad.core.generator import Generator, unpredictable

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed",
    "seed", "set_rng_state", "thread_safe_generator",
]  # fmt: skip

default_generator = Generator(CPU)
default_generator._stream.reseed(unpredictable())


def manual_seed(seed: Any) -> Generator:
    """Seed the generator that is used where no other is named; returns it.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator with a number that the operating system drew; returns it.

    >>> torch.seed() == torch.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The number the default generator was last seeded with.

    >>> _ = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator as a tensor of bytes.

    >>> torch.get_rng_state().dtype
    torch.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the default generator continue from a state that `get_rng_state` gave.

    >>> state = torch.get_rng_state()
    >>> first = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> bool((first == torch.rand(2)).all())
    True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: Any = None,
) -> Iterator[None]:
    """A block after which the default generator stands where it stood before.

    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(100)
    >>> torch.rand(1)
    tensor([0.4963])
    """
    if device_type is not None:
        as_device(device_type)
    if not enabled:
        yield
        return
    for device in devices or ():
        if isinstance(device, int) or as_device(device).type != "cpu":
            raise errors.assertion_error(
                "Torch not compiled with CUDA enabled",
                "Leave devices= away: the CPU's generator is always forked.",
            )
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


def thread_safe_generator() -> Generator | None:
    """The generator of a DataLoader worker that is a thread; None elsewhere.

    >>> torch.random.thread_safe_generator() is None
    True
    """
    return None
