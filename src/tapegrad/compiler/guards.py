"""Whether what a recorded call read is still so: a function that Python compiles for each program.

A question costs 20 to 40 nanoseconds as a line of a function made for it. Attributes of modules are
many, and change only through `Module.__setattr__`, which counts: they are asked after only where
the count is another one.
"""

import os
import re
from copy import copy
from operator import is_

from tapegrad.compiler.counts import Variable
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.changes import CHANGES

_NAME = re.compile(r"\bk\d+\b")  # of an object


class Guard:
    """Questions, collected while a function's sources are looked for, and the function they make.

    Each is a condition in Python under which something has changed, with the reason it gives.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._scope: dict[str, Any] = {}
        self._always: list[tuple[str, str]] = []
        self._modules: list[tuple[str, str]] = []
        self._askers: dict[str, set[tuple]] = {}  # of each condition
        self._called: dict[int, tuple[str, bool]] = {}  # objects: their names, attributes or keys
        self.asker: tuple = ()  # for whom questions are asked: ids of optimizers and places
        self.count = [CHANGES[0]]  # of changes of modules, when they were asked last
        self._of_modules: Callable | None = None

    # --- what things are called ------------------------------------------------------------------

    def call(self, x: Any, name: str, attributes: bool = False) -> None:
        """Say what the user calls an object, in reasons; `attributes`: and that its keys are."""
        self._called.setdefault(id(x), (name, attributes))

    def called(self, owner: Any, key: Any = None) -> str:
        """What the user calls `owner`, or `owner[key]`."""
        name, attributes = self._called.get(id(owner), ("", False))
        if key is None:
            return name or f"a {type(owner).__name__}"
        if name and not attributes:
            return f"{name}[{key!r:.40}]"
        separator = "." if name and not str(key).isdigit() else ""
        return f"{name}{separator}{key}" if separator or not name else f"{name}[{key}]"

    # --- questions -------------------------------------------------------------------------------

    def name(self, x: Any) -> str:
        """What an object is called in the function."""
        found = self._names.get(id(x))
        if found is None:
            found = self._names[id(x)] = f"k{len(self._names)}"
            self._scope[found] = x  # which keeps its id
        return found

    def ask(self, condition: str, why: str, of_module: bool = False) -> None:
        """Ask whether a condition holds, by which something has changed."""
        askers = self._askers.get(condition)
        if askers is not None:
            askers.add(self.asker)
            return
        self._askers[condition] = {self.asker}
        (self._modules if of_module else self._always).append((condition, why))
        self._of_modules = None

    def forget(self, asker: int) -> None:
        """Ask no more what was asked for `asker` alone."""
        mine = {
            condition
            for condition, askers in self._askers.items()
            if all([asker in each for each in askers])
        }
        self._always = [x for x in self._always if x[0] not in mine]
        self._modules = [x for x in self._modules if x[0] not in mine]
        self._of_modules = None

    def forget_names(self) -> None:
        """Let go of objects that no question names any more: no further one is added."""
        asked = " ".join([condition for condition, _ in (*self._always, *self._modules)])
        self._scope = _named_in(asked, self._scope)
        self._names, self._askers = {}, {}

    def _at(self, owner: Any, key: Any) -> str:
        if type(owner) is Variable:
            return f"{self.name(owner.cell)}.cell_contents"
        where = repr(key) if type(key) in (str, int) else self.name(key)
        if isinstance(owner, dict) and type(owner).__getitem__ is not dict.__getitem__:
            self._scope["in_dict"] = dict.__getitem__  # what a class of the user's looks up may
            return f"in_dict({self.name(owner)}, {where})"  # be something new each time
        return f"{self.name(owner)}[{where}]"

    def same(self, owner: Any, key: Any, x: Any) -> None:
        """`owner[key]` has to be the object `x`."""
        why = f"{self.called(owner, key)} was another object"
        self.ask(f"{self._at(owner, key)} is not {self.name(x)}", why)

    def equal(self, owner: Any, key: Any, x: Any) -> None:
        """`owner[key]` has to be the number or text `x`."""
        why = f"{self.called(owner, key)} was {x!r:.60}"
        self.ask(self._differs(self._at(owner, key), x), why)

    def equal_sequence(self, owner: Any, key: Any, x: Any) -> None:
        """`owner[key]` has to have the numbers and texts that it has now."""
        condition = f"{self._at(owner, key)} != {self.name(copy(x))}"
        self.ask(condition, f"{self.called(owner, key)} had other entries")

    def missing(self, owner: dict, key: str) -> None:
        """There has to be no `owner[key]`."""
        self.ask(f"{key!r} in {self.name(owner)}", f"there was no {key}")

    def may_count(self, owner: Any, key: Any, x: int) -> None:
        """`owner[key]`, which had to be `x`, may be any int."""
        at = self._at(owner, key)
        differs = self._differs(at, x)
        self._always = [each for each in self._always if each[0] != differs]
        self.ask(f"type({at}) is not int", f"{self.called(owner, key)} was an int")

    def kind(self, owner: Any, key: Any, x: Any) -> None:
        """`owner[key]` has to be a float, or a tuple of as many floats as `x`."""
        at = self._at(owner, key)
        condition = f"type({at}) is not {type(x).__name__}"
        if type(x) is tuple:
            condition += f" or len({at}) != {len(x)}"
        self.ask(condition, f"{self.called(owner, key)} was a {type(x).__name__}")

    def attribute_of_module(self, owner: Any, key: Any, x: Any) -> None:
        """The same as `same` or `equal` of an attribute that is set by `Module.__setattr__`."""
        at = self._at(owner, key)
        plain = type(x) in (bool, int, float, complex, str, bytes, type(None))
        condition = self._differs(at, x) if plain else f"{at} is not {self.name(x)}"
        was = f"{x!r:.60}" if plain else "another object"
        self.ask(condition, f"{self.called(owner, key)} was {was}", of_module=True)

    def attribute(self, owner: Any, name: str, x: Any) -> None:
        """`owner.name` has to be `x`."""
        plain = x is None or type(x) in (bool, int, float, str)
        was = f"{x!r:.60}" if plain else "another object"
        why = f"{self.called(owner)}.{name} was {was}"
        self.ask(self._differs(f"{self.name(owner)}.{name}", x), why)

    def same_cell(self, cell: Any, x: Any, called: str) -> None:
        """A variable that is closed over has to be the object `x`."""
        at = f"{self.name(cell)}.cell_contents"
        self.ask(f"{at} is not {self.name(x)}", f"{called} was another object")

    def equal_cell(self, cell: Any, x: Any, called: str) -> None:
        """A variable that is closed over has to be the number or text `x`."""
        at = f"{self.name(cell)}.cell_contents"
        self.ask(self._differs(at, x), f"{called} was {x!r:.60}")

    def length(self, owner: Any, n: int, of_module: bool = False, called: str = "") -> None:
        """A container has to be as long as it was."""
        at, why = self.name(owner), f"{called or self.called(owner)} had {n} entries"
        self.ask(f"len({at}) != {n}" if n else at, why, of_module)

    def same_keys(self, owner: dict) -> None:
        """A dictionary has to have the same objects as its keys, in the same order."""
        self._same_parts(owner, "", list(owner))

    def same_values(self, owner: dict) -> None:
        """A dictionary has to have the same objects as its values, in the same order."""
        self._same_parts(owner, ".values()", list(owner.values()))

    def _same_parts(self, owner: dict, method: str, parts: list) -> None:
        at = self.name(owner)
        self._scope["is_"] = is_
        same = f"all(map(is_, {at}{method}, {self.name(parts)}))"
        self.ask(
            f"len({at}) != {len(owner)} or not {same}", f"{self.called(owner)} had other entries"
        )

    def equal_bytes(self, x: Any) -> None:
        """A NumPy array has to have the numbers that it has now."""
        self.ask(f"{self.name(x)}.tobytes() != {x.tobytes()!r}", "a NumPy array had other numbers")

    def equal_copy(self, x: Any) -> None:
        """A set or an array of Python's has to be equal to what it is now."""
        was = f"{self.called(x)} had other entries"
        self.ask(f"{self.name(x)} != {self.name(copy(x))}", was)

    def equal_environment(self) -> None:
        """The variables of the environment have to be what they are now."""
        now: Any = os.environ._data  # type: ignore[attr-defined]  # which `os.environ` decodes
        if id(now) not in self._names:
            condition = f"{self.name(now)} != {self.name(dict(now))}"
            self.ask(condition, "the environment had other variables")

    def _differs(self, at: str, x: Any) -> str:
        if x is None or x is True or x is False:
            return f"{at} is not {x}"
        same = f"{at} is not {self.name(x)}"
        if type(x) not in (int, float, complex, str, bytes):
            return same
        return f"({same} and (type({at}) is not {type(x).__name__} or {at} != {self.name(x)}))"

    # --- answers ---------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """The questions asked each time, as lines of a function that returns False."""
        empty = [condition for condition, _ in self._always if condition.isidentifier()]
        rest = [condition for condition, _ in self._always if not condition.isidentifier()]
        together = [" or ".join(empty[k : k + 16]) for k in range(0, len(empty), 16)]
        return [f"if {condition}: return False" for condition in (*rest, *together)]

    def scope(self, source: str) -> dict[str, Any]:
        """The objects that a source names, in which lines of ours may be."""
        return _named_in(source, self._scope)

    def modules_hold(self) -> bool:
        """Whether the attributes of modules are what they were."""
        if self._of_modules is None:
            self._of_modules = _function(self._modules, self._scope)
        return self._of_modules()

    def holds(self) -> bool:
        """Whether everything is where it was."""
        return _function(self._always, self._scope)() and self.modules_hold()

    def question(self) -> Callable:
        """A function that says whether everything is where it was."""
        always = _function(self._always, self._scope)
        return lambda: always() and self.modules_hold()

    def why_not(self) -> str:
        """What is not as it was; "" where everything is."""
        for condition, why in (*self._always, *self._modules):
            try:
                if eval(condition, dict(self._scope)):
                    return why
            except (KeyError, IndexError, AttributeError, ValueError):
                return f"{why}, and is gone"
        return ""


def _named_in(source: str, scope: dict[str, Any]) -> dict[str, Any]:
    """Of what a guard has names for: what a source names."""
    named = set(_NAME.findall(source))
    return {k: x for k, x in scope.items() if k in named or not _NAME.fullmatch(k)}


def _function(questions: list[tuple[str, str]], scope: dict[str, Any]) -> Any:
    """A function that says whether none of the conditions holds."""
    lines = [f"        if {condition}: return False" for condition, _ in questions]
    source = "\n".join(
        [
            "def holds():",
            "    try:",
            *(lines or ["        pass"]),
            "    except (KeyError, IndexError, AttributeError, ValueError):",
            "        return False",
            "    return True",
        ]
    )
    scope = _named_in(source, scope)
    exec(compile(source, "<guard>", "exec"), scope)
    return scope["holds"]
