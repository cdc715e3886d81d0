"""`fork`, `demux`: one pipe as several, which share a buffer of what some have not read yet."""

import copy as copies
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from tapegrad.core.errors import value_error, warn
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes._hook_iterator import _FEEDBACK, described
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


class _Shared(IterDataPipe):
    """What the children read from: its buffers are of samples that a child has yet to take."""

    def __init__(self, datapipe: IterDataPipe, num_instances: int, buffer_size: int) -> None:
        self.main_datapipe, self.num_instances = datapipe, num_instances
        self.buffer_size = buffer_size
        self._source: Any = None
        self._waiting: list[deque[Any]] = [deque() for _ in range(num_instances)]
        self._ended = [False] * num_instances

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("the children of fork and demux are iterated, not what they share")

    def is_every_instance_exhausted(self) -> bool:
        """Whether all children have come to the end."""
        return all(self._ended)

    def reset(self) -> None:
        self._source = None
        self._waiting = [deque() for _ in range(self.num_instances)]
        self._ended = [False] * self.num_instances

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """The samples of a child."""
        if self._source is None:
            self._source = iter(self.main_datapipe)
        mine = self._waiting[instance_id]
        while mine or self._read(instance_id):
            yield mine.popleft()
        self._ended[instance_id] = True

    def _read(self, instance_id: int) -> bool:
        """Read until there is a sample for a child; False at the end."""
        raise NotImplementedError

    def _put(self, instance_id: int, sample: Any) -> None:
        self._waiting[instance_id].append(sample)

    def get_length_by_instance(self, instance_id: int) -> int:
        """How many samples a child has."""
        return len(self.main_datapipe)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if isinstance(state, dict):
            state = {**state, "_source": None}
        return state


class _ForkerIterDataPipe(_Shared):
    def __init__(
        self, datapipe: IterDataPipe, num_instances: int, buffer_size: int, copy: Any
    ) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        kinds = {None: lambda x: x, "shallow": copies.copy, "deep": copies.deepcopy}
        if copy not in kinds:
            raise value_error(
                f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.",
                "None gives all children the same object.",
            )
        self._copy = copy
        if buffer_size < 0:
            warn("Unlimited buffer size is set for `fork`, please be aware of OOM at random places")

    def _read(self, instance_id: int) -> bool:
        try:
            sample = next(self._source)
        except StopIteration:
            return False
        make = {None: lambda x: x, "shallow": copies.copy, "deep": copies.deepcopy}[self._copy]
        for i in range(self.num_instances):
            self._put(i, make(sample))
        if 0 <= self.buffer_size < max(map(len, self._waiting)) - 1:
            raise BufferError(
                "ForkerIterDataPipe buffer overflow,"
                f"buffer size {self.buffer_size} is insufficient."
            )
        return True


class _DemultiplexerIterDataPipe(_Shared):
    def __init__(
        self,
        datapipe: IterDataPipe,
        num_instances: int,
        classifier_fn: Callable,
        drop_none: bool,
        buffer_size: int,
    ) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        if buffer_size < 0:
            warn(
                "Unlimited buffer size is set for `demux`, please be aware of OOM at random places"
            )

    def _read(self, instance_id: int) -> bool:
        for sample in self._source:
            kind = self.classifier_fn(sample)
            if kind is None and self.drop_none:
                continue
            if kind is None or not 0 <= kind < self.num_instances:
                raise value_error(
                    "Output of the classification fn should be between 0 and "
                    f"{self.num_instances - 1}. {kind} is returned.",
                    "drop_none leaves out what is None.",
                )
            self._put(kind, sample)
            if kind == instance_id:
                return True
            if 0 <= self.buffer_size < sum(map(len, self._waiting)):
                raise BufferError(
                    "DemultiplexerIterDataPipe buffer overflow, "
                    f"buffer size {self.buffer_size} is insufficient."
                )
        return False

    def get_length_by_instance(self, instance_id: int) -> int:
        raise TypeError("_ChildDataPipe instance doesn't have valid length")


class _ChildDataPipe(IterDataPipe):
    """One of the pipes that `fork` and `demux` give."""

    _has_own_iterators = True

    def __init__(self, main_datapipe: _Shared, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif self._valid_iterator_id == main._valid_iterator_id:  # a second pass: all begin again
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are "
                    "resetting the buffer and each child DataPipe will read from the start again."
                )
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        return self._samples(main._valid_iterator_id)

    def _samples(self, number: int) -> Iterator[Any]:
        samples = self.main_datapipe.get_next_element_by_instance(self.instance_id)
        while True:
            if number != self.main_datapipe._valid_iterator_id:
                raise RuntimeError(
                    "This iterator has been invalidated, because a new iterator has been created "
                    "from one of the ChildDataPipes of "
                    f"{described(self.main_datapipe)}.{_FEEDBACK}"
                )
            try:
                sample = next(samples)
            except StopIteration:
                return
            yield sample

    def __len__(self) -> int:
        return self.main_datapipe.get_length_by_instance(self.instance_id)


def _need_some(num_instances: int) -> None:
    if num_instances < 1:
        raise value_error(
            f"Expected `num_instances` larger than 0, but {num_instances} is found",
            "It is how many pipes there will be.",
        )


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """Several pipes of the same samples; `buffer_size` is how far one may be ahead."""

    def __new__(
        cls, datapipe: IterDataPipe, num_instances: int, buffer_size: int = 1000, copy: Any = None
    ) -> Any:
        _need_some(num_instances)
        if num_instances == 1:
            return datapipe
        shared = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """Several pipes: `classifier_fn` says for each sample to which it belongs."""

    def __new__(
        cls,
        datapipe: IterDataPipe,
        num_instances: int,
        classifier_fn: Callable,
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        _need_some(num_instances)
        _check_unpickable_fn(classifier_fn)
        shared = _DemultiplexerIterDataPipe(
            datapipe, num_instances, classifier_fn, drop_none, buffer_size
        )
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


__getattr__ = _refuses(__name__)
