"""`Work`: a collective under way."""

from datetime import timedelta

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.errors import runtime_error
from tapegrad.jit._async import Future


class Work:
    """What a collective with `async_op=True` gives: something to wait for.

    A backend makes one for each call, says by `is_completed` whether the numbers are there and
    waits for them in `wait`. This one is done from the start, and so is what backends that move
    nothing give.

    >>> _ = torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> work = torch.distributed.all_reduce(torch.ones(2), async_op=True)
    >>> work.wait()
    True
    >>> work.get_future().value()
    [tensor([1., 1.])]
    >>> torch.distributed.destroy_process_group()
    """

    def __init__(self, results: Sequence | None = ()) -> None:
        self._results = None if results is None else list(results)

    def is_completed(self) -> bool:
        """Whether the numbers are there."""
        return True

    def is_success(self) -> bool:
        """Whether they came without an error."""
        return self.exception() is None

    def exception(self) -> BaseException | None:
        """What went wrong, if anything did."""
        return None

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Wait until the numbers are there."""
        return True

    def synchronize(self) -> None:
        """Wait as the device does; here as `wait`."""
        self.wait()

    def block_current_stream(self) -> None:
        """Let what follows wait for this; here as `wait`."""
        self.wait()

    def source_rank(self) -> int:
        """From which rank a receive came."""
        raise runtime_error(
            "sourceRank() may only be called on work objects that correspond to a recv or recv "
            "from any call.",
            "Ask the work of irecv().",
        )

    def result(self) -> list:
        """The tensors that were written."""
        self.wait()
        return [] if self._results is None else self._results

    def get_future(self) -> Any:
        """A `Future` of the tensors that were written."""
        if self._results is None:
            raise runtime_error(
                "Work::getFuture not implemented.",
                "Call wait(), and read the tensors that were given to the collective.",
            )
        if not self.is_completed():
            from tapegrad.distributed.work_future import future_of

            return future_of(self, self._results)
        self.wait()
        future: Future = Future()
        future.set_result(self._results)
        return future

    def boxed(self) -> Any:
        """Itself: there is no other form of it in Python."""
        return self


class AfterWork(Work):
    """Work of a backend on buffers, and the step that takes the buffers to the tensors."""

    def __init__(self, work: Work, results: Sequence | None, finish: Callable[[], None]) -> None:
        super().__init__(results)
        self._work = work
        self._finish: Callable[[], None] | None = finish
        self.is_completed()

    def is_completed(self) -> bool:
        done = self._work.is_completed()
        if done and self._work.exception() is None:
            self._finished()
        return done

    def _finished(self) -> None:
        if self._finish is not None:
            self._finish()
            self._finish = None

    def exception(self) -> BaseException | None:
        return self._work.exception()

    def source_rank(self) -> int:
        return self._work.source_rank()

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        done = self._work.wait(timeout)
        self._finished()
        return done
