"""Where a function finds what it reads besides its arguments.

A program that was recorded holds for the tensors that were there, in the places where they were,
and for the numbers, flags and functions that Python read. Looked at are modules with all they
contain, optimizers, what a function closes over, the globals that its code names, attributes of
objects, and the same of the functions found there, as far as they are written in Python and no part
of tapegrad or of Python's library. Each place that was looked at is a line of the guard.
"""

import array
import builtins
import functools
import io
import itertools
import re
import sys
import types
import weakref
from collections import OrderedDict, deque

import numpy as np

from tapegrad.compiler.arguments import Arguments, is_object
from tapegrad.compiler.counts import Variable
from tapegrad.compiler.guards import Guard
from tapegrad.compiler.stores import PLAIN, Place
from tapegrad.compiler.whose_code import (
    globals_of,
    is_foreign,
    is_library,
    is_library_module,
    is_named_by_library,
    names_of,
)
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.device import _defaults as DEVICES
from tapegrad.core.dtype import current as DEFAULT
from tapegrad.core.dtype import dtype
from tapegrad.core.generator import Generator
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.uninitialized import DETERMINISTIC
from tapegrad.nn.hook import AFTER, BACKWARD, BEFORE
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.optim.lr_scheduler import LRScheduler
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor

_OF_EVERY_OPTIMIZER = frozenset(["param_groups", "state", "defaults"])
_SMALL = 4096  # bytes of a NumPy array that is compared before each call
_TABLES = ("_parameters", "_buffers", "_modules")
_OF_EVERY_MODULE = frozenset(Module().__dict__)
_IMMUTABLE = (
    *PLAIN, range, slice, type(Ellipsis), types.ModuleType, types.BuiltinFunctionType, dtype
)  # fmt: skip
_CONTAINERS = (list, tuple, deque, dict, set, frozenset)
_MOST_FUNCTIONS = 400  # that a call may run, all of which are looked at


class Uncompilable(Exception):
    """Why a call cannot be made a program."""


class TooManyFunctions(Exception):
    """A call leads to so many functions that it has to be seen which of them run."""


class Found:
    """What a function and its arguments lead to.

    Attributes:
        guard: asks whether everything is where it was
        tensors: each tensor, once, by its identity
        optimizers: those among the objects
        captured, outside: the identities of tensors, of all objects that are found without the
            arguments
        places: where something may be put by the call
        arguments: the containers and objects among the arguments that may be others
        asked_for: of what was looked at, by its identity, for which optimizers and places
        varying: numbers of optimizers that are inputs, by the identities of owners and the keys
        numbers: ints among the options, ints and floats in the state: (optimizer, owner, key, x)
        called: the functions of the user's that count, `CalledFunctions`; None: all that are found
    """

    def __init__(self, called: Any = None, varying: Any = None) -> None:
        self.guard = Guard()
        self.varying: Any = {} if varying is None else varying
        self.called = called  # the code that may run; None: any
        self._n_functions = 0
        self.tensors: dict[int, Any] = {}
        self.optimizers: list[Any] = []
        self.generators: list[Any] = []  # NumPy's: a call that draws from them is no program
        self.iterators: list[tuple] = []  # and where they stand: the call may not take from them
        self.captured: set[int] = set()
        self.outside: set[int] = set()
        self.places: dict[int, Place] = {}
        self.arguments = Arguments()
        self.asked_for: dict[int, tuple] = {}
        self.asks_for_attributes = False  # whether `hasattr` or `getattr` is called
        self._modules: dict[tuple, Any] = {}
        self.seen: dict[int, Any] = {}
        self.numbers: list[tuple] = []
        self.state: set[int] = set()  # the identities of tensors that are state of optimizers
        self.names: dict[int, str] = {}  # of tensors, as modules call them
        self.ints: list[tuple[Any, str, int]] = []  # attributes and variables that may be counts

    def look_at(self, x: Any) -> None:
        """Take up an object and what it leads to."""
        if id(x) in self.seen or isinstance(x, _IMMUTABLE):
            for each in self.asked_for.get(id(x), ()):
                if each in self.places and each not in self.guard.asker:
                    self.places[each].is_shared = True
            return
        if isinstance(x, Module):
            for name, tensor in [*x.named_parameters(), *x.named_buffers()]:
                self.names.setdefault(id(tensor), name.replace(".", "_"))
        self.seen[id(x)] = x
        self.asked_for[id(x)] = self.guard.asker
        if Place.may_be(x):
            self._look_into(x)
        else:  # another one is another program, wherever it is
            before = self.guard.asker
            self.guard.asker = tuple([each for each in before if each not in self.places])
            self._look_into(x)
            self.guard.asker = before

    def _look_into(self, x: Any) -> None:
        if isinstance(x, TensorBase):
            self._tensor(x)
        elif isinstance(x, Module):
            self._module(x)
        elif isinstance(x, Optimizer):
            self._optimizer(x)
        elif isinstance(x, LRScheduler):
            self.look_at(x.optimizer)
        elif isinstance(x, type):
            if not is_library(x):
                del self.seen[id(x)]
                self._class(x)
        elif isinstance(x, types.MethodType):
            self.look_at(x.__func__)
            self.look_at(x.__self__)
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, functools.partial):
            for name in ("func", "args", "keywords"):
                self.guard.attribute(x, name, getattr(x, name))
            for each in (x.func, *x.args):
                self.look_at(each)
            self._dict(x.keywords)
        elif hasattr(type(x), "is_compiled"):
            self.look_at(x.compiled_function)
        elif isinstance(x, np.ndarray):
            if x.nbytes > _SMALL or x.dtype.hasobject:
                raise Uncompilable("it reads a large NumPy array, whose numbers nobody watches")
            self.guard.equal_bytes(x)
        elif isinstance(x, (list, tuple, deque)):
            self._sequence(x)
        elif isinstance(x, Generator):
            pass  # what it draws is recorded
        elif isinstance(x, dict):
            self._dict(x)
        elif isinstance(x, (set, frozenset)):
            self.guard.equal_copy(x)
        elif isinstance(x, weakref.ref) and isinstance(x(), TensorBase):
            raise Uncompilable("it reads a weak reference to a tensor")
        elif isinstance(x, (array.array, bytearray)):
            if len(memoryview(x).cast("B")) > _SMALL:
                raise Uncompilable(f"it reads a large {type(x).__name__}, which nobody watches")
            self.guard.equal_copy(x)
        elif isinstance(x, memoryview) or any(k.__module__ == "_ctypes" for k in type(x).__mro__):
            raise Uncompilable(f"it reads a {type(x).__name__}, whose memory nobody watches")
        elif isinstance(x, types.MappingProxyType):
            self._read_only(x)
        elif isinstance(x, weakref.ref):
            self._referent(x, x())
        elif isinstance(x, functools._lru_cache_wrapper):
            self._dict(x.__dict__)  # in which the function is
        elif isinstance(x, io.IOBase) and (x.closed or not x.readable()):
            pass  # who writes to it is seen
        elif hasattr(type(x), "__next__"):
            at = position(x)
            if at is None:
                raise Uncompilable(
                    f"it reads a {type(x).__name__}, which gives something else each time"
                )
            self.iterators.append((x, at))
        elif type(x).__module__.startswith("numpy.random"):
            self.generators.append(x)
        elif not is_foreign(type(x)):
            self._object(x)
        if isinstance(x, _CONTAINERS) and not is_library(type(x)):
            self._object(x)

    def entry(self, owner: Any, key: Any, x: Any) -> None:
        """Take up what a dictionary or list has under a key."""
        before = self.guard.asker
        if Place.may_be(x):
            place = Place(owner, key, x, before)
            self.places[id(place)] = place
            self.guard.asker = (*before, id(place))
        if type(x) in PLAIN:
            self.guard.equal(owner, key, x)
        else:
            self.guard.call(x, self.guard.called(owner, key))
            self.guard.same(owner, key, x)
            self.look_at(x)
        self.guard.asker = before

    def mutable_outside(self, opened: list[Place]) -> dict[int, Any]:
        """What the function may change that is found without the arguments, by its identity; not
        what is in the places `opened`, where something else may be.
        """
        places = set(map(id, opened))
        return {
            k: self.seen[k]
            for k in self.outside
            if (type(self.seen[k]) in (list, dict) or is_object(self.seen[k]))
            and places.isdisjoint(self.asked_for.get(k, ()))
        }

    def leave_open(self, place: Place) -> None:
        """Depend no more on what is in a place."""
        self.guard.forget(id(place))
        self.captured -= {x for x, askers in self.asked_for.items() if id(place) in askers}

    def names_in_code(self) -> set[str]:
        """The names that the user's functions look up."""
        return {name for code in self._user_codes() for name in names_of(code)}

    def _user_codes(self) -> list[types.CodeType]:
        functions = [x for x in self.seen.values() if type(x) is types.FunctionType]
        is_theirs = lambda x: is_library_module(x.__globals__.get("__name__", ""))  # noqa: E731
        return [x.__code__ for x in functions if not is_theirs(x)]

    def formats_floats(self) -> bool:
        """Whether the user's functions may write floats as texts by `%`, which asks no class."""
        is_named = "Decimal" in self.names_in_code()
        return is_named or any(map(_formats_floats, self._user_codes()))

    def schedules(self) -> None:
        """Take up what the code names of schedules; the rest is read by their steps alone."""
        if self.optimizers and "defaults" in self.names_in_code():
            for optimizer in self.optimizers:
                self._dict(optimizer.defaults)
        found = [x for x in self.seen.values() if isinstance(x, LRScheduler)]
        if not found:
            return
        named = self.names_in_code()
        if "get_last_lr" in named:
            named.add("_last_lr")
        for schedule in found:
            state = vars(schedule)
            self.guard.call(state, self.guard.called(schedule), attributes=True)
            for name, x in state.items():
                if name in named or not named.isdisjoint(("state_dict", "get_lr")):
                    if type(x) in PLAIN:
                        self.guard.equal(state, name, x)
                    elif type(x) in (list, tuple) and all(type(each) in PLAIN for each in x):
                        self.guard.equal_sequence(state, name, x)

    def forget(self) -> None:
        """Let go of what was looked at: the guard has what it asks about."""
        self.tensors, self.seen, self.places, self.asked_for = {}, {}, {}, {}
        self._modules, self.optimizers, self.ints, self.numbers = {}, [], [], []
        self.arguments = Arguments()
        self.generators, self.iterators = [], []
        self.guard.forget_names()

    def _tensor(self, x: Any) -> None:
        if type(x) not in (Tensor, Parameter, Buffer):
            raise Uncompilable(f"it reads a {type(x).__name__}")
        self.tensors[id(x)] = x
        for name, value in x.__dict__.items():
            if type(value) in PLAIN:
                self.guard.equal(x.__dict__, name, value)
        grad = x._grad
        if grad is not None and id(grad) not in self.seen:
            self.seen[id(grad)] = grad
            self._tensor(grad)

    def _sequence(self, x: Any) -> None:
        if not isinstance(x, tuple):
            self.guard.length(x, len(x))
        for i, each in enumerate(x):
            if not isinstance(x, tuple):
                self.entry(x, i, each)
            else:
                self.look_at(each)

    def _dict(self, x: Any) -> None:
        self.guard.length(x, len(x))
        if isinstance(x, OrderedDict):
            self.guard.same_keys(x)
        for key, each in list(dict.items(x)):
            self.entry(x, key, each)

    def _read_only(self, x: types.MappingProxyType) -> None:
        """A view of a dictionary, which nobody writes to by it."""
        self.guard.length(x, len(x))
        for key, each in x.items():
            if type(each) in PLAIN:
                self.guard.equal(x, key, each)
            else:
                self.guard.same(x, key, each)
                self.look_at(each)

    def _referent(self, x: weakref.ref, referent: Any) -> None:
        """What a weak reference refers to."""
        self.guard.ask(
            f"{self.guard.name(x)}() is not {self.guard.name(referent)}",
            f"{self.guard.called(x)} referred to something else",
        )
        self.look_at(referent)

    def _object(self, x: Any) -> None:
        state = getattr(x, "__dict__", None)
        if state is not None and not isinstance(state, dict):  # a class says so of all attributes
            state = object.__getattribute__(x, "__dict__")
        if state is not None:
            self.guard.call(state, self.guard.called(x), attributes=True)
            self.guard.length(state, len(state))
            for key, each in list(state.items()):
                self.entry(state, key, each)
            self._note_ints(x, state)
        for kind in type(x).__mro__:
            slots = vars(kind).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if not name.startswith("__") and hasattr(x, name):
                    self.guard.attribute(x, name, getattr(x, name))
                    self.look_at(getattr(x, name))
        self.look_at_class(type(x))

    def look_at_class(self, kind: type) -> None:
        """Take up the class of an object, whoever has that."""
        before = self.guard.asker
        self.guard.asker = ()
        self._class(kind)
        self.guard.asker = before

    def _class(self, kind: type) -> None:
        """What a class that a user wrote has, and the functions among that."""
        for each in kind.__mro__:
            if id(each) in self.seen or is_library(each):
                continue
            self.seen[id(each)] = each
            self._class(type(each))
            attributes = vars(each)
            self.guard.name(attributes)  # which keeps the identity of a view of a dictionary
            self.guard.call(attributes, each.__name__, attributes=True)
            self.guard.length(attributes, len(attributes))
            for name, x in list(attributes.items()):
                if name.startswith("__") and not _is_special_method(name, x):
                    continue
                if self.called is not None and self._is_not_called(x):
                    continue
                if type(x) in PLAIN:
                    self.guard.equal(attributes, name, x)
                    continue
                self.guard.same(attributes, name, x)
                for part in _functions_of(x):
                    self.look_at(part)

    def _is_not_called(self, x: Any) -> bool:
        """Whether an attribute of a class is a function, or some, of which none is called."""
        codes = [getattr(part, "__code__", None) for part in _functions_of(x)]
        return any(codes) and not any(code in self.called for code in codes)

    def _module(self, module: Module) -> None:
        state, called = module.__dict__, self.guard.called(module)
        self.guard.call(state, called, attributes=True)
        for name in _TABLES:
            table = state[name]
            self.guard.call(table, called, attributes=True)
            self.guard.attribute_of_module(state, name, table)
            self.guard.length(table, len(table), called=f"{called}.{name}")
            for key, x in list(table.items()):
                self.entry(table, key, x)
        users = not is_library(type(module))
        if users:
            self.guard.length(state, len(state))
        for key, x in list(state.items()):
            if key in _TABLES or key == "_non_persistent_buffers_set":
                continue
            own = users and key not in _OF_EVERY_MODULE and not key.endswith("_hooks")
            if own or isinstance(x, TensorBase):
                self.entry(state, key, x)
            elif type(x) in PLAIN:
                self.guard.attribute_of_module(state, key, x)
            elif key.endswith("_hooks") or "_hooks_" in key:
                self.guard.call(x, self.guard.called(state, key))
                self._hooks(x)
            else:
                self.guard.attribute_of_module(state, key, x)
                self.look_at(x)
        if users:
            self._note_ints(module, state)
            self._class(type(module))

    def _note_ints(self, x: Any, state: dict) -> None:
        """Note the ints among attributes that no code but the user's reads."""
        if all(each in Module.__mro__ or not is_library(each) for each in type(x).__mro__):
            self.ints += [(state, k, n) for k, n in state.items() if type(n) is int]

    def _hooks(self, table: Any) -> None:
        """A table of hooks; functions in it are called, and looked at."""
        if hasattr(table, "items"):
            self.guard.length(table, len(table), of_module=not table)
            for key, hook in list(table.items()):
                self.entry(table, key, hook)

    def _optimizer(self, optimizer: Any) -> None:
        self.optimizers.append(optimizer)
        before = self.guard.asker
        self.guard.asker = (*before, id(optimizer))
        self._parts_of_optimizer(optimizer)
        self.guard.asker = before

    def _number(self, optimizer: Any, owner: Any, key: Any, x: Any) -> None:
        """A number that may be another one in each call, and is an input then."""
        self.numbers.append((optimizer, owner, key, x))
        is_input = (id(owner), key) in self.varying
        (self.guard.kind if is_input else self.guard.equal)(owner, key, x)

    def _parts_of_optimizer(self, optimizer: Any) -> None:
        self.guard.call(optimizer.__dict__, self.guard.called(optimizer), attributes=True)
        users = not is_library(type(optimizer))
        if users:
            self.look_at_class(type(optimizer))
        for name, x in list(optimizer.__dict__.items()):
            if name.endswith("_hooks"):
                self.guard.call(x, self.guard.called(optimizer.__dict__, name))
                self._hooks(x)
            elif users and name not in _OF_EVERY_OPTIMIZER:
                self.entry(optimizer.__dict__, name, x)
        groups = optimizer.param_groups
        for table in (groups, optimizer.state):
            name = "param_groups" if table is groups else "state"
            self.guard.call(table, self.guard.called(optimizer.__dict__, name))
        self.guard.same(optimizer.__dict__, "param_groups", groups)
        self.guard.length(groups, len(groups))
        for i, group in enumerate(groups):
            self.guard.call(group, self.guard.called(groups, i))
            self.guard.same(groups, i, group)
            for key, x in group.items():
                if type(x) is float or (type(x) is tuple and all(type(y) is float for y in x)):
                    self.guard.kind(group, key, x)  # an input of the program, if it is read
                elif type(x) is int:
                    self._number(optimizer, group, key, x)
                else:
                    self.entry(group, key, x)
        state = optimizer.state
        self.guard.same(optimizer.__dict__, "state", state)
        self.guard.same_values(state)
        for i, (param, entry) in enumerate(list(state.items())):
            if isinstance(entry, dict):
                of = self.names.get(id(param), i)
                self.guard.call(entry, f"{self.guard.called(state)}[{of}]")
                self.guard.length(entry, len(entry))
                for key, x in list(entry.items()):
                    if type(x) is int or type(x) is float:
                        self._number(optimizer, entry, key, x)
                    else:
                        self.entry(entry, key, x)
                self.state.update(id(x) for x in entry.values())
                called = self.names.get(id(param))
                if called is not None:
                    self.names.update({id(x): f"{called}_{k}" for k, x in entry.items()})
            else:
                self.look_at(entry)

    def _function(self, function: Any) -> None:
        if is_named_by_library(function):
            return  # its variables are the library's own
        is_ours = is_library_module(function.__globals__.get("__name__", ""))
        if not is_ours and self.called is not None and function.__code__ not in self.called:
            return  # it does not run
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None and wrapped is not function:
            self.look_at(wrapped)
        variables = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in variables:
            try:
                x = cell.cell_contents
            except ValueError:  # it is empty yet
                continue
            if type(x) in PLAIN:
                self.guard.equal_cell(cell, x, name)
                if type(x) is int:
                    self.ints.append((Variable(cell), name, x))
            else:
                self.guard.call(x, name)
                self.guard.same_cell(cell, x, name)
                self.look_at(x)
                if isinstance(x, types.ModuleType):
                    self._names_in(x, names_of(function.__code__))
        for x in function.__defaults__ or ():
            self.look_at(x)
        if function.__kwdefaults__:
            self._dict(function.__kwdefaults__)
        if is_ours:
            return
        if self.called is None:
            self._n_functions += 1
            if self._n_functions > _MOST_FUNCTIONS:
                raise TooManyFunctions
        self.guard.call(function, getattr(function, "__qualname__", "a function"))
        self.guard.attribute(function, "__code__", function.__code__)
        self.guard.attribute(function, "__defaults__", function.__defaults__)
        self.guard.attribute(function, "__kwdefaults__", function.__kwdefaults__)
        names = names_of(function.__code__)
        for name in globals_of(function.__code__):
            if name in function.__globals__:
                self._global(function.__globals__, name, names)
            elif isinstance(sys.modules.get(name), types.ModuleType):
                self._names_in(sys.modules[name], names)  # it may be imported by the function
            elif not hasattr(builtins, name):
                self.guard.missing(function.__globals__, name)
        if function.__dict__:
            self.guard.call(function.__dict__, function.__qualname__, attributes=True)
            self._dict(function.__dict__)

    def _global(self, owner: dict, name: str, names: list[str]) -> None:
        """A global variable; of a module or class also what is named along with it."""
        x = owner[name]
        self.entry(owner, name, x)
        if type(x) is int:
            self.ints.append((owner, name, x))
        if isinstance(x, type) and not is_library(x):
            self._class(x)
        elif isinstance(x, types.ModuleType):
            self._names_in(x, names)

    def _names_in(self, module: Any, names: list[str]) -> None:
        """The names that code may look up in a module that is no library."""
        if module.__name__ == "os" and ("environ" in names or "getenv" in names):
            self.guard.equal_environment()
        key = id(module), frozenset(names)
        if key in self._modules or is_library_module(module.__name__):
            return
        self._modules[key] = module
        for name in names:
            if name in vars(module):
                self._global(vars(module), name, names)


def _formats_floats(code: types.CodeType) -> bool:
    inner = [x for x in code.co_consts if isinstance(x, types.CodeType)]
    texts = [x for x in code.co_consts if type(x) is str]
    return any(map(_FLOAT_IN_TEXT.search, texts)) or any(map(_formats_floats, inner))


_FLOAT_IN_TEXT = re.compile(r"%[-+ #0]*\d*(\.\d+)?[aeEfFgGdi]")


def _is_special_method(name: str, x: Any) -> bool:
    """Whether an attribute of a class is a method that Python calls by itself, as `__len__`, and
    not one that `dataclass` has written."""
    if isinstance(x, (staticmethod, classmethod)):
        x = x.__func__
    if not isinstance(x, types.FunctionType):
        return False
    return name in ("__call__", "__init__") or x.__code__.co_filename != "<string>"


def _functions_of(x: Any) -> tuple:
    """The functions that an attribute of a class is made of; itself where it is no descriptor of
    Python's."""
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if isinstance(x, property):
        return x.fget, x.fset, x.fdel
    if isinstance(x, functools.partialmethod):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, functools.singledispatchmethod):
        return (x.dispatcher,)
    return (x.func,) if isinstance(x, functools.cached_property) else (x,)


def position(x: Any) -> Any:
    """Where an iterator stands; None where it does not say."""
    if type(x) is itertools.count:
        return repr(x)
    return x.__length_hint__() if hasattr(x, "__length_hint__") else None


def found_by(
    function: Callable,
    args: Any,
    called: Any = None,
    may_be_others: bool = False,
    varying: Any = None,
) -> Found:
    """What a call of `function` with arguments `args`, a list, leads to.

    Of the user's functions only those in `called` count, if it is given. `may_be_others`: nothing
    is asked about the containers and objects among the arguments, only about their classes.

    Raises:
        TooManyFunctions: `called` has to be given
        Uncompilable: something that no guard can watch
    """
    found = Found(called, varying)
    found.guard.ask(
        f"{found.guard.name(DEFAULT)}[0][0] is not {found.guard.name(DEFAULT[0][0])}",
        "the default dtype was another one",
    )
    at = f"{found.guard.name(DEVICES)}.device"
    found.guard.ask(
        f"{at} is not {found.guard.name(DEVICES.device)}", "the default device was another one"
    )
    is_on = DETERMINISTIC[0]
    found.guard.ask(
        f"{found.guard.name(DETERMINISTIC)}[0] is not {is_on}",
        f"torch.are_deterministic_algorithms_enabled() was {is_on}",
    )
    for table in (BEFORE, AFTER._forward_hooks, BACKWARD.hooks, BACKWARD.pre):
        found.guard.call(table, "hooks of all modules")
        found._hooks(table)
    found.guard.call(function, getattr(function, "__qualname__", type(function).__name__))
    try:
        found.look_at(function)
        found.captured, found.outside = set(found.tensors), set(found.seen)
        for x in args:
            if may_be_others:
                found.arguments.take(found, x)
            else:
                found.look_at(x)
        found.schedules()
    except RecursionError:
        if called is None:
            raise TooManyFunctions from None
        raise Uncompilable("what it reads is nested too deeply") from None
    return found
