"""Random number generators: one for everybody, and as many of one's own as wanted.

A seed gives PyTorch's numbers, and states can be carried over from and to PyTorch.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad.device import CPU, as_device
from tapegrad.streams.twister import STATE_BYTES, Twister

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]

_FIRST_SEED = 67280421310721  # of a generator that was not seeded


class Generator:
    """A stream of random numbers of its own, for the argument `generator=`.

    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    __slots__ = ("__weakref__", "_device", "_stream")

    def __init__(self, device: Any = "cpu") -> None:
        self._device = as_device(device)
        kind = self._device.type
        if kind != "cpu":
            reason = f"{kind.upper()} device type not an accelerator."
            if kind == "cuda":
                reason = "Cannot get CUDA generator without ATen_cuda library."
            raise errors.advised(
                RuntimeError(reason), "Random numbers are drawn on the CPU: leave the device away."
            )
        self._stream = Twister(_FIRST_SEED)

    @property
    def device(self) -> Any:
        """Where the numbers are drawn: the CPU."""
        return self._device

    def manual_seed(self, seed: int, /) -> Generator:
        """Start again from `seed`; returns the generator.

        >>> torch.Generator().manual_seed(3).initial_seed()
        3
        """
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise errors.advised(
                RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}"),
                "A seed is an int from -2**63 to 2**64 - 1.",
            )
        number = operator.index(seed)
        if not -(2**63) <= number < 2**64:
            raise errors.advised(
                ValueError("Overflow when unpacking long long"),
                "A seed is an int from -2**63 to 2**64 - 1.",
            )
        self._stream.reseed(number)
        return self

    def seed(self) -> int:
        """Start again from a number that the operating system drew; returns it.

        >>> g = torch.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        self._stream.reseed(_unpredictable())
        return self._stream.seed

    def initial_seed(self) -> int:
        """The number the generator was last seeded with.

        >>> torch.Generator().initial_seed()
        67280421310721
        """
        return self._stream.seed

    def get_state(self) -> Any:
        """The state as a tensor of bytes, which `set_state` takes; PyTorch's, byte by byte.

        >>> torch.Generator().get_state().shape
        torch.Size([5056])
        """
        from tapegrad.tensor import wrap

        return wrap(self._stream.pack())

    def set_state(self, new_state: Any, /) -> None:
        """Continue from a state that `get_state` gave.

        >>> g = torch.Generator()
        >>> state = g.get_state()
        >>> first = torch.rand(2, generator=g)
        >>> g.set_state(state)
        >>> bool((first == torch.rand(2, generator=g)).all())
        True
        """
        self._stream.unpack(_state_array(new_state))

    def clone_state(self) -> Generator:
        """A generator of its own that stands where this one stands.

        >>> g = torch.Generator().manual_seed(1)
        >>> torch.rand(1, generator=g.clone_state()) == torch.rand(1, generator=g)
        tensor([True])
        """
        clone = Generator(self._device)
        clone._stream.unpack(self._stream.pack())
        return clone

    def get_offset(self) -> int:
        """Of no meaning on the CPU: raises."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int, /) -> None:
        """Of no meaning on the CPU: raises."""
        raise RuntimeError("CPU Generator does not use offset")

    def graphsafe_get_state(self) -> Generator:
        """Of no meaning on the CPU: raises."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator, /) -> None:
        """Of no meaning on the CPU: raises."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def __reduce__(self) -> tuple:
        return Generator, (self._device,), self._stream.pack().tobytes()

    def __setstate__(self, state: bytes) -> None:
        self._stream.unpack(np.frombuffer(state, np.uint8))


def _unpredictable() -> int:
    from os import urandom

    return int.from_bytes(urandom(8), "little")


def _state_array(state: Any) -> np.ndarray:
    array = getattr(state, "_array", None)
    if array is None:
        raise errors.advised(
            TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}"),
            "Pass what get_state() or get_rng_state() returned.",
        )
    if array.dtype != np.uint8:
        raise errors.advised(
            TypeError("RNG state must be a torch.ByteTensor"),
            "Pass what get_state() or get_rng_state() returned.",
        )
    if array.size != STATE_BYTES:
        raise errors.advised(
            RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG "
                f"state size to be {array.size}"
            ),
            "Pass what get_state() or get_rng_state() returned.",
        )
    return array.reshape(-1)


default_generator = Generator(CPU)
default_generator._stream.reseed(_unpredictable())


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
            raise errors.advised(
                AssertionError("Torch not compiled with CUDA enabled"),
                "Leave devices= away: the CPU's generator is always forked.",
            )
    state = default_generator._stream.pack()
    try:
        yield
    finally:
        default_generator._stream.unpack(state)


def thread_safe_generator() -> Generator | None:
    """The generator of a DataLoader worker that is a thread; None elsewhere.

    >>> torch.random.thread_safe_generator() is None
    True
    """
    return None
