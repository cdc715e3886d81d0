"""What the function of an entry asks of the arguments of a call, as lines of Python.

A tensor has to have the shape, strides, dtype and class of the recorded one, a number has to be
equal, and containers and objects have to be made of the like. What the call puts in places, where
something else may be in a later call, is asked the same.
"""

import numpy as np

from tapegrad.autograd.node import INFERENCE, Port
from tapegrad.compiler.sources import PLAIN, Uncompilable
from tapegrad.compiler.stores import is_record
from tapegrad.core.annotations import Any
from tapegrad.core.device import device
from tapegrad.core.size import Size
from tapegrad.core.tensor_base import TensorBase
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree.registry import is_namedtuple_instance

MISS = object()
"""What the function of an entry gives where its program does not stand for a call."""

FEW = 4
"""Things that are compared with one another, two at a time."""


class ArgumentQuestions:
    """Lines that give MISS where an argument is not as the recorded one was."""

    recording: Any
    guard: Any
    reads: list[int]

    def __init__(self) -> None:
        self._scope: dict[str, Any] = {
            "MISS": MISS, "Tensor": Tensor, "Parameter": Parameter, "Buffer": Buffer,
            "INFERENCE": INFERENCE, "ndarray": np.ndarray,
        }  # fmt: skip
        self._lines: list[str] = []
        self._places: dict[int, str] = {}  # of tensors that are arguments: how they are called
        self._objects: dict[int, str] = {}  # containers and objects among these
        self._in_places = False  # whether it is asked after what is where the call puts something

    def _say(self, line: str, depth: int = 1) -> None:
        self._lines.append("    " * depth + line)

    def _name(self, x: Any, prefix: str = "o") -> str:
        name = f"{prefix}{len(self._scope)}"
        self._scope[name] = x
        return name

    def _arguments(self, args: tuple, kwargs: dict) -> None:
        self._n = 0
        self._say(f"if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return MISS")
        floats = self.recording.floats
        for i, x in enumerate(args):
            if i in floats:
                self._say(f"if args[{i}].__class__ is not float: return MISS")
            else:
                self._argument(f"args[{i}]", x)
        for key, x in kwargs.items():
            self._say(f"if {key!r} not in kwargs: return MISS")
            if key in floats:
                self._say(f"if kwargs[{key!r}].__class__ is not float: return MISS")
            else:
                self._argument(f"kwargs[{key!r}]", x)
        if self.recording.stores and self._objects:
            self._are_different(list(self._objects.values()))
            outside = self._name(self.recording.found.mutable_outside(self.recording.opened))
            for a in self._objects.values():
                self._say(f"if id({a}) in {outside}: return MISS")

    def _are_different(self, names: list[str]) -> None:
        """Ask whether no two of these are one."""
        if len(names) > FEW:
            self._say(f"if len({{{', '.join([f'id({x})' for x in names])}}}) != {len(names)}: \\")
            self._say("    return MISS")
            return
        pairs = [f"{x} is {y}" for i, x in enumerate(names) for y in names[:i]]
        if pairs:
            self._say(f"if {' or '.join(pairs)}: return MISS")

    def _argument(self, where: str, x: Any) -> None:
        """The questions that an argument has to answer, or what is in a place of a store."""
        self._n += 1
        a = f"a{self._n}"
        self._say(f"{a} = {where}")
        arguments = self.recording.found.arguments
        if id(x) in arguments.contents and not self._in_places:
            self._object_argument(a, *arguments.contents[id(x)])
        elif id(x) in arguments.tables and not self._in_places:
            self._table_argument(a, *arguments.tables[id(x)])
        elif isinstance(x, TensorBase):
            if id(x) in self._places:
                self._say(f"if {a} is not {self._places[id(x)]}: return MISS")
            elif self._is_unread(x):
                self._unread_tensor(a, x)
            else:
                self._tensor_argument(a, x)
        elif type(x) in PLAIN:
            if x is None or x is True or x is False:
                self._say(f"if {a} is not {x}: return MISS")
            else:
                k = self._name(x)
                self._say(
                    f"if {a} is not {k} and (type({a}) is not {type(x).__name__} or {a} != {k}): "
                    "return MISS"
                )
        elif isinstance(x, (Size, range, slice, device)):
            k = self._name(x)
            self._say(f"if {a}.__class__ is not {k}.__class__ or {a} != {k}: return MISS")
        elif type(x) is tuple or (is_namedtuple_instance(x) and not self._in_places):
            self._container(a, x)
        elif self._in_places and id(x) in self._objects:
            self._say(f"if {a} is not {self._objects[id(x)]}: return MISS")
        elif self._in_places and type(x) in (list, dict):
            self._objects[id(x)] = a
            self._container(a, x)
        elif self._in_places and is_record(x):
            self._objects[id(x)] = a
            self._record_argument(a, x)
        elif type(x) in (set, frozenset):
            kind = type(x).__name__
            self._say(f"if type({a}) is not {kind} or {a} != {self._name(type(x)(x))}: return MISS")
        else:
            self._say(f"if {a} is not {self._name(x)}: return MISS")

    def _container(self, a: str, x: Any) -> None:
        """The questions that a container has to answer."""
        if type(x) is dict:
            if any(isinstance(key, TensorBase) for key in x):
                raise Uncompilable("a dictionary has tensors as keys")
            keys = self._name(list(x))
            self._say(f"if type({a}) is not dict or list({a}) != {keys}: return MISS")
            for key in x:
                self._argument(f"{a}[{self._name(key)}]", x[key])
            return
        kind = self._name(type(x))
        self._say(f"if {a}.__class__ is not {kind} or len({a}) != {len(x)}: return MISS")
        for i, each in enumerate(x):
            self._argument(f"{a}[{i}]", each)

    def _object_argument(self, a: str, x: Any, content: Any) -> None:
        """The questions that an argument with this content has to answer: a list, dictionary or
        object.
        """
        if id(x) in self._objects:
            self._say(f"if {a} is not {self._objects[id(x)]}: return MISS")
            return
        self._objects[id(x)] = a
        if isinstance(x, (list, dict)):
            self._container(a, content)
            return
        self._say(f"if {a}.__class__ is not {self._name(type(x))}: return MISS")
        self._attributes(a, vars(x), content)

    def _attributes(self, a: str, of: dict, given: dict) -> None:
        self._say(f"d{a} = {a}.__dict__")
        self._say(f"if len(d{a}) != {len(given)}: return MISS")
        counts = self.recording.found.arguments.counts
        for key, each in given.items():
            where = f"d{a}.get({self._name(key)}, MISS)"
            if (id(of), key) in counts:
                self._say(f"if {where}.__class__ is not int: return MISS")
            else:
                self._argument(where, each)

    def _table_argument(self, a: str, x: Any, items: dict, attributes: dict) -> None:
        """The questions that an ordered dictionary has to answer, which may have attributes."""
        if id(x) in self._objects:
            self._say(f"if {a} is not {self._objects[id(x)]}: return MISS")
            return
        self._objects[id(x)] = a
        kind, keys = self._name(type(x)), self._name(list(items))
        self._say(f"if {a}.__class__ is not {kind} or list({a}) != {keys}: return MISS")
        self._scope["in_table"] = dict.__getitem__  # what a class of the user's looks up may differ
        for key, each in items.items():
            self._argument(f"in_table({a}, {self._name(key)})", each)
        self._attributes(a, vars(x), attributes)

    def _places_of_stores(self) -> None:
        """The questions that are asked of what is in places where it may be something else."""
        self._in_places = True
        for place in self.recording.opened:
            owner, key = self.guard.name(place.owner), self._name(place.key)
            is_there = f"{key} in {owner}" if isinstance(place.owner, dict) else ""
            is_there = is_there or f"{key} < len({owner})"
            self._argument(f"{owner}[{key}] if {is_there} else MISS", place.old)
        self._are_different(list(self._places.values()))

    def _is_unread(self, x: Any) -> bool:
        """Whether a tensor is in a place of a store, and the program does not read it."""
        if not self._in_places:
            return False
        i = next(i for i, each in enumerate(self.recording.tensors) if each is x)
        return i not in self.reads

    def _unread_tensor(self, a: str, x: Any) -> None:
        """What Python may have asked of a tensor that the program does not read."""
        self.recording.idle.add(id(x))
        self._say(
            f"if {a}.__class__ is not {type(x).__name__} or {a}._array.shape != {x._array.shape!r} "
            f"or {a}._array.dtype is not {self._name(x._array.dtype)} "
            f"or {a}.requires_grad is not {x.requires_grad}: return MISS"
        )

    def _record_argument(self, a: str, x: Any) -> None:
        """The questions that an object in a place of a store has to answer."""
        self._say(f"if {a}.__class__ is not {self._name(type(x))}: return MISS")
        for key, each in vars(x).items():
            if isinstance(each, TensorBase) and self._is_unread(each):
                self.recording.idle.add(id(each))
                continue
            name = self._name(key)
            self._argument(f"{a}.__dict__.get({name}, MISS)", each)

    def _tensor_argument(self, a: str, x: Any) -> None:
        array = x._array
        if id(x) in self.recording.found.captured:  # the function knows it without being given it
            self._say(f"if {a} is not {self.guard.name(x)}: return MISS")
            return
        self._places[id(x)] = a
        same = f"{a}.__class__ is not {type(x).__name__}"
        node = "None" if x._node is None else self._name(type(x._node))
        if x._node is None:
            same += f" or {a}._node is not None"
        else:
            same += f" or {a}._node.__class__ is not {node}"
            port = ".node" if type(x._node) is Port else ""
            same += f" or {a}._node{port}.hooks is not None"
        if not self.recording.infers:
            same += f" or {a}._counter is INFERENCE"
        self._say(f"if {same}: return MISS")
        if vars(x) or self.recording.found.asks_for_attributes:
            plain = all(type(each) in PLAIN for each in vars(x).values())
            content = self._name(dict(vars(x)) if plain else list(vars(x)))
            now = f"{a}.__dict__" if plain else f"list({a}.__dict__)"
            self._say(f"if {now} != {content}: return MISS")
        self._say(f"x{a} = {a}._array")
        self._say(
            f"if x{a}.__class__ is not ndarray or x{a}.shape != {array.shape!r} or x{a}.dtype is "
            f"not {self._name(array.dtype)} or x{a}.strides != {array.strides!r}: return MISS"
        )
