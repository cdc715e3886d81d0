"""The containers and objects among a call's arguments, and what the call puts in them.

A later call may have others: a cache of attention is made anew for each text. So they are no
conditions of a program, which asks of what each is made, and takes the tensors as its inputs. What
the call has put in them is put in those of the later call, and one that it gives is given.
"""

from collections import OrderedDict

from tapegrad.compiler.counts import Count, counts_of
from tapegrad.compiler.stores import PLAIN, CannotStore, Place, Store, is_record
from tapegrad.compiler.whose_code import is_foreign, is_library
from tapegrad.core.annotations import Any
from tapegrad.core.generator import Generator
from tapegrad.core.tensor_base import TensorBase
from tapegrad.optim.lr_scheduler import LRScheduler
from tapegrad.utils._pytree.registry import is_namedtuple_instance
from tapegrad.utils._pytree.tree import tree_leaves

_DEEPEST = 64  # parts of parts of an argument


def is_object(x: Any) -> bool:
    """Whether an argument is an object of which nothing counts but its class and attributes."""
    return (
        is_record(x)
        and not is_foreign(type(x))
        and not isinstance(x, (TensorBase, Generator, LRScheduler))
        and not any(hasattr(type(x), name) for name in ("__next__", "is_compiled"))
    )


def content_of(x: Any) -> Any:
    """The list or dictionary of what is in a container or object."""
    return x if isinstance(x, (list, dict)) else vars(x)


def leaves_of(x: Any) -> list[Any]:
    """The tensors and others that arguments are made of, with the classes and keys of objects."""
    found: list[Any] = []
    seen: set[int] = set()
    rest = [x]
    while rest:
        for each in tree_leaves(rest.pop()):
            if is_object(each) and id(each) not in seen:
                seen.add(id(each))
                found += (type(each), *vars(each))
                rest.append(list(vars(each).values()))
            else:
                found.append(each)
    return found


class Arguments:
    """What is in the containers and objects among the arguments before the call runs.

    Attributes:
        contents: each of them by its identity, and a copy of what is in it
        tables: the same of ordered dictionaries, which may have attributes: two copies
        counts: attributes, by the id of their dictionary and their name, that the call has only
            added to, and what it has added
    """

    def __init__(self) -> None:
        self.contents: dict[int, tuple[Any, Any]] = {}
        self.tables: dict[int, tuple[Any, dict, dict]] = {}
        self.counts: dict[tuple[int, Any], int] = {}

    def take(self, found: Any, x: Any, name: str = "", depth: int = 0) -> None:
        """Take up an argument, or a part of one, for `found`; `name` is for its tensors.

        Raises RecursionError where it is a part of too many parts.
        """
        if depth > _DEEPEST:
            raise RecursionError
        if id(x) in found.seen:
            if id(x) not in self.contents:
                found.look_at(x)
            return
        if type(x) in (list, dict) or is_object(x):
            found.seen[id(x)] = x
            content = content_of(x)
            self.contents[id(x)] = x, content.copy()
            if content is not x:
                found.guard.call(content, type(x).__name__, attributes=True)
                found.look_at_class(type(x))
            for key, each in content.items() if isinstance(content, dict) else enumerate(content):
                part = f"{name}_{key}" if name or content is not x else ""
                self.take(found, each, part, depth + 1)
        elif isinstance(x, OrderedDict):
            found.seen[id(x)] = x
            self.tables[id(x)] = x, dict(x.items()), dict(vars(x))
            found.look_at_class(type(x))
            for each in (*x.values(), *vars(x).values()):
                self.take(found, each, depth=depth + 1)
        elif type(x) is tuple or is_namedtuple_instance(x):
            for i, each in enumerate(x):
                self.take(found, each, name and f"{name}_{i}", depth + 1)
        elif isinstance(x, TensorBase):
            if name:
                found.names.setdefault(id(x), name.lstrip("_"))
            found.look_at(x)
        elif type(x) in (set, frozenset) and all(isinstance(each, PLAIN) for each in x):
            found.seen[id(x)] = x
        else:
            found.look_at(x)

    def stores(self, known: dict[int, Any]) -> list[Store]:
        """What the call has put in them; `known` are the objects that were there before, by their
        ids.

        Raises: CannotStore.
        """
        found = []
        self.counts = {(id(each.owner), each.key): each.steps() for each in self._counts(known)}
        for x, items, attributes in self.tables.values():
            for now, before in ((dict(x.items()), items), (vars(x), attributes)):
                if list(now) != list(before) or any(now[key] is not before[key] for key in now):
                    raise CannotStore(f"entries of a {type(x).__name__}")
        for x, before in self.contents.values():
            now = content_of(x)
            is_list = isinstance(now, list)
            if len(now) != len(before) if is_list else list(now)[: len(before)] != list(before):
                raise CannotStore("an argument with fewer or more entries")
            for key in range(len(now)) if is_list else now:
                if is_list or key in before:
                    old = before[key]
                    if now[key] is old or (_is_same_number(now[key], old)):
                        continue
                store = Store(Place(now, key, None, ()), known, self.contents, of=id(x))
                store.steps = self.counts.get((id(now), key), 0)
                found.append(store)
        return found

    def _counts(self, known: dict[int, Any]) -> list[Count]:
        """The ints among attributes that the call has only added to."""
        ints = [
            (vars(x), key, n)
            for x, before in self.contents.values()
            if is_object(x) and not any(map(is_library, type(x).__mro__[:-1]))
            for key, n in before.items()
            if type(n) is int
        ]
        return counts_of(ints, known.values())


def _is_same_number(x: Any, y: Any) -> bool:
    return type(x) is type(y) and isinstance(x, PLAIN) and x == y
