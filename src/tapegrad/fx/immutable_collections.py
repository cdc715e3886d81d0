"""Lists and dictionaries in the arguments of a node: to change them, assign new arguments."""

from typing import Any, NoReturn

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils import _pytree

_ADVICE = (
    " object does not support mutation. If you are attempting to modify the kwargs or args of a "
    "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
    "    new_args = ...  # copy and mutate args\n    node.args = new_args"
)


def _no_mutation(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r}{_ADVICE}")


class immutable_list(list):
    """A list that refuses to be changed.

    >>> from tapegrad.fx.immutable_collections import immutable_list
    >>> immutable_list([1, 2])
    [1, 2]
    """

    append = clear = extend = insert = pop = remove = reverse = sort = _no_mutation
    __delitem__ = __iadd__ = __imul__ = __setitem__ = _no_mutation

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dictionary that refuses to be changed."""

    clear = pop = popitem = setdefault = update = _no_mutation
    __delitem__ = __ior__ = __setitem__ = _no_mutation

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return immutable_dict, (tuple(self.items()),)


_pytree.register_pytree_node(
    immutable_list,
    lambda x: (list(x), None),
    lambda values, _: immutable_list(values),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=lambda x: ([(_pytree.SequenceKey(i), v) for i, v in enumerate(x)], None),
)
_pytree.register_pytree_node(
    immutable_dict,
    lambda x: (list(x.values()), list(x)),
    lambda values, keys: immutable_dict(zip(keys, values, strict=True)),
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=lambda x: ([(_pytree.MappingKey(k), v) for k, v in x.items()], list(x)),
)

__getattr__ = _refuses(__name__)
