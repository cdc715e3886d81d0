"""Whether it is worth recording a call with tensors of yet another size.

Recording costs as much as many calls, and a size may never come again, as in a text that grows by a
word at a time. So the function runs as it is until the calls with a size have taken as long as it
took to record the last one: then all in all no more than twice the time is spent that was needed.
"""

from time import perf_counter

from tapegrad.core.annotations import Any, Callable

_MOST = 4096  # sizes whose time is kept


class Worth:
    """The seconds that calls as they are have taken, by what tells them apart.

    Attributes:
        cost: the seconds that it took to record a call, the last time
    """

    def __init__(self) -> None:
        self.cost = 0.0
        self._spent: dict[Any, float] = {}

    def is_reached(self, sizes: Any) -> bool:
        """Whether calls with these sizes have taken as long as recording one; they start anew."""
        if self._spent.get(sizes, 0.0) < self.cost:
            return False
        self._spent.pop(sizes, None)
        return True

    def run(self, sizes: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
        """What the function gives as it is; the time it takes is counted."""
        start = perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            if len(self._spent) >= _MOST:
                self._spent.clear()
            self._spent[sizes] = self._spent.get(sizes, 0.0) + perf_counter() - start
