"""The machine that a pickle is a program for, reduced to what data needs.

Python's own is not used: even with a `find_class` that refuses, it takes gigabytes for one huge
index of its memo, gives any object any state, and hashes tuples nested so deeply that the process
ends. Here a call goes through a table of functions that check their arguments, and every step pays
for the memory that it takes: `PER_BYTE` says how much each byte of a pickle may be worth.

Source: the opcodes are documented in Python's `pickletools`.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import decode_long
from struct import unpack_from
from sys import getsizeof
from typing import Any

from tapegrad.core.tensor_base import TensorBase
from tapegrad.serialization.message import malformed, unsupported

_MARK = object()
_SLOT = 16  # bytes of a place on the stack, and of that in a container where it goes to
_ENTRY = 100  # of a key and a value in a dict, on average
# What objects of Python take for each byte of the pickle that describes them; measured: 4 for a
# list of floats, 14 for one of integers, 22 for small dicts in a list. Empty sets would take 230.
PER_BYTE = 32


class Machine:
    """Runs one pickle after the other from `data`.

    Args:
        data: the bytes
        find: `find(module, name)` is the class or function of that name, or raises
        call: `call(function, args, new)` calls what `find` has returned, or raises; `new` asks for
            an object of that class without its state
        build: `build(obj, state)` gives an object its state, or raises
        persistent: `persistent(id)` is the object that lies outside the pickle
        encoding: of the strings of Python 2
        limit: bytes that all objects may take together, if `PER_BYTE` of what was read is not more
    """

    def __init__(
        self,
        data: Any,
        find: Callable[[str, str], Any],
        call: Callable[[Any, Any, bool], Any],
        build: Callable[[Any, Any], None],
        persistent: Callable[[Any], Any],
        encoding: str = "utf-8",
        limit: int = 1 << 25,
    ) -> None:
        self.data = data
        self.limit = limit
        self.spent = 0
        self.position = 0
        self.find, self.call, self.build, self.persistent = find, call, build, persistent
        self.encoding = encoding
        self.stack: list[Any] = []
        self.memo: list[Any] = []
        self.scattered: dict[int, Any] = {}  # what was remembered out of turn
        self.hashes: dict[int, Any] = {}  # by the number of a large container: it, and its hashes

    def run(self) -> Any:
        """The object that the pickle at the present position describes."""
        self.stack, self.memo, self.scattered, self.hashes = [], [], {}, {}
        while True:
            code = self.take(1)[0]
            if code == _STOP:
                return self.pop()
            step = _STEPS.get(code)
            if step is None:
                raise unsupported(f"Unsupported operand {code}")
            self.spent += _COSTS[code]
            if self.spent > self.limit:
                self.spend(0)
            step(self)

    def spend(self, n: int) -> None:
        """Raise if `n` bytes more are more than the pickle may take."""
        self.spent += n
        if self.spent > self.limit and self.spent > PER_BYTE * self.position:
            raise malformed("what the pickle makes is much larger than the file")

    # ------------------------------------------------------------------------------------- reading

    def take(self, n: int) -> bytes:
        """The next `n` bytes."""
        start, end = self.position, self.position + n
        if end > len(self.data):
            raise malformed("pickle data was truncated")
        self.position = end
        return self.data[start:end]

    def take_into(self, memory: memoryview) -> None:
        """The next bytes, as many as `memory` has, copied there."""
        start, end = self.position, self.position + len(memory)
        if end > len(self.data):
            raise malformed("pickle data was truncated")
        self.position = end
        memory[:] = memoryview(self.data)[start:end]

    def number(self, format: str, n: int) -> int:
        """The next `n` bytes as a number."""
        return unpack_from(format, self.take(n))[0]

    def line(self) -> str:
        """The text up to the end of the line."""
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise malformed("pickle data was truncated")
        text = self.take(end + 1 - self.position)[:-1]
        return _text(text, "utf-8")

    # --------------------------------------------------------------------------------------- stack

    def push(self, x: Any) -> None:
        self.stack.append(x)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise malformed("unexpected end of the pickle's stack")
        return self.stack.pop()

    def top(self, kind: Any) -> Any:
        """The topmost object, which must be of that kind."""
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise malformed("the pickle adds items to what is no container")
        return self.stack[-1]

    def since_mark(self) -> list[Any]:
        """All above the last mark."""
        stack = self.stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is _MARK:
                found = stack[i + 1 :]
                del stack[i:]
                return found
        raise malformed("could not find MARK")

    def remember(self, i: int) -> None:
        if not self.stack or self.stack[-1] is _MARK:
            raise malformed("unexpected end of the pickle's stack")
        if i == len(self.memo):
            self.memo.append(self.stack[-1])
        elif i < len(self.memo):
            self.memo[i] = self.stack[-1]
        else:
            self.spend(_ENTRY)
            self.scattered[i] = self.stack[-1]

    def recall(self, i: int) -> None:
        if i < len(self.memo):
            self.stack.append(self.memo[i])
        elif i in self.scattered:
            self.stack.append(self.scattered[i])
        else:
            raise malformed(f"Memo value not found at index {i}")

    # ---------------------------------------------------------------------------------- containers

    def set_items(self, items: list[Any]) -> None:
        found = self.top((dict, OrderedDict))
        if len(items) % 2:
            raise malformed("odd number of items for SETITEMS")
        self.spend(len(items) // 2 * _ENTRY)
        for i in range(0, len(items), 2):
            found[self.key(found, items[i])] = items[i + 1]

    def set_item(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def append(self) -> None:
        x = self.pop()
        self.top(list).append(x)

    def extend(self) -> None:
        items = self.since_mark()
        self.top(list).extend(items)

    def add_items(self) -> None:
        items = self.since_mark()
        self.spend(len(items) * _ENTRY)
        found = self.top(set)
        for x in items:
            found.add(self.key(found, x))

    def key(self, found: Any, x: Any) -> Any:
        """`x` as a key of a dict or set, which must find its place without looking far.

        Keys of one hash are compared with each other: a file of some megabytes could take hours.
        Hashes of texts are not known beforehand.
        """
        x = as_key(x)
        if len(found) < _MANY or type(x) is str or x in found:
            return x
        if id(found) not in self.hashes:
            self.spend(len(found) * _ENTRY)
            self.hashes[id(found)] = found, Counter(map(hash, found))
        hashes = self.hashes[id(found)][1]
        hashes[hash(x)] += 1
        if hashes[hash(x)] > _MANY:
            raise malformed("too many keys of the pickle have one hash")
        return x

    def tuple_of(self, n: int) -> None:
        items = [self.pop() for _ in range(n)]
        self.push(tuple(reversed(items)))

    # --------------------------------------------------------------------------------------- calls

    def global_of_lines(self) -> None:
        module, name = self.line(), self.line()
        self.push(self.find(module, name))

    def global_of_stack(self) -> None:
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise malformed("STACK_GLOBAL requires str")
        self.push(self.find(module, name))

    def reduce(self, new: bool = False) -> None:
        args, function = self.pop(), self.pop()
        if type(args) is not tuple:
            raise malformed("the arguments of a call are no tuple")
        self.push(self.call(function, args, new))

    def build_top(self) -> None:
        state = self.pop()
        self.build(self.top(object), state)

    def load_persistent(self) -> None:
        self.push(self.persistent(self.pop()))


_LARGEST_KEY = 1000
_MANY = 1000  # keys of a container, from which on their hashes are counted


def as_key(x: Any) -> Any:
    """`x`, if its hash is the work of a moment."""
    left = _LARGEST_KEY
    pending = [x]
    while pending:
        each = pending.pop()
        left -= 1
        if left < 0:
            raise malformed("a key has too many parts")
        if isinstance(each, tuple):
            pending.extend(each[: left + 1])
        elif type(each).__hash__ is None or isinstance(each, frozenset):
            raise malformed(f"unhashable type: '{type(each).__name__}'")
        elif isinstance(each, int) and each.bit_length() > _LARGEST_KEY:
            raise malformed("a key is a number of too many digits")
        elif isinstance(each, TensorBase):
            continue  # by identity
    return x


def _push_text(m: Machine, n: int) -> None:
    text = _text(m.take(n), "utf-8")
    m.spend(getsizeof(text))
    m.push(text)


def _push_bytes(m: Machine, n: int) -> None:
    m.push(m.take(n))
    m.spend(n)


def _text(data: bytes, encoding: str) -> Any:
    if encoding == "bytes":
        return bytes(data)
    try:
        return data.decode(encoding, "surrogatepass" if encoding == "utf-8" else "strict")
    except UnicodeDecodeError as error:
        raise malformed(f"the file has a string that is not {encoding}: {error.reason}") from error


def _push_bytearray(m: Machine, n: int) -> None:
    found = m.take(n)
    m.spend(2 * n)
    m.push(bytearray(found))


def _old_text(m: Machine, n: int) -> None:
    if n < 0:
        raise malformed("BINSTRING pickle has negative byte count")
    text = _text(m.take(n), m.encoding)
    m.spend(getsizeof(text))
    m.push(text)


def _long(m: Machine, n: int) -> None:
    m.push(decode_long(m.take(n)))
    m.spend(n)


_STOP = ord(".")
_STEPS: dict[int, Callable[[Machine], Any]] = {
    ord(code): step
    for code, step in {
        "\x80": lambda m: m.take(1),  # PROTO
        "\x95": lambda m: m.take(8),  # FRAME
        "(": lambda m: m.push(_MARK),
        "0": lambda m: m.pop(),
        "1": lambda m: m.since_mark(),  # POP_MARK
        "N": lambda m: m.push(None),
        "\x88": lambda m: m.push(True),
        "\x89": lambda m: m.push(False),
        "J": lambda m: m.push(m.number("<i", 4)),
        "K": lambda m: m.push(m.take(1)[0]),
        "M": lambda m: m.push(m.number("<H", 2)),
        "\x8a": lambda m: _long(m, m.take(1)[0]),  # not \x8b, as in PyTorch: longer ones
        "G": lambda m: m.push(m.number(">d", 8)),
        "X": lambda m: _push_text(m, m.number("<I", 4)),
        "\x8c": lambda m: _push_text(m, m.take(1)[0]),
        "\x8d": lambda m: _push_text(m, m.number("<Q", 8)),
        "B": lambda m: _push_bytes(m, m.number("<I", 4)),
        "C": lambda m: _push_bytes(m, m.take(1)[0]),
        "\x8e": lambda m: _push_bytes(m, m.number("<Q", 8)),
        "\x96": lambda m: _push_bytearray(m, m.number("<Q", 8)),
        "T": lambda m: _old_text(m, m.number("<i", 4)),
        "U": lambda m: _old_text(m, m.take(1)[0]),
        "]": lambda m: m.push([]),
        "}": lambda m: m.push({}),
        ")": lambda m: m.push(()),
        "\x8f": lambda m: m.push(set()),
        "t": lambda m: m.push(tuple(m.since_mark())),
        "\x85": lambda m: m.tuple_of(1),
        "\x86": lambda m: m.tuple_of(2),
        "\x87": lambda m: m.tuple_of(3),
        "l": lambda m: m.push(m.since_mark()),
        "a": Machine.append,
        "e": Machine.extend,
        "s": Machine.set_item,
        "u": lambda m: m.set_items(m.since_mark()),
        "\x90": Machine.add_items,
        "h": lambda m: m.recall(m.take(1)[0]),
        "j": lambda m: m.recall(m.number("<I", 4)),
        "q": lambda m: m.remember(m.take(1)[0]),
        "r": lambda m: m.remember(m.number("<I", 4)),
        "\x94": lambda m: m.remember(len(m.memo) + len(m.scattered)),
        "c": Machine.global_of_lines,
        "\x93": Machine.global_of_stack,
        "R": Machine.reduce,
        "\x81": lambda m: m.reduce(new=True),
        "b": Machine.build_top,
        "Q": Machine.load_persistent,
    }.items()
}

# What a step takes beyond the bytes, items and results that it pays for itself.
_COSTS = [_SLOT] * 256
for _code, _n in {
    "J": 32, "M": 32, "\x8a": 32, "G": 24, "B": 40, "C": 40, "\x8e": 40, "\x96": 64,
    "]": 56, "}": 64, "\x8f": 216, "t": 48, "\x85": 48, "\x86": 56, "\x87": 64, "l": 56, "Q": 64,
}.items():  # fmt: skip
    _COSTS[ord(_code)] += _n
