"""`WorkFuture`: the future of a collective, which whoever waits for it drives."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.futures.future import Future


class WorkFuture(Future):
    """A future that no other thread completes: `drive(waits)` does, at once if it is told to wait.

    What `then` gives is one as well, so that callbacks run when somebody waits or asks.
    `poke()` lets the work go on and runs none; it says whether the work is done.
    """

    def __init__(self, drive: Callable[[bool], None], poke: Callable[[], bool]) -> None:
        super().__init__()
        self._drive, self.poke = drive, poke

    def done(self) -> bool:
        if not self._done:
            self._drive(False)
        return self._done

    def wait(self) -> Any:
        if not self._done:
            self._drive(True)
        return super().wait()

    def _when_done(self, callback: Callable) -> None:
        self._drive(True)  # who calls back from here has no way to drive it later
        super()._when_done(callback)

    def then(self, callback: Callable) -> Future:
        if self._done:
            return super().then(callback)
        before: Future = Future()
        after = WorkFuture(self._drive, self.poke)
        super()._when_done(lambda _: before._complete(self._value, self._error))
        before.then(callback)._when_done(lambda f: after._complete(f._value, f._error))
        return after


def future_of(work: Any, results: list) -> Future:
    """The future of the tensors that a work writes."""

    def drive(waits: bool) -> None:
        if future._done or not (waits or work.is_completed()):
            return
        try:
            work.wait()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(results)

    future = WorkFuture(drive, work.is_completed)
    return future
