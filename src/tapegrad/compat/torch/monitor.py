"""`torch.monitor`: events of a program, for whoever wants to hear of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from tapegrad.compat.refusal import refusing as _refusing

STAT_EVENT = "torch.monitor.Stat"
data_value_t = str | float | int | bool


class Aggregation(Enum):
    """How numbers become one."""

    VALUE, MEAN, COUNT, SUM, MAX, MIN = range(6)


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


@dataclass
class Event:
    """Something that happened: its name, when, and facts about it."""

    name: str
    timestamp: datetime
    data: dict[str, data_value_t] = field(default_factory=dict)


class EventHandlerHandle:
    """What `unregister_event_handler` is given."""

    def __init__(self, handler: Callable[[Event], None]) -> None:
        self._handler = handler


_handlers: list[EventHandlerHandle] = []


def register_event_handler(callback: Callable[[Event], None]) -> EventHandlerHandle:
    """Have a function called with every event.

    >>> from datetime import datetime
    >>> from tapegrad.compat.torch.monitor import *
    >>> handle = register_event_handler(lambda event: print(event.name, event.data))
    >>> log_event(Event("loss", datetime.now(), {"value": 0.5}))
    loss {'value': 0.5}
    >>> unregister_event_handler(handle)
    """
    handle = EventHandlerHandle(callback)
    _handlers.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Have it called no more."""
    if handler in _handlers:
        _handlers.remove(handler)


def log_event(event: Event) -> None:
    """Tell all handlers of an event."""
    for each in tuple(_handlers):
        each._handler(event)


class TensorboardEventHandler:
    """A handler that writes numbers of statistics to a `SummaryWriter`."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())


__all__ = [
    "Aggregation", "Event", "EventHandlerHandle", "TensorboardEventHandler", "log_event",
    "register_event_handler", "unregister_event_handler",
]  # fmt: skip

__getattr__ = _refusing(
    __name__, "Count in Python, and log an Event of what you found.", classes="Stat"
)
