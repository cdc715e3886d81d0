"""Random number generators. A seed gives PyTorch's numbers, and states can be exchanged with it."""

from __future__ import annotations

import operator
from os import urandom

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DeviceLike
from tapegrad.core.device import as_device
from tapegrad.core.device import device as Device
from tapegrad.core.streams.mersenne_twister import (
    STATE_BYTES,
    Twister,
    continue_from,
    start_from,
    state_of,
)
from tapegrad.core.streams.recorded import RECORDERS
from tapegrad.core.tensor_base import wrap

_FIRST_SEED = 67280421310721  # of a generator that was not seeded


def _check_arguments(args: tuple, kwargs: dict[str, Any]) -> None:
    """Raise for all that a generator is not made of, in the words of PyTorch's."""
    n = len(args) + len(kwargs)
    if len(args) > 1:
        text = f"Generator() takes from 0 to 1 positional arguments but {n} were given"
        raise errors.type_error(text, "It takes a device.")
    for name in kwargs:
        if name != "device":
            text = f"Generator() got an unexpected keyword argument '{name}'"
            raise errors.type_error(text, "Seed it afterwards: torch.Generator().manual_seed(0).")
    device = args[0] if args else kwargs.get("device")
    if not (device is None or isinstance(device, (str, int, Device))):
        raise errors.must_be("Generator", "device", 1, "torch.device", device)


class Generator:
    """A stream of random numbers of its own, for the argument `generator=`.

    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    __slots__ = ("__weakref__", "_device", "_stream")

    def __new__(cls, *args: Any, **kwargs: Any) -> Generator:
        _check_arguments(args, kwargs)
        return super().__new__(cls)

    def __init__(self, device: DeviceLike | None = None) -> None:
        self._device = as_device("cpu" if device is None else device)
        kind = self._device.type
        if kind != "cpu":
            reason = f"{kind.upper()} device type not an accelerator."
            if kind == "cuda":
                reason = "Cannot get CUDA generator without ATen_cuda library."
            raise errors.runtime_error(
                reason, "Random numbers are drawn on the CPU: leave the device away."
            )
        self._stream = Twister(_FIRST_SEED)
        if RECORDERS:  # each run of what is recorded has a new one
            start_from(self._stream, _FIRST_SEED)

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
            raise errors.runtime_error(
                f"manual_seed expected a long, but got {type(seed).__name__}",
                "A seed is an int from -2**63 to 2**64 - 1.",
            )
        number = operator.index(seed)
        if not -(2**63) <= number < 2**64:
            raise errors.value_error(
                "Overflow when unpacking long long", "A seed is an int from -2**63 to 2**64 - 1."
            )
        start_from(self._stream, number)
        return self

    def seed(self) -> int:
        """Start again from a number that the operating system drew; returns it.

        >>> g = torch.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        self._stream.reseed(unpredictable())
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
        return wrap(state_of(self._stream))

    def set_state(self, new_state: Any, /) -> Generator:
        """Continue from a state that `get_state` gave; returns the generator.

        >>> g = torch.Generator()
        >>> state = g.get_state()
        >>> first = torch.rand(2, generator=g)
        >>> _ = g.set_state(state)
        >>> bool((first == torch.rand(2, generator=g)).all())
        True
        """
        continue_from(self._stream, _state_array(new_state))
        return self

    def clone_state(self) -> Generator:
        """A generator of its own that stands where this one stands.

        >>> g = torch.Generator().manual_seed(1)
        >>> torch.rand(1, generator=g.clone_state()) == torch.rand(1, generator=g)
        tensor([True])
        """
        clone = Generator(self._device)
        continue_from(clone._stream, state_of(self._stream))
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


def unpredictable() -> int:
    """64 bits from the operating system."""
    return int.from_bytes(urandom(8), "little")


def _state_array(state: dict) -> np.ndarray:
    advice = "Pass what get_state() or get_rng_state() returned."
    array = getattr(state, "_array", None)
    if array is None:
        raise errors.type_error(
            f"expected a torch.ByteTensor, but got {type(state).__name__}", advice
        )
    if array.dtype != np.uint8:
        raise errors.type_error("RNG state must be a torch.ByteTensor", advice)
    if array.size != STATE_BYTES:
        raise errors.runtime_error(
            f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG "
            f"state size to be {array.size}",
            advice,
        )
    return array.reshape(-1)
