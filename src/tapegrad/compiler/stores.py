"""What a call puts in attributes, globals and containers: the hidden state of a module, the weights
of an attention that are kept to be looked at, a distribution. And objects among what it gives.

Where a tensor, a container of tensors or an object with some was found, and the call has put
another one, the program gives its tensors as results, and the new one is made of them and put there
after each run. What was there before is then no condition of the program but, where that reads it,
an argument.
"""

import types

from tapegrad.arrays.traced.number import TracedNumber
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.device import device
from tapegrad.core.dtype import dtype
from tapegrad.core.size import Size
from tapegrad.core.tensor_base import TensorBase
from tapegrad.nn.modules.module import Module
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree.tree import tree_flatten

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONSTANT = (
    *PLAIN, Size, dtype, device, range, slice, type, types.FunctionType, types.BuiltinFunctionType
)  # fmt: skip
MISSING = object()


class Place:
    """A key of a dictionary or list, and what was there when a function's sources were looked for.

    Attributes:
        inside: ids of places whose content the owner is a part of, among others
        is_shared: what was there is found elsewhere, too
    """

    def __init__(self, owner: Any, key: Any, old: Any, inside: tuple):
        self.owner, self.key, self.old, self.inside = owner, key, old, inside
        self.is_shared = False

    @staticmethod
    def may_be(x: Any) -> bool:
        """Whether something of this kind may be put somewhere by a program."""
        if x is None or isinstance(x, (TensorBase, tuple, list, dict)):
            return True
        return is_record(x)

    def now(self) -> Any:
        """What is there; MISSING where nothing is."""
        if isinstance(self.owner, dict):
            return dict.get(self.owner, self.key, MISSING)
        return self.owner[self.key] if len(self.owner) > self.key else MISSING

    def put(self, x: Any) -> None:
        """Put something there; nothing for MISSING."""
        if x is not MISSING:
            self.owner[self.key] = x
        elif self.now() is not MISSING:
            del self.owner[self.key]


def taken_apart(result: Any) -> tuple[list, Any]:
    """The leaves of what a call gives, and its structure; a size is a leaf."""
    return tree_flatten(result, lambda x: type(x) is Size)


def is_constant(x: Any) -> bool:
    """Whether something is given by itself: a number, a text, a size, a function."""
    return isinstance(x, _CONSTANT)


def is_record(x: Any) -> bool:
    """Whether an object is nothing but its attributes."""
    kind = type(x)
    return (
        not isinstance(x, (Module, Optimizer, *_CONSTANT))
        and hasattr(x, "__dict__")
        and kind.__setattr__ is object.__setattr__
        and not any(vars(each).get("__slots__") for each in kind.__mro__)
        and all(each.__module__ != "builtins" for each in kind.__mro__[:-1])
    )


class Form:
    """How an object is made of tensors.

    Attributes:
        tensors: those that it is made of
        tree: it, with their numbers in their places
    """

    def __init__(self, x: Any, known: Any = (), constants: Any = (), given: Any = ()):
        """`known` are ids of objects that are no new ones; those in `constants` stay what they are,
        those in `given` come with the arguments of each call.

        Raises CannotStore where something is neither new nor constant, or cannot be made.
        """
        self.tensors: list[TensorBase] = []
        self._constants, self._given, self._met = constants, given, set(known)
        self.tree = self._of(x)
        del self._constants, self._given, self._met

    def _of(self, x: Any) -> tuple:
        if isinstance(x, TensorBase):
            self.tensors.append(x)
            return "tensor", len(self.tensors) - 1
        if type(x) is TracedNumber:
            raise CannotStore("a number that Python computes")
        if id(x) in self._given:
            return "given", id(x)
        if is_constant(x) or id(x) in self._constants:
            return "constant", x
        if id(x) in self._met:
            raise CannotStore("an object that others have, too")
        self._met.add(id(x))
        if type(x) in (tuple, list):
            return type(x).__name__, [self._of(each) for each in x]
        if type(x) is dict:
            return "dict", {k: self._of(each) for k, each in x.items()}
        if is_record(x):
            return "record", type(x), {k: self._of(each) for k, each in vars(x).items()}
        raise CannotStore(f"a {type(x).__name__}")

    def found_in(self, x: Any) -> list[TensorBase]:
        """The tensors of another object that was made in the same way."""
        found: list[TensorBase] = []

        def walk(tree: tuple, x: Any) -> None:
            if tree[0] == "tensor":
                found.append(x)
            elif tree[0] in ("tuple", "list"):
                for each, part in zip(tree[1], x, strict=True):
                    walk(each, part)
            elif tree[0] not in ("constant", "given"):
                parts = x if tree[0] == "dict" else vars(x)
                for key, each in tree[-1].items():
                    walk(each, parts[key])

        walk(self.tree, x)
        return found

    def text(self, names: list[str], name_of: Callable, given: dict[int, str]) -> str:
        """An expression that makes it anew of tensors of these names; `name_of` names objects, and
        `given` has the names of those among the arguments.
        """

        def of(form: tuple) -> str:
            kind, x = form[0], form[1]
            if kind == "tensor":
                return names[x]
            if kind == "constant":
                return name_of(x)
            if kind == "given":
                return given[x]
            if kind == "record":
                return f"record({name_of(x)}, {of(('dict', form[2]))})"
            if kind == "dict":
                return f"{{{', '.join([f'{name_of(k)}: {of(each)}' for k, each in x.items()])}}}"
            inside = "".join([f"{of(each)}, " for each in x])
            return f"({inside})" if kind == "tuple" else f"[{inside}]"

        return of(self.tree)


class Store(Form):
    """What a call has put in a place, and how it is made of tensors.

    Attributes:
        of: the identity of the argument, or of what is in one, in which the place is; None
        name: what the user calls the place, once the recording is released
        steps: what the call has added to an int; 0 where it is no count
    """

    name = ""
    steps = 0

    def __init__(self, place: Place, known: Any = (), given: Any = (), of: int | None = None):
        self.place, self.of = place, of
        super().__init__(place.now(), known, given=given)


class CannotStore(Exception):
    """Something among what a call has put in a place that no program can make."""


def record(kind: type, attributes: dict) -> Any:
    """An object of a class with these attributes."""
    x: Any = object.__new__(kind)
    x.__dict__.update(attributes)
    return x


def objects_of(leaves: list, known: Any, constants: Any, given: Any) -> dict[int, Form]:
    """Of what a call gives: the objects that it has made, by their numbers, and what they are of.

    `known` are ids of objects that were there before, `constants` those of them that are no
    arguments, `given` those that are.
    """
    found = {}
    for i, x in enumerate(leaves):
        if is_record(x) and id(x) not in known and not isinstance(x, TensorBase):
            try:
                found[i] = Form(x, known, constants, given)
            except CannotStore:
                continue  # whoever asks for the result says that no program can give it
    return found


def with_objects(function: Callable, objects: dict[int, Form]) -> Callable:
    """`function`, with the tensors of the objects that it makes beside its results."""

    def run(*args: Any, **kwargs: Any) -> tuple:
        result = function(*args, **kwargs)
        leaves, _ = taken_apart(result)
        return result, [form.found_in(leaves[i]) for i, form in objects.items()]

    return run


def stores_of(places: dict[int, Place], known: Any, given: Any = ()) -> list[Store]:
    """What a call has put in places where something else was, the outermost ones.

    `known` are ids of objects that were there before, and of the call's arguments, `given` of these
    alone.
    """
    found: dict[int, Store] = {}
    for number, place in places.items():  # what is inside of another one comes after it
        now = place.now()
        if now is place.old or place.is_shared or now is MISSING or not Place.may_be(now):
            continue
        if any(each in found for each in place.inside):
            continue
        try:
            found[number] = Store(place, known, given)
        except CannotStore:
            continue  # the guard says that it is another one
    return list(found.values())


class Replaced:
    """Which places have had several tensors, when calls of a function were recorded.

    A tensor that somebody replaces between calls is an argument of the program, too.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple, int] = {}
        self._several: set[tuple] = set()

    def among(self, places: dict[int, Place]) -> list[Place]:
        """Those of the places that have had several; what is in them now is noted."""
        found = []
        for place in places.values():
            if type(place.old) is Tensor and not place.is_shared:
                at = id(place.owner), place.key
                if self._seen.setdefault(at, id(place.old)) != id(place.old):
                    self._several.add(at)
                if at in self._several:
                    found.append(place)
        return found


def with_stores(function: Callable, stores: list[Store]) -> Callable:
    """`at(owners, contents)`, which gives `function` with the tensors that it stores among its
    results. It runs with the contents that places in these owners had; nothing is stored.
    """
    keys = [store.place.key for store in stores]

    def at(owners: tuple, contents: tuple) -> Callable:
        places = [Place(owner, key, None, ()) for owner, key in zip(owners, keys, strict=True)]

        def run(*args: Any, **kwargs: Any) -> tuple:
            now = [place.now() for place in places]
            try:
                for place, x in zip(places, contents, strict=True):
                    place.put(x)
                result = function(*args, **kwargs)
                found = zip(stores, places, strict=True)
                return result, [store.found_in(place.now()) for store, place in found]
            finally:
                for place, x in zip(places, now, strict=True):
                    place.put(x)

        return run

    return at
