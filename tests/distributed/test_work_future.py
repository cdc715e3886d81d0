"""Futures of works that nobody completes but who waits for them."""

import pytest

from tapegrad.distributed.work import Work
from tapegrad.distributed.work_future import future_of
from tapegrad.futures import collect_all


class Slow(Work):
    """Done when somebody waits, or when `ready` is set."""

    def __init__(self, error=None):
        super().__init__(["result"])
        self.ready, self.error, self.n_waits = False, error, 0

    def is_completed(self):
        return self.ready

    def wait(self, *timeout):
        self.n_waits += 1
        self.ready = True
        if self.error is not None:
            raise self.error
        return True


def test_callbacks_run_when_somebody_waits():
    work, seen = Slow(), []
    future = work.get_future()
    longer = future.then(lambda f: seen.append("first") or len(f.value()))
    last = longer.then(lambda f: f.value() + 1)
    assert not future.done() and not last.done() and not seen and not work.n_waits
    assert last.wait() == 2 and seen == ["first"] and work.n_waits == 1
    assert future.value() == ["result"] and longer.wait() == 1


def test_asking_drives_it_too():
    work = Slow()
    last = work.get_future().then(lambda f: f.value()[0])
    assert not last.done()
    work.ready = True
    assert last.done() and last.value() == "result"


def test_errors_go_to_who_waits():
    future = future_of(Slow(ValueError("lost")), [])
    after = future.then(lambda f: f.value())
    with pytest.raises(RuntimeError, match="ValueError: lost"):
        after.wait()
    with pytest.raises(ValueError, match="lost"):
        future.wait()


def test_several_are_collected():
    works = [Slow(), Slow()]
    found = collect_all([work.get_future() for work in works]).wait()
    assert [each.value() for each in found] == [["result"]] * 2
