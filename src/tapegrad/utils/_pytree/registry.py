"""The kinds of containers that trees are made of, how each is taken apart and put together.

A container becomes a list of children and a context, which is all else that is needed to build it
again. A program adds kinds of its own: `register_pytree_node`, `register_dataclass`.
"""

import dataclasses
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from tapegrad.core import errors
from tapegrad.core.size import Size
from tapegrad.return_types import ReturnType

K = TypeVar("K")

Context = Any
PyTree = Any
FlattenFn = Callable[[Any], tuple[list[Any], Any]]
UnflattenFn = Callable[[Iterable[Any], Any], Any]
DumpableContext = Any
ToDumpableContextFn = Callable[[Any], Any]
FromDumpableContextFn = Callable[[Any], Any]

NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"


# --- the way from a container to a child ----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class MappingKey(Generic[K]):
    """The key of a child in a mapping."""

    key: K

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping) -> Any:
        """The child."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The child."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child."""
        return getattr(obj, self.name)


# --- tables -----------------------------------------------------------------------------------


class NodeDef(NamedTuple):
    """How containers of one type are taken apart and put together."""

    type: Any
    flatten_fn: Any
    unflatten_fn: Any
    flatten_with_keys_fn: Any = None


class _SerializeNodeDef(NamedTuple):
    typ: Any
    serialized_type_name: str
    to_dumpable_context: Any = None
    from_dumpable_context: Any = None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
STANDARD_DICT_TYPES: frozenset = frozenset((dict, OrderedDict, defaultdict))
BUILTIN_TYPES: frozenset = STANDARD_DICT_TYPES | {tuple, list, namedtuple, deque}

_followers: list[tuple[Callable[[NodeDef], None], Callable[[type], None]]] = []


def follow_nodes(taken: Callable[[NodeDef], None], dropped: Callable[[type], None]) -> None:
    """Tell `taken` of every kind of container there is and will be, `dropped` of one that goes."""
    for node in SUPPORTED_NODES.values():
        taken(node)
    _followers.append((taken, dropped))


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Let objects of a class be containers in trees.

    Args:
        cls: the class itself; those derived from it are leaves.
        flatten_fn: gives the children and the context.
        unflatten_fn: builds an object of children and a context.
        serialized_type_name: what stands for the class in `treespec_dumps`.
        to_dumpable_context, from_dumpable_context: a context for JSON, and back.
        flatten_with_keys_fn: as `flatten_fn`, each child with its key.

    Raises:
        ValueError: the class is registered already, or one of the two for JSON lacks the other.

    >>> pytree = torch.utils._pytree
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda ab, _: Pair(*ab))
    >>> pytree.tree_leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """
    if cls in SUPPORTED_NODES:
        raise errors.value_error(
            f"{cls} is already registered as pytree node.", "Register a class once."
        )
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise errors.value_error(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered.",
            "Give both or neither.",
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    for taken, _ in _followers:
        taken(SUPPORTED_NODES[cls])
    name = serialized_type_name or NO_SERIALIZED_TYPE_NAME_FOUND
    way = to_dumpable_context, from_dumpable_context
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, *way)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _private_register_pytree_node(cls: type, *args: Any, **kwargs: Any) -> None:
    """As `register_pytree_node`; of a class that is registered the last registration holds."""
    if cls in SUPPORTED_NODES:
        text = f"{cls} is already registered as pytree node. Overwriting the previous registration."
        warnings.warn(text, stacklevel=2)
        _deregister_pytree_node(cls)
    register_pytree_node(cls, *args, **kwargs)


def _register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    **options: Any,
) -> None:
    """The old name of `register_pytree_node`."""
    text = (
        "`torch.utils._pytree._register_pytree_node` is deprecated. "
        "Please use `torch.utils._pytree.register_pytree_node` instead."
    )
    warnings.warn(text, FutureWarning, stacklevel=2)
    if to_str_fn is not None or maybe_from_str_fn is not None:
        text = "`to_str_fn` and `maybe_from_str_fn` is deprecated. "
        text += "Please use `to_dumpable_context` and `from_dumpable_context` instead."
        warnings.warn(text, FutureWarning, stacklevel=2)
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _deregister_pytree_node(cls: Any) -> None:
    """Let objects of a class be leaves again."""
    del SUPPORTED_NODES[cls]
    for _, dropped in _followers:
        dropped(cls)
    name = SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name
    SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(name, None)
    CONSTANT_NODES.discard(cls)


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Let objects of a dataclass be containers of their fields; those that are None stay None.

    Args:
        field_names: the fields that are children, if not all that the constructor takes.
        drop_field_names: fields that are left out, and get their defaults again.

    Raises:
        ValueError: a field is in neither list, or the class is no dataclass and none is given.

    >>> import dataclasses
    >>> pytree = torch.utils._pytree
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> pytree.register_dataclass(Point)
    >>> pytree.tree_map(lambda x: -x, Point(1, 2))
    Point(x=-1, y=-2)
    """
    dropped = set(drop_field_names or ())
    if not dataclasses.is_dataclass(cls) and field_names is None:
        raise errors.value_error(
            "field_names must be specified with a list of all fields used to initialize "
            f"{cls}, as it is not a dataclass.",
            "Pass field_names=[...].",
        )
    if field_names is None:
        field_names = [f.name for f in dataclasses.fields(cls) if f.init]
    elif dataclasses.is_dataclass(cls):
        wanted = {f.name for f in dataclasses.fields(cls) if f.init}
        _check_fields(wanted, {*field_names}, dropped)
    names = field_names

    def flatten(obj: Any) -> tuple:
        there = [n for n in names if getattr(obj, n) is not None]
        none = [n for n in names if getattr(obj, n) is None]
        return [getattr(obj, n) for n in there], [there, none]

    def with_keys(obj: Any) -> tuple:
        children, (there, none) = flatten(obj)
        keyed = [(GetAttrKey(n), x) for n, x in zip(there, children, strict=True)]
        return keyed, [there, none]

    def unflatten(children: Iterable, context: Any) -> Any:
        there, none = context
        return cls(**dict(zip(there, children, strict=True)), **dict.fromkeys(none))

    _private_register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=with_keys,
    )


def _check_fields(wanted: set, given: set, dropped: set) -> None:
    start, end = "field_names does not include all dataclass fields.\n", ""
    if missing := wanted - given - dropped:
        start += f"Missing fields in `field_names`: {missing}. If you want to include these fields "
        end = (
            "in the pytree, please add them to `field_names`, otherwise please add them to "
            "`drop_field_names`.\n"
        )
    elif unexpected := given - wanted:
        start += f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, "
        end = "or add them to `drop_field_names`.\n"
    if end:
        raise errors.value_error(start + end, f"Its constructor takes {sorted(wanted)}.")


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """The context of an object that is a container without children."""

    value: Any


def register_constant(cls: Any) -> None:
    """Let objects of a class be part of a tree's structure: containers without children.

    Raises:
        ValueError: the class compares its objects by identity, or does not hash them so.
    """
    if cls.__eq__ is object.__eq__:
        raise errors.type_error(
            "register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.",
            "Structures are compared: define __eq__.",
        )
    if cls.__hash__ is None or cls.__hash__ is object.__hash__:
        raise errors.type_error(
            "register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.",
            "Structures are hashed: define __hash__.",
        )
    _private_register_pytree_node(
        cls,
        lambda x: ([], ConstantNode(x)),
        lambda _, context: context.value,
        flatten_with_keys_fn=lambda x: ([], ConstantNode(x)),
    )
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether `register_constant` was called with a class."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# --- built-in kinds -----------------------------------------------------------------------------


def is_namedtuple(obj: Any) -> bool:
    """Whether an object or a class is that of a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class is that of named tuples."""
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(type(field) is str for field in fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether a class is one of `torch.return_types`, or as those of `time` and `os`."""
    if not isinstance(cls, type) or not issubclass(cls, tuple):
        return False
    counts = (getattr(cls, name, None) for name in ("n_fields", "n_sequence_fields"))
    return all(isinstance(n, int) for n in counts)


def is_structseq(obj: Any) -> bool:
    """Whether an object or a class is as `is_structseq_class` says."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object is of a class as `is_structseq_class` says."""
    return is_structseq_class(type(obj))


def node_of(tree: Any) -> NodeDef | None:
    """How an object is taken apart; None for a leaf."""
    kind = type(tree)
    if isinstance(tree, tuple) and kind is not tuple:
        if is_namedtuple_class(kind):
            return SUPPORTED_NODES[namedtuple]
        if isinstance(tree, ReturnType) and kind not in SUPPORTED_NODES:
            register_return_type(kind)
    return SUPPORTED_NODES.get(kind)


def _get_node_type(tree: Any) -> Any:
    node = node_of(tree)
    return type(tree) if node is None else node.type


def register_return_type(kind: Any) -> None:
    """Let a class of `torch.return_types` be a container."""
    register_pytree_node(
        kind,
        lambda x: (list(x), None),
        lambda children, _: kind(tuple(children)),
        flatten_with_keys_fn=lambda x: (_numbered(x), None),
    )


def _numbered(sequence: Any) -> list:
    return [(SequenceKey(i), x) for i, x in enumerate(sequence)]


def _keyed(mapping: Any) -> list:
    return [(MappingKey(k), x) for k, x in mapping.items()]


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Give the class of a named tuple the name that stands for it in `treespec_dumps`."""
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, serialized_type_name)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def _named_to_json(context: Any) -> Any:
    if context not in SUPPORTED_SERIALIZED_TYPES:
        raise errors.not_implemented(
            f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`.",
            "torch.utils._pytree._register_namedtuple(cls, serialized_type_name=...)",
        )
    return SUPPORTED_SERIALIZED_TYPES[context].serialized_type_name


def _named_from_json(name: Any) -> Any:
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise errors.not_implemented(
            f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a "
            "serializated name.",
            "Call torch.utils._pytree._register_namedtuple(cls, serialized_type_name=...) first.",
        )
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[name]


def _default_to_json(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _default_from_json(found: Any) -> list:
    import importlib

    module = importlib.import_module(found["default_factory_module"])
    return [getattr(module, found["default_factory_name"]), found["dict_context"]]


def _zipped(keys: list, children: Iterable) -> Any:
    return zip(keys, children, strict=True)


def _fields_of(x: Any) -> list:
    return [(GetAttrKey(n), y) for n, y in zip(x._fields, x, strict=True)]


def _register(cls: Any, name: str, flatten: Any, unflatten: Any, keyed: Any, *json: Any) -> None:
    """A built-in kind; `keyed` gives its children with their keys."""
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten, unflatten, lambda x: (keyed(x), flatten(x)[1]))
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, *json)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


_register(tuple, "builtins.tuple", lambda x: (list(x), None), lambda y, _: tuple(y), _numbered)
_register(list, "builtins.list", lambda x: (x, None), lambda y, _: list(y), _numbered)
_register(
    dict,
    "builtins.dict",
    lambda x: (list(x.values()), list(x)),
    lambda y, keys: dict(_zipped(keys, y)),
    _keyed,
)
_register(
    namedtuple,
    "collections.namedtuple",
    lambda x: (list(x), type(x)),
    lambda y, cls: cls(*y),
    _fields_of,
    _named_to_json,
    _named_from_json,
)
_register(
    OrderedDict,
    "collections.OrderedDict",
    lambda x: (list(x.values()), list(x)),
    lambda y, keys: OrderedDict(_zipped(keys, y)),
    _keyed,
)
_register(
    defaultdict,
    "collections.defaultdict",
    lambda x: (list(x.values()), [x.default_factory, list(x)]),
    lambda y, context: defaultdict(context[0], _zipped(context[1], y)),
    _keyed,
    _default_to_json,
    _default_from_json,
)
_register(
    deque,
    "collections.deque",
    lambda x: (list(x), x.maxlen),
    lambda y, maxlen: deque(y, maxlen=maxlen),
    _numbered,
)
_register(Size, "torch.Size", lambda x: (list(x), None), lambda y, _: tuple(y), _numbered)
