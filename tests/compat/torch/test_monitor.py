"""Events and those who hear of them."""

from datetime import datetime
from importlib import import_module

import pytest

from tapegrad.compat.torch import monitor
from tests.needs import pytorch


def test_handlers_hear_of_events_until_they_are_taken_away():
    heard = []
    handle = monitor.register_event_handler(heard.append)
    event = monitor.Event("step", datetime(2026, 1, 1), {"loss": 0.5})
    monitor.log_event(event)
    monitor.unregister_event_handler(handle)
    monitor.log_event(event)
    assert heard == [event] and heard[0].data == {"loss": 0.5}
    with pytest.raises(NotImplementedError, match=r"monitor\.Stat is not supported"):
        monitor.Stat("loss", [monitor.MEAN], 1)


def test_statistics_are_written_for_tensorboard():
    written = []

    class Writer:
        def add_scalar(self, name, value, walltime):
            written.append((name, value))

    handler = monitor.TensorboardEventHandler(Writer())
    handler(monitor.Event(monitor.STAT_EVENT, datetime.now(), {"loss.mean": 0.5}))
    handler(monitor.Event("other", datetime.now(), {"loss": 0.5}))
    assert written == [("loss.mean", 0.5)]


def test_aggregations_are_those_of_pytorch():
    theirs = import_module(f"{pytorch().__name__}.monitor").Aggregation
    assert {each.name for each in monitor.Aggregation} == set(theirs.__members__)
