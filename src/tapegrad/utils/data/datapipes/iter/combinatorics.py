"""`shuffle`, and samplers over a pipe."""

import random
from collections.abc import Iterator
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.utils.common import length_of
from tapegrad.utils.data.sampler import Sampler, SequentialSampler

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


def drawn_seed() -> int:
    """A seed for Python's random numbers, drawn from `torch.manual_seed`'s."""
    import tapegrad as torch

    return int(torch.empty((), dtype=torch.int64).random_().item())


class SamplerIterDataPipe(IterDataPipe):
    """The samples as a sampler of `torch.utils.data` orders them."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        sampler: type[Sampler] = SequentialSampler,
        sampler_args: tuple | None = None,
        sampler_kwargs: dict | None = None,
    ) -> None:
        if not hasattr(type(datapipe), "__len__"):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = sampler_args or ()
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return len(self.sampler)  # type: ignore[arg-type]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """The samples in random order: each is drawn from a buffer of `buffer_size` of them.

    `unbatch_level` first takes batches apart. A DataLoader with `shuffle` switches it on or off,
    and seeds it; `set_shuffle` and `set_seed` do so by hand.
    """

    def __init__(
        self, datapipe: IterDataPipe, *, buffer_size: int = 10000, unbatch_level: int = 0
    ) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level)
        self.buffer_size = buffer_size
        self._buffer: list[Any] = []
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> "ShufflerIterDataPipe":
        """Whether to shuffle."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> "ShufflerIterDataPipe":
        """The seed of the next pass."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        for x in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                i = self._rng.randint(0, len(self._buffer) - 1)
                chosen, self._buffer[i] = self._buffer[i], x
                yield chosen
            else:
                self._buffer.append(x)
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        return length_of(self, self.datapipe)

    def reset(self) -> None:
        self._buffer = []
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None


__getattr__ = _refuses(__name__)
